import { InterruptedError } from './errors.ts';
import type { Io, Signal } from './io.ts';

/** SIGINT and SIGTERM abort the command, unless the command takes them over to end in its own way. */
export interface Interrupts {
  /** Aborted by the first signal that no command took over; the reason is an InterruptedError. */
  readonly signal: AbortSignal;
  /** Passes every signal to `listener` until the returned function is called. */
  take(listener: (signal: Signal) => void): () => void;
  release(): void;
}

export function createInterrupts(io: Io): Interrupts {
  const controller = new AbortController();
  let taker: ((signal: Signal) => void) | undefined;
  const release = io.onSignal((signal) => {
    if (taker) taker(signal);
    else controller.abort(new InterruptedError(signal));
  });
  return {
    signal: controller.signal,
    take(listener) {
      taker = listener;
      return () => {
        taker = undefined;
      };
    },
    release,
  };
}
