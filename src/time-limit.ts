import { type Context, createContext, Script } from 'node:vm';

/** Work that was ended because it took too long. */
export class TimeLimitError extends Error {}

/**
 * What some synchronous work gives. It is ended in the middle of whatever it does when its time is over, in the middle of a
 * regular expression too.
 *
 * @throws TimeLimitError
 */
export function withinTime<Value>(limitMs: number, work: () => Value): Value {
  room ??= createContext({});
  room.work = work;
  try {
    return script.runInContext(room, { timeout: limitMs }) as Value;
  } catch (error) {
    const isOver = (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    throw isOver ? new TimeLimitError(`not done within ${limitMs / 1000} s`) : error;
  } finally {
    delete room.work;
  }
}

let room: Context | undefined;
const script = new Script('work()');
