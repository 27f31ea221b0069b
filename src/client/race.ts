/** What may end a piece of work from outside. */
export interface Limits {
  /** Milliseconds it may take; Infinity for no limit. */
  readonly leftMs: number;
  /** The error when they are over. */
  timedOut(): Error;
  readonly signals: readonly AbortSignal[];
}

const longestTimerMs = 2 ** 31 - 1;

/**
 * Settles when the work does, when its time is over, or when a signal aborts; in the last two cases at once, whether the
 * work heeds the signal that it is given or not (undici does not while it connects or queues).
 */
export function race<Value>(
  { leftMs, timedOut, signals }: Limits,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const settle = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', onAbort);
    };
    const end = (error: unknown) => {
      settle();
      reject(error);
      controller.abort(error);
    };
    const onAbort = () => end(signals.find((signal) => signal.aborted)?.reason);
    const timer =
      leftMs > longestTimerMs ? undefined : setTimeout(() => end(timedOut()), Math.max(0, Math.ceil(leftMs)));
    for (const signal of signals) {
      if (signal.aborted) return end(signal.reason);
      signal.addEventListener('abort', onAbort);
    }
    work(controller.signal).then(
      (value) => {
        settle();
        resolve(value);
      },
      (error) => {
        settle();
        reject(error);
      },
    );
  });
}

/** Waits, unless the limits end it before. */
export function pause(ms: number, limits: Limits): Promise<void> {
  return race(
    limits,
    (signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, Math.min(ms, longestTimerMs));
        signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
      }),
  );
}
