import type { Cancellation } from '../api/http.ts';
import { longestTimerMs } from '../deadline.ts';

/** What may end a piece of work from outside. */
export interface Limits {
  /** Milliseconds it may take; Infinity for no limit. */
  readonly leftMs: number;
  /** The error when they are over. */
  timedOut(): Error;
  readonly signals: readonly AbortSignal[];
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

/** Waits, unless the limits end it before. */
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
  readonly #reject: (reason: unknown) => void;
  readonly #audiences: readonly Audience[];
  readonly #timer: NodeJS.Timeout | undefined;
  #listener: ((reason: unknown) => void) | undefined;

  constructor(limits: Limits, reject: (reason: unknown) => void) {
    const { leftMs, signals } = limits;
    this.#reject = reject;
    this.#audiences = signals.map(audienceOf);
    for (const audience of this.#audiences) audience.add(this);
    if (leftMs <= longestTimerMs)
      this.#timer = setTimeout(() => this.cancel(limits.timedOut()), Math.max(0, Math.ceil(leftMs)));
    const aborted = signals.find((signal) => signal.aborted);
    if (aborted) this.cancel(aborted.reason);
  }

  onCancel(listener: (reason: unknown) => void): void {
    if (this.isCancelled) listener(this.reason);
    else this.#listener = listener;
  }

  cancel(reason: unknown): void {
    this.leave();
    this.isCancelled = true;
    this.reason = reason;
    this.#reject(reason);
    this.#listener?.(reason);
  }

  leave(): void {
    clearTimeout(this.#timer);
    for (const audience of this.#audiences) audience.delete(this);
  }
}

/**
 * Those who wait for a signal. No Set: one that changes all the time leaves its outgrown tables behind, each of which holds
 * the members of its time until the next full collection, and V8 then moves every request of a bulk run to the old space.
 */
class Audience {
  readonly #members: Runner[] = [];

  add(member: Runner): void {
    this.#members.push(member);
  }

  delete(member: Runner): void {
    const at = this.#members.indexOf(member);
    const last = at === -1 ? undefined : this.#members.pop();
    if (last && last !== member) this.#members[at] = last;
  }

  cancel(reason: unknown): void {
    for (const member of [...this.#members]) member.cancel(reason);
  }
}

const audiences = new WeakMap<AbortSignal, Audience>();

/** The races that a signal ends. */
function audienceOf(signal: AbortSignal): Audience {
  const known = audiences.get(signal);
  if (known) return known;
  const audience = new Audience();
  signal.addEventListener('abort', () => audience.cancel(signal.reason));
  audiences.set(signal, audience);
  return audience;
}
