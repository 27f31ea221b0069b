import { monotonicMs } from './clock.ts';

/** Node runs a longer timer at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** Tells a piece of work that nobody waits for it any more; cheap enough to make one for every request. */
export interface Cancellation {
  readonly isCancelled: boolean;
  /** Why, once it is cancelled. */
  readonly reason: unknown;
  /** Calls the listener, the only one, when it is cancelled, and at once if it is already. */
  onCancel(listener: (reason: unknown) => void): void;
}

/** What may end a piece of work from outside. */
export interface Limits {
  /** Milliseconds it may take; Infinity for no limit. */
  readonly leftMs: number;
  /** The error when they are over. */
  timedOut(): unknown;
  readonly signals: readonly AbortSignal[];
  /** Called with the reason when a signal aborts, before the work's promise is rejected with it. */
  onAbort?(reason: unknown): void;
}

/**
 * Settles when the work does, when its time is over, or when a signal aborts; in the last two cases at once, whether the
 * work heeds its cancellation or not (undici does not while it connects or queues).
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

/** The work's value, or what `late` returns or throws if the work takes longer; the work itself goes on. */
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

/** Waits so long. @throws the reason of the first signal that aborts meanwhile. */
export function sleep(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  return pause(ms, { leftMs: Number.POSITIVE_INFINITY, signals, timedOut: () => undefined });
}

/** Waits so long, unless the limits end it before. */
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
 * One race as it runs. An AbortController for each would cost a tenth of the time of a request, and a listener for each on
 * the signal of the process makes Node warn of a leak: all races of one signal share a listener.
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
 * Some races. Not a Set: one that changes all the time leaves its outgrown tables behind, each of which holds the members of
 * its time until the next full collection, and V8 then moves every request of a bulk run to the old space.
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

/** Races that have no timer yet. A timer for each would cost as much as reading its answer, and most end before this one fires. */
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

/** The races that a signal ends. */
function runnersOf(signal: AbortSignal): Runners {
  const known = runners.get(signal);
  if (known) return known;
  const made = new Runners();
  signal.addEventListener('abort', () => made.abort(signal.reason));
  runners.set(signal, made);
  return made;
}
