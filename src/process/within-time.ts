import { type Context, createContext, runInContext } from 'node:vm';
import { InterruptedError } from './errors.ts';
import { systemCode } from './system-error.ts';

/**
 * Does synchronous work, and returns its value. If the work takes longer than the limit, the work is ended, even inside a
 * regular expression, and the value of `late` is returned.
 *
 * @throws InterruptedError on Ctrl-C, if the work `endsOnCtrlC`.
 */
export function runWithinTime<Value, Late>(
  limitMs: number,
  work: () => Value,
  late: () => Late,
  { endsOnCtrlC = false } = {},
): Value | Late {
  sandbox ??= createContext({});
  sandbox.work = work;
  try {
    return runInContext('work()', sandbox, {
      timeout: Math.max(1, Math.ceil(limitMs)),
      breakOnSigint: endsOnCtrlC,
    }) as Value;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return late();
    // Listeners of signals do not run during synchronous work.
    throw code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED' ? new InterruptedError('SIGINT') : error;
  } finally {
    delete sandbox.work;
  }
}

/** Created once, because that takes a millisecond. */
let sandbox: Context | undefined;
