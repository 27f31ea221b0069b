/** Returns monotonic milliseconds from an arbitrary start. `performance.now()` does the same, but loads `node:perf_hooks`. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** Returns the processor time of this process in milliseconds. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The longest delay of a timer in milliseconds. Node fires a timer with a longer delay at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** Tells a piece of work that nobody waits for its result any more. Each request has a cancellation, so it is cheap to create. */
export interface Cancellation {
  readonly isCancelled: boolean;
  /** The reason of the cancellation. Undefined before it. */
  readonly reason: unknown;
  /** Sets the only listener. The listener is called when the work is cancelled, or at once if the work is cancelled already. */
  onCancel(listener: (reason: unknown) => void): void;
}

/** The limits of a piece of work: a time, signals, or both. */
export interface Limits {
  /** The time limit in milliseconds. */
  readonly limitMs?: number;
  /** Makes the error of work that takes longer. */
  timedOut?(): unknown;
  readonly signals?: readonly AbortSignal[];
}

/**
 * Does work within limits. The promise settles when the work does, when the time is over, or when a signal aborts. It does
 * not wait for work that ignores its cancellation, as undici does while it connects or queues.
 */
export function withinLimits<Value>(
  limits: Limits,
  work: (cancellation: Cancellation) => Promise<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const limitedWork = new LimitedWork(limits, reject);
    if (limitedWork.isCancelled) return;
    work(limitedWork).then(
      (value) => {
        limitedWork.end();
        resolve(value);
      },
      (error) => {
        limitedWork.end();
        reject(error);
      },
    );
  });
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
 * A piece of work and its limits. All work shares one timer, and one listener on each signal. A timer for each piece of work
 * would take 20 to 50 % more processor time in a bulk run (`bench/README.md`).
 */
class LimitedWork implements Cancellation {
  isCancelled = false;
  reason: unknown;
  readonly limits: Limits;
  readonly dueAtMs: number;
  private readonly reject: (reason: unknown) => void;
  private listener: ((reason: unknown) => void) | undefined;
  /** The index in `runningWork`. -1 after the work has ended. */
  private index: number;

  constructor(limits: Limits, reject: (reason: unknown) => void) {
    const { limitMs = Number.POSITIVE_INFINITY, signals = [] } = limits;
    this.limits = limits;
    this.reject = reject;
    this.dueAtMs = monotonicMs() + limitMs;
    this.index = runningWork.push(this) - 1;
    wakeAt(this.dueAtMs);
    for (const signal of signals) watch(signal);
    const aborted = signals.find((signal) => signal.aborted);
    if (aborted) this.cancel(aborted.reason);
  }

  onCancel(listener: (reason: unknown) => void): void {
    if (this.isCancelled) listener(this.reason);
    else this.listener = listener;
  }

  cancel(reason: unknown): void {
    if (this.index === -1) return;
    this.end();
    this.isCancelled = true;
    this.reason = reason;
    this.reject(reason);
    this.listener?.(reason);
  }

  end(): void {
    if (this.index === -1) return;
    const last = runningWork.pop() as LimitedWork;
    if (last !== this) {
      runningWork[this.index] = last;
      last.index = this.index;
    }
    this.index = -1;
    if (runningWork.length > 0) return;
    clearTimeout(timer);
    wakesAtMs = Number.POSITIVE_INFINITY;
  }
}

/**
 * The work that has not ended. It is not a `Set`: if a `Set` changes all the time, V8 keeps its old hash tables, and with them
 * the requests of a bulk run, until the next full collection.
 */
const runningWork: LimitedWork[] = [];
const watchedSignals = new WeakSet<AbortSignal>();
let timer: NodeJS.Timeout | undefined;
let wakesAtMs = Number.POSITIVE_INFINITY;

function watch(signal: AbortSignal): void {
  if (watchedSignals.has(signal)) return;
  watchedSignals.add(signal);
  signal.addEventListener('abort', () => {
    for (const work of runningWork.filter(({ limits }) => limits.signals?.includes(signal)))
      work.cancel(signal.reason);
  });
}

/** Sets the timer, unless it already fires before that time. */
function wakeAt(dueAtMs: number): void {
  if (dueAtMs >= wakesAtMs) return;
  clearTimeout(timer);
  wakesAtMs = dueAtMs;
  const delayMs = Math.max(0, Math.ceil(dueAtMs - monotonicMs()));
  timer = setTimeout(endLateWork, Math.min(delayMs, longestTimerMs));
}

function endLateWork(): void {
  wakesAtMs = Number.POSITIVE_INFINITY;
  const now = monotonicMs();
  for (const work of runningWork.filter(({ dueAtMs }) => dueAtMs <= now))
    work.cancel(work.limits.timedOut?.());
  for (const { dueAtMs } of runningWork) wakeAt(dueAtMs);
}
