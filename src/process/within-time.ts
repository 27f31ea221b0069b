import { type Context, createContext, runInContext } from 'node:vm';
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

const endingSignals = ['SIGTERM', 'SIGHUP'] as const;

/**
 * The value of synchronous work that leaves nothing behind. Meanwhile SIGTERM and SIGHUP end the process at once,
 * because no listener hears them before the work is over.
 */
export function whileKillable<Value>(work: () => Value): Value {
  const listeners = endingSignals.map((name) => [name, process.rawListeners(name)] as const);
  // Without a listener, the system does what it does by default.
  for (const name of endingSignals) process.removeAllListeners(name);
  try {
    return work();
  } finally {
    for (const [name, list] of listeners)
      for (const listener of list) process.on(name, listener as NodeJS.SignalsListener);
  }
}
