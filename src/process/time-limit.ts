import { type Context, createContext, Script } from 'node:vm';
import { InterruptedError } from './errors.ts';
import { systemCode } from './system-error.ts';

/**
 * The value of synchronous work, or what `late` returns if it takes longer: the work is ended in the middle of whatever
 * it does, in the middle of a regular expression too.
 *
 * @throws InterruptedError on Ctrl-C, if the work `endsOnCtrlC`.
 */
export function withinTime<Value, Late>(
  limitMs: number,
  work: () => Value,
  late: () => Late,
  { endsOnCtrlC = false } = {},
): Value | Late {
  room ??= createContext({});
  room.work = work;
  try {
    return script.runInContext(room, { timeout: limitMs, breakOnSigint: endsOnCtrlC }) as Value;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return late();
    // No listener hears a signal while synchronous work goes on.
    throw code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED' ? new InterruptedError('SIGINT') : error;
  } finally {
    delete room.work;
  }
}

let room: Context | undefined;
const script = new Script('work()');
