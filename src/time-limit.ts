import { type Context, createContext, Script } from 'node:vm';

/**
 * The value of synchronous work, or what `late` returns if it takes longer: the work is ended in the middle of whatever
 * it does, in the middle of a regular expression too.
 */
export function withinTime<Value, Late>(limitMs: number, work: () => Value, late: () => Late): Value | Late {
  room ??= createContext({});
  room.work = work;
  try {
    return script.runInContext(room, { timeout: limitMs }) as Value;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return late();
    throw error;
  } finally {
    delete room.work;
  }
}

let room: Context | undefined;
const script = new Script('work()');
