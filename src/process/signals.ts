import { InterruptedError, type Signal } from './errors.ts';
import type { Io } from './io.ts';

/** The signals that end a command: each aborts it, unless the command takes them over to end in its own way. */
export interface Interrupts {
  /** Aborted with an InterruptedError by the first signal that no command took over. */
  readonly signal: AbortSignal;
  /** Passes every signal to `listener` until the returned function is called. Then the previous listener gets them again. */
  takeOver(listener: (signal: Signal) => void): () => void;
  /** Aborts a command that took the signals over, but does not end in time. */
  abort(signal: Signal): void;
  release(): void;
}

export function createInterrupts(io: Pick<Io, 'onSignal'>): Interrupts {
  const controller = new AbortController();
  let handler: ((name: Signal) => void) | undefined;
  // A second abort changes nothing.
  const abort = (name: Signal) => controller.abort(new InterruptedError(name));
  const release = io.onSignal((name) => (handler ?? abort)(name));
  return {
    signal: controller.signal,
    takeOver(listener) {
      const outerHandler = handler;
      handler = listener;
      return () => {
        handler = outerHandler;
      };
    },
    abort,
    release,
  };
}

/** The time that requests in flight have after a stop, in milliseconds. */
export const graceMs = 10_000;
/** The time for the work after the requests, such as a report. Without a limit, a stalled reader would keep the command alive. */
const reportMs = 1000;

/**
 * Does work that signals end in two steps: the first one stops it, and the second one abandons it. The command ends at the
 * latest `graceMs` and `reportMs` after the first signal, and `reportMs` after the second one.
 *
 * @param stopBy stops the work.
 * @returns the value of the work, which must itself check whether it was stopped.
 */
export async function inTwoSteps<Value>(
  interrupts: Pick<Interrupts, 'takeOver' | 'abort'>,
  stop: Stop<unknown>,
  stopBy: (signal: Signal) => void,
  work: () => Promise<Value>,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const release = interrupts.takeOver((signal) => {
    if (timer && stop.abandoned.aborted) return;
    const isSecond = timer !== undefined;
    if (isSecond) stop.abandon('stopped by a second signal');
    else stopBy(signal);
    clearTimeout(timer);
    timer = setTimeout(() => interrupts.abort(signal), isSecond ? reportMs : graceMs + reportMs);
  });
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    release();
  }
}

/** The work of a call was stopped. */
export class StoppedError extends Error {}

/** Ends work in two steps: stopped work begins nothing new, and `graceMs` later it is abandoned: its requests in flight end too. */
export class Stop<Cause> {
  /** Why the work was stopped; only the first cause is kept. */
  cause: Cause | undefined;
  private readonly stopController = new AbortController();
  private readonly abandonController = new AbortController();
  /** Aborted when the work is stopped. */
  readonly stopped = this.stopController.signal;
  /** Aborted when the requests in flight are abandoned. */
  readonly abandoned = this.abandonController.signal;

  /** @param why the message of the StoppedError, a clause. */
  trigger(cause: Cause, why?: string): void {
    if (this.cause) return;
    this.cause = cause;
    // A run may also stop without a signal. After one, a timer of `inTwoSteps` ends the whole command a little later.
    setTimeout(() => this.abandon(), graceMs).unref();
    this.stopController.abort(new StoppedError(why));
  }

  abandon(why?: string): void {
    this.abandonController.abort(new StoppedError(why));
  }
}
