/** Monotonic milliseconds from an arbitrary start. `performance.now()` would do, but loads all of `node:perf_hooks`. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** The longest delay of a timer; Node fires a longer one at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** Tells a piece of work that nobody waits for its result any more. Each request has one, so it is cheap to create. */
export interface Cancellation {
  readonly isCancelled: boolean;
  /** The reason, once it is cancelled. */
  readonly reason: unknown;
  /** Sets the only listener; calls it when the work is cancelled, or at once if it already is. */
  onCancel(listener: (reason: unknown) => void): void;
}

/** The limits of a piece of work: a time, signals, or both. */
export interface Limits {
  /** Milliseconds it may take. */
  readonly leftMs?: number;
  /** The error for when the time is over. */
  timedOut?(): unknown;
  readonly signals?: readonly AbortSignal[];
}

/**
 * Settles when the work does, when its time is over, or when a signal aborts. In the last two cases it settles at once,
 * even if the work ignores its cancellation (undici does while it connects or queues).
 */
export function race<Value>(
  limits: Limits,
  work: (cancellation: Cancellation) => Promise<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const contest = new Race(limits, reject);
    if (contest.isCancelled) return;
    work(contest).then(
      (value) => {
        contest.leave();
        resolve(value);
      },
      (error) => {
        contest.leave();
        reject(error);
      },
    );
  });
}

/** The value of the work, or what `late` returns or throws if the work takes longer. The work goes on then. */
export function withDeadline<Value, Late>(
  work: Promise<Value>,
  timeoutMs: number,
  late: () => Late,
): Promise<Value | Late> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(timeoutMs, longestTimerMs));
  });
  return Promise.race([work, timeout.then(late)]).finally(() => clearTimeout(timer));
}

/** Waits `ms` milliseconds. @throws the reason of the first signal that aborts meanwhile. */
export function sleep(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  return race(
    { signals },
    (cancellation) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, Math.min(ms, longestTimerMs));
        cancellation.onCancel(() => clearTimeout(timer));
      }),
  );
}

/**
 * One race. All races share one timer, and one listener on each signal: the plain forms take a fifth to a half more
 * processor time in a bulk run (`bench/README.md`).
 */
class Race implements Cancellation {
  isCancelled = false;
  reason: unknown;
  readonly limits: Limits;
  readonly dueAtMs: number;
  private readonly reject: (reason: unknown) => void;
  private listener: ((reason: unknown) => void) | undefined;
  /** Its index among the races that are running; -1 once it has ended. */
  private at: number;

  constructor(limits: Limits, reject: (reason: unknown) => void) {
    const { leftMs = Number.POSITIVE_INFINITY, signals = [] } = limits;
    this.limits = limits;
    this.reject = reject;
    this.dueAtMs = monotonicMs() + leftMs;
    this.at = running.push(this) - 1;
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
    if (this.at === -1) return;
    this.leave();
    this.isCancelled = true;
    this.reason = reason;
    this.reject(reason);
    this.listener?.(reason);
  }

  leave(): void {
    if (this.at === -1) return;
    const last = running.pop() as Race;
    if (last !== this) {
      running[this.at] = last;
      last.at = this.at;
    }
    this.at = -1;
    if (running.length > 0) return;
    clearTimeout(timer);
    wakesAtMs = Number.POSITIVE_INFINITY;
  }
}

/**
 * The races that are running. Not a `Set`: one that changes all the time leaves its outgrown tables behind, each of which
 * holds the members it had until the next full collection, and V8 then moves every request of a bulk run to the old space.
 */
const running: Race[] = [];
const watchedSignals = new WeakSet<AbortSignal>();
let timer: NodeJS.Timeout | undefined;
let wakesAtMs = Number.POSITIVE_INFINITY;

function watch(signal: AbortSignal): void {
  if (watchedSignals.has(signal)) return;
  watchedSignals.add(signal);
  signal.addEventListener('abort', () => {
    for (const contest of running.filter(({ limits }) => limits.signals?.includes(signal)))
      contest.cancel(signal.reason);
  });
}

/** Sets the timer, unless it already fires before that time. */
function wakeAt(dueAtMs: number): void {
  if (dueAtMs >= wakesAtMs) return;
  clearTimeout(timer);
  wakesAtMs = dueAtMs;
  const delayMs = Math.max(0, Math.ceil(dueAtMs - monotonicMs()));
  timer = setTimeout(endLateRaces, Math.min(delayMs, longestTimerMs));
}

function endLateRaces(): void {
  wakesAtMs = Number.POSITIVE_INFINITY;
  const now = monotonicMs();
  for (const contest of running.filter(({ dueAtMs }) => dueAtMs <= now))
    contest.cancel(contest.limits.timedOut?.());
  for (const { dueAtMs } of running) wakeAt(dueAtMs);
}
