import { type Context, createContext, runInContext } from 'node:vm';
import { InterruptedError } from './errors.ts';
import { systemCode } from './system-error.ts';

/**
 * The value of synchronous work, or what `late` returns if it takes longer: the work is ended in the middle of whatever
 * it does, in the middle of a regular expression too.
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
    // No listener hears a signal while synchronous work goes on.
    throw code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED' ? new InterruptedError('SIGINT') : error;
  } finally {
    delete sandbox.work;
  }
}

/** Made once: it takes a millisecond. */
let sandbox: Context | undefined;
