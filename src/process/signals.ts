import { InterruptedError, type Signal } from './errors.ts';
import type { Io } from './io.ts';

/** The signals that end a command: each aborts it, unless the command takes them over to end in its own way. */
export interface Interrupts {
  /** Aborted with an InterruptedError by the first signal that no command took over. */
  readonly signal: AbortSignal;
  /** Passes every signal to `listener` until the returned function is called. */
  takeOver(listener: (signal: Signal) => void): () => void;
  /** Aborts a command that took the signals over, because it does not come to its end. */
  abort(signal: Signal): void;
  release(): void;
}

export function createInterrupts(io: Io): Interrupts {
  const controller = new AbortController();
  let handler: ((name: Signal) => void) | undefined;
  // A second abort changes nothing.
  const abort = (name: Signal) => controller.abort(new InterruptedError(name));
  const release = io.onSignal((name) => (handler ?? abort)(name));
  return {
    signal: controller.signal,
    takeOver(listener) {
      handler = listener;
      return () => {
        handler = undefined;
      };
    },
    abort,
    release,
  };
}

/** The work of a call was stopped. */
export class StoppedError extends Error {
  /** The attempts of the call, as in the details of a CliError. The last attempt may be unfinished. */
  readonly attempts: readonly object[];

  constructor(message?: string, attempts: readonly object[] = []) {
    super(message);
    this.attempts = attempts;
  }
}

/** Ends work in two steps: stopped work begins nothing new, and abandoned work ends its requests in flight too. */
export class Stop<Reason> {
  /** Why the work was stopped; only the first reason is kept. */
  reason: Reason | undefined;
  private readonly stopping = new AbortController();
  private readonly abandoning = new AbortController();

  /** Aborted when the work is stopped. */
  get stopped(): AbortSignal {
    return this.stopping.signal;
  }

  /** Yields the items until the work is stopped. */
  *untilStopped<Item>(items: Iterable<Item>): Generator<Item> {
    for (const item of items) {
      if (this.reason) return;
      yield item;
    }
  }

  /** Aborted when the requests in flight are abandoned. */
  get abandoned(): AbortSignal {
    return this.abandoning.signal;
  }

  stop(reason: Reason): void {
    if (this.reason) return;
    this.reason = reason;
    this.stopping.abort(new StoppedError());
  }

  abandon(why?: string): void {
    this.abandoning.abort(new StoppedError(why));
  }
}
