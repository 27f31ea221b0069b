import { monotonicMs } from './clock.ts';

/** The longest delay of a timer; Node fires a longer one at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** Tells a piece of work that its result is no longer awaited; cheap enough to create one for every request. */
export interface Cancellation {
  readonly isCancelled: boolean;
  /** The reason, once it is cancelled. */
  readonly reason: unknown;
  /** Sets the only listener; calls it when the work is cancelled, or at once if it already is. */
  onCancel(listener: (reason: unknown) => void): void;
}

/** The limits of a piece of work: a time and signals. */
export interface Limits {
  /** Milliseconds it may take; Infinity for no limit. */
  readonly leftMs: number;
  /** The error for when the time is over. */
  timedOut(): unknown;
  readonly signals: readonly AbortSignal[];
  /** Called with the reason when a signal aborts, before the work's promise is rejected with it. */
  onAbort?(reason: unknown): void;
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
    const runner = new Runner(limits, reject);
    if (runner.isCancelled) return;
    work(runner).then(
      (value) => {
        runner.leave();
        resolve(value);
      },
      (error) => {
        runner.leave();
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
    return await race({ leftMs: timeoutMs, signals: [], timedOut: () => over }, () => work);
  } catch (error) {
    if (error === over) return late();
    throw error;
  }
}

/** Waits `ms` milliseconds. @throws the reason of the first signal that aborts meanwhile. */
export function sleep(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  return pause(ms, { leftMs: Number.POSITIVE_INFINITY, signals, timedOut: () => undefined });
}

/** Waits `ms` milliseconds, or until one of the limits is reached. */
export function pause(ms: number, limits: Limits): Promise<void> {
  return race(
    limits,
    (cancellation) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, Math.min(ms, longestTimerMs));
        cancellation.onCancel(() => clearTimeout(timer));
      }),
  );
}

/**
 * One race. An AbortController for each would cost a tenth of the time of a request, and a listener for each on the
 * signal of the process would make Node warn of a leak. So all races of one signal share one listener.
 */
class Runner implements Cancellation {
  isCancelled = false;
  reason: unknown;
  private readonly limits: Limits;
  private readonly reject: (reason: unknown) => void;
  private readonly dueAtMs: number;
  private timer: NodeJS.Timeout | undefined;
  private listener: ((reason: unknown) => void) | undefined;

  constructor(limits: Limits, reject: (reason: unknown) => void) {
    const { leftMs, signals } = limits;
    this.limits = limits;
    this.reject = reject;
    this.dueAtMs = monotonicMs() + leftMs;
    for (const signal of signals) runnersOf(signal).add(this);
    if (leftMs <= 2 * newForMs) this.startTimer();
    else if (leftMs <= longestTimerMs) newRunners.add(this);
    const aborted = signals.find((signal) => signal.aborted);
    if (aborted) this.abort(aborted.reason);
  }

  startTimer(): void {
    const leftMs = Math.max(0, Math.ceil(this.dueAtMs - monotonicMs()));
    this.timer = setTimeout(() => this.cancel(this.limits.timedOut()), leftMs);
  }

  onCancel(listener: (reason: unknown) => void): void {
    if (this.isCancelled) listener(this.reason);
    else this.listener = listener;
  }

  abort(reason: unknown): void {
    this.limits.onAbort?.(reason);
    this.cancel(reason);
  }

  leave(): void {
    if (this.timer) clearTimeout(this.timer);
    else newRunners.delete(this);
    for (const signal of this.limits.signals) runnersOf(signal).delete(this);
  }

  private cancel(reason: unknown): void {
    this.leave();
    this.isCancelled = true;
    this.reason = reason;
    this.reject(reason);
    this.listener?.(reason);
  }
}

/**
 * A set of races. Not a `Set`: one that changes all the time leaves its outgrown tables behind, each of which holds the
 * members it had until the next full collection, and V8 then moves every request of a bulk run to the old space.
 */
class Runners {
  protected readonly members: Runner[] = [];

  add(member: Runner): void {
    this.members.push(member);
  }

  delete(member: Runner): void {
    const at = this.members.indexOf(member);
    const last = at === -1 ? undefined : this.members.pop();
    if (last && last !== member) this.members[at] = last;
  }

  abort(reason: unknown): void {
    for (const member of [...this.members]) member.abort(reason);
  }
}

/**
 * Races without a timer yet. A timer per race costs as much as reading an answer, and most races end before this shared
 * one fires.
 */
class NewRunners extends Runners {
  private sweeping: NodeJS.Timeout | undefined;

  override add(member: Runner): void {
    super.add(member);
    this.sweeping ??= setTimeout(() => this.sweep(), newForMs);
  }

  override delete(member: Runner): void {
    super.delete(member);
    if (this.members.length > 0) return;
    clearTimeout(this.sweeping);
    this.sweeping = undefined;
  }

  private sweep(): void {
    this.sweeping = undefined;
    for (const member of this.members.splice(0)) member.startTimer();
  }
}

const newForMs = 50;
const newRunners = new NewRunners();
const runners = new WeakMap<AbortSignal, Runners>();

/** The races that a signal cancels. */
function runnersOf(signal: AbortSignal): Runners {
  const known = runners.get(signal);
  if (known) return known;
  const made = new Runners();
  signal.addEventListener('abort', () => made.abort(signal.reason));
  runners.set(signal, made);
  return made;
}
