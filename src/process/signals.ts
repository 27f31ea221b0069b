import { type CliError, interruption, isInterruption, type Signal } from './errors.ts';

/** The time that requests in flight have after a stop, in milliseconds. */
export const graceMs = 10_000;
/** The time that the rest of the work has after a signal has abandoned the requests, in milliseconds. */
const endMs = 500;

/**
 * Ends the work of a command in steps: it begins nothing new, then its requests in flight are abandoned, and then, if a signal came,
 * the command ends, even if a stalled reader keeps the work from its end.
 */
export class Stop {
  /** Why the work was stopped; only the first cause is kept. */
  cause: CliError | undefined;
  /** The error of the signal that has ended the command, unless the command has taken over the signals. */
  endError: CliError | undefined;
  private readonly stopping = new AbortController();
  private readonly abandoning = new AbortController();
  private readonly ending = new AbortController();
  /** Aborted when the work is stopped. The reason of each signal is an interruption. */
  readonly stopped = this.stopping.signal;
  /** Aborted when the requests in flight are abandoned. */
  readonly abandoned = this.abandoning.signal;
  /** Aborted when the command ends. */
  readonly ended = this.ending.signal;
  /** The signal that has stopped the work, but not ended the command. */
  private signal: Signal | undefined;
  private listener = (signal: Signal) => {
    this.endError ??= interruption(signal);
    this.end(signal);
  };

  /** Gets each signal of the process. By default it ends the command at once. */
  readonly onSignal = (signal: Signal) => this.listener(signal);

  /** Passes every signal to `listener` until the returned function is called. Then the previous listener gets them again. */
  takeOver(listener: (signal: Signal) => void): () => void {
    const outerListener = this.listener;
    this.listener = listener;
    return () => {
      this.listener = outerListener;
    };
  }

  /** Does work that the first signal stops, and the second one abandons. @param onFirst tells the user about the first one. */
  async inTwoSteps<Value>(onFirst: (signal: Signal) => void, work: () => Promise<Value>): Promise<Value> {
    const release = this.takeOver((signal) => {
      if (this.signal || this.abandoned.aborted) return this.end(signal);
      this.signal = signal;
      this.trigger(interruption(signal));
      onFirst(signal);
    });
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Stops the work. The requests in flight have 10 seconds; after a signal, the whole command. */
  trigger(cause: CliError): void {
    if (this.cause) return;
    this.cause = cause;
    this.stopping.abort(isInterruption(cause) ? cause : interruption(undefined, cause.message));
    setTimeout(() => (this.signal ? this.end(this.signal) : this.abandon()), graceMs).unref();
  }

  private abandon(reason: CliError = this.stopped.reason): void {
    this.abandoning.abort(reason);
  }

  private end(signal: Signal): void {
    const reason = interruption(signal);
    this.trigger(reason);
    this.abandon(reason);
    setTimeout(() => this.ending.abort(reason), endMs).unref();
  }
}
