/** Returns monotonic milliseconds from an arbitrary start. `performance.now()` does the same, but loads `node:perf_hooks`. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** The longest delay of a timer in milliseconds. Node fires a timer with a longer delay at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Says that nobody waits for the result of a piece of work any more. Each request has one, so it must be cheap to create. */
export interface Cancellation {
  readonly isCancelled: boolean;
  readonly reason: unknown;
  /** Sets the only listener. The listener is called when the work is cancelled, or at once if the work is cancelled already. */
  onCancel(listener: () => void): void;
}

/** The limits of a piece of work: a time, signals, or both. */
interface Limits {
  readonly limitMs?: number;
  /** Makes the error of work that takes longer. */
  createTimeoutError?(): unknown;
  readonly signals?: readonly AbortSignal[];
}

/**
 * Does work within limits. The promise settles when the work does, when the time is over, or when a signal aborts. It does
 * not wait for work that ignores its cancellation, as undici does while it connects or queues.
 */
export function withinLimits<Value>(
  { limitMs = Number.POSITIVE_INFINITY, createTimeoutError, signals = [] }: Limits,
  work: (cancellation: Cancellation) => Promise<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let listener: (() => void) | undefined;
    // An AbortController would take five times as long as all the rest (`bench/README.md`).
    const cancellation = {
      isCancelled: false,
      reason: undefined as unknown,
      onCancel(listen: () => void) {
        if (cancellation.isCancelled) listen();
        else listener = listen;
      },
    };
    const end = () => {
      clearTimeout(timer);
      for (const signal of signals) offAbort(signal, cancel);
    };
    const cancel = (reason: unknown) => {
      end();
      cancellation.isCancelled = true;
      cancellation.reason = reason;
      reject(reason);
      listener?.();
    };
    const timer =
      limitMs < longestTimerMs
        ? setTimeout(() => cancel(createTimeoutError?.()), Math.ceil(limitMs))
        : undefined;
    for (const signal of signals) onAbort(signal, cancel);
    const aborted = signals.find((signal) => signal.aborted);
    if (aborted) cancel(aborted.reason);
    else
      work(cancellation).then(
        (value) => {
          end();
          resolve(value);
        },
        (error) => {
          end();
          reject(error);
        },
      );
  });
}

type AbortListener = (reason: unknown) => void;

/**
 * The listeners of each signal. The signal itself gets only one listener, which calls these. A run has a listener for each request,
 * and in Node a removed listener keeps the later ones in memory until V8 collects all of it. An array, because a Set that changes
 * with every request does the same: a run took a fifth longer (`bench/README.md`).
 */
const abortListeners = new WeakMap<AbortSignal, AbortListener[]>();

function onAbort(signal: AbortSignal, listener: AbortListener): void {
  const listeners = abortListeners.get(signal) ?? [];
  listeners.push(listener);
  if (abortListeners.has(signal)) return;
  abortListeners.set(signal, listeners);
  signal.addEventListener('abort', () => {
    for (const each of listeners.slice()) each(signal.reason);
  });
}

function offAbort(signal: AbortSignal, listener: AbortListener): void {
  const listeners = abortListeners.get(signal) ?? [];
  const at = listeners.indexOf(listener);
  if (at === -1) return;
  const last = listeners.pop() as AbortListener;
  if (at < listeners.length) listeners[at] = last;
}

/** Waits `ms` milliseconds. @throws the reason of the first signal that aborts meanwhile. */
export function sleep(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  return withinLimits(
    { signals },
    (cancellation) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, Math.min(ms, longestTimerMs));
        cancellation.onCancel(() => clearTimeout(timer));
      }),
  );
}

/**
 * Does the work for each item, on `max` items at a time. After an error, or once `stopped` is aborted, no further item begins.
 * When the function ends, no work is in progress.
 *
 * @throws the first error.
 */
export async function forEachConcurrently<Item>(
  max: number,
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
  stopped?: AbortSignal,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const worker = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) {
      if (stopped?.aborted || failures.length > 0) return;
      await work(next.value).catch((error) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: max }, worker));
  if (failures.length > 0) throw failures[0];
}
