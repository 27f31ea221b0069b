import { type Context, createContext, runInContext } from 'node:vm';
import { InterruptedError } from './errors.ts';
import { systemCode } from './system-error.ts';

/** Monotonic milliseconds from an arbitrary start. `performance.now()` would do, but loads all of `node:perf_hooks`. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** The longest delay of a timer; Node fires a longer one at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** Tells a piece of work that its result is no longer awaited. Cheap enough to create one for every request. */
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
    const started = new Race(limits, reject);
    if (started.isCancelled) return;
    work(started).then(
      (value) => {
        started.leave();
        resolve(value);
      },
      (error) => {
        started.leave();
        reject(error);
      },
    );
  });
}

/** The value of the work, or what `late` returns or throws if the work takes longer; the work is not stopped. */
export async function withDeadline<Value, Late>(
  work: Promise<Value>,
  timeoutMs: number,
  late: () => Late,
): Promise<Value | Late> {
  const over = new Error('late');
  try {
    return await race({ leftMs: timeoutMs, timedOut: () => over }, () => work);
  } catch (error) {
    if (error === over) return late();
    throw error;
  }
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

/** The last look of a poll has at least this time. */
const leastLookMs = 100;

/**
 * Calls `look` until it returns a value: at once, then after each pause, and once more right before the time is over,
 * with twice the time that the look before it took.
 *
 * @param look gets the milliseconds that are left.
 * @returns undefined if the time is over. @throws what `look` throws, and the reason of the signal.
 */
export async function poll<Value>(
  {
    forMs,
    everyMs,
    signal,
  }: { readonly forMs: number; readonly everyMs: number; readonly signal: AbortSignal },
  look: (leftMs: number) => Promise<Value | undefined>,
): Promise<Value | undefined> {
  const endMs = monotonicMs() + forMs;
  for (let isLast = false; ; ) {
    const beganMs = monotonicMs();
    const value = await look(Math.max(endMs - beganMs, 1));
    const nowMs = monotonicMs();
    if (value !== undefined || isLast || nowMs >= endMs) return value;
    const pauseMs = endMs - nowMs - Math.max(leastLookMs, 2 * (nowMs - beganMs));
    isLast = pauseMs <= everyMs;
    await sleep(Math.max(0, Math.min(everyMs, pauseMs)), signal);
  }
}

/**
 * One race. An AbortController for each would cost a tenth of the time of a request, a timer for each as much as reading
 * an answer, and a listener for each on the signal of the process would make Node warn of a leak. So all races share one
 * timer, and one listener on each signal.
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
const watched = new WeakSet<AbortSignal>();
let timer: NodeJS.Timeout | undefined;
let wakesAtMs = Number.POSITIVE_INFINITY;

function watch(signal: AbortSignal): void {
  if (watched.has(signal)) return;
  watched.add(signal);
  signal.addEventListener('abort', () => {
    for (const each of running.filter(({ limits }) => limits.signals?.includes(signal)))
      each.cancel(signal.reason);
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
  for (const late of running.filter(({ dueAtMs }) => dueAtMs <= now)) late.cancel(late.limits.timedOut?.());
  for (const { dueAtMs } of running) wakeAt(dueAtMs);
}

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
  room ??= createContext({});
  room.work = work;
  try {
    return runInContext('work()', room, {
      timeout: Math.max(1, Math.ceil(limitMs)),
      breakOnSigint: endsOnCtrlC,
    }) as Value;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return late();
    // No listener hears a signal while synchronous work goes on.
    throw code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED' ? new InterruptedError('SIGINT') : error;
  } finally {
    delete room.work;
  }
}

let room: Context | undefined;
