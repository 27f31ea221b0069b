import { longestTimerMs, monotonicMs } from '../process/deadline.ts';
import { CliError, type ErrorKind } from '../process/errors.ts';
import { type Stop, StoppedError } from '../process/signals.ts';
import type { Attempt } from './attempt.ts';

/** The reason why a run stopped before its last row. */
export interface StopReason {
  /** Determines the exit code. */
  readonly kind: ErrorKind;
  /** A clause without a full stop. */
  readonly message: string;
  /** What the user can do before the run is resumed. */
  readonly hint?: string | undefined;
}

/** How fast requests are sent. */
export interface PaceFlags {
  /** The most requests in flight. */
  readonly concurrency: number;
  /** The most requests a second. Each attempt counts. Null for no limit. */
  readonly rate: number | null;
}

/** The longest Retry-After, in milliseconds. A longer one stops the run. */
export const maxRetryWaitMs = 120_000;

/**
 * The pace of requests, shared by all workers: the number of requests in flight, which is halved when the service is
 * overloaded and grows back one by one; a rate; and a pause when the service asks for one.
 */
export class Pace {
  /** Current limit of requests in flight, and the highest one. */
  limit: number;
  readonly max: number;
  requests = 0;
  /** The stop of the run. The pace stops the run if the service asks to wait too long. */
  readonly stop: Stop<StopReason>;
  private readonly intervalMs: number;
  private inFlight = 0;
  private successes = 0;
  private halvedAt = Number.NEGATIVE_INFINITY;
  private pausedUntil = 0;
  private nextAt = 0;
  /** The requests that wait for their turn. Each is called with true to start, or with false if the run has stopped. */
  private readonly waiting: ((mayStart: boolean) => void)[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor({ concurrency, rate }: PaceFlags, stop: Stop<StopReason>) {
    this.limit = concurrency;
    this.max = concurrency;
    this.intervalMs = rate === null ? 0 : 1000 / rate;
    this.stop = stop;
    stop.stopped.addEventListener('abort', () => this.rejectAll());
  }

  /** Aborted when the requests in flight are abandoned. */
  get abandoned(): AbortSignal {
    return this.stop.abandoned;
  }

  /**
   * Waits for the turn of an attempt. Returns undefined if the attempt can start at once, which saves a turn of the event
   * loop.
   *
   * @throws StoppedError if the run has stopped.
   */
  waitForTurn(): Promise<void> | undefined {
    if (this.stop.reason) throw new StoppedError();
    if (this.waiting.length === 0 && this.inFlight < this.limit && this.waitMs() === 0) {
      this.begin();
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.waiting.push((mayStart) => (mayStart ? resolve() : reject(new StoppedError())));
      this.admit();
    });
  }

  /** Adapts the pace to an attempt that has ended. Call it after each attempt. */
  observe({ elapsedMs, response, error, retryAfterMs }: Attempt): void {
    this.inFlight -= 1;
    const status = response?.status;
    if (status === 429 || status === 503 || isTimeout(error)) this.slowDown(elapsedMs);
    else if (status !== undefined && status < 300) this.speedUp();
    if (retryAfterMs !== undefined && status !== undefined && status >= 400) {
      if (retryAfterMs > maxRetryWaitMs) this.stop.stop(tooLongWait(status, retryAfterMs));
      else this.pausedUntil = Math.max(this.pausedUntil, monotonicMs() + retryAfterMs);
    }
    if (this.stop.reason) this.abandonIfIdle();
    else if (this.waiting.length > 0) this.admit();
  }

  /** Starts the requests whose turn it is, and schedules itself for the next one. */
  private admit(): void {
    while (this.waiting.length > 0 && this.inFlight < this.limit) {
      const waitMs = this.waitMs();
      if (waitMs > 0) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.admit(), Math.min(Math.ceil(waitMs), longestTimerMs));
        return;
      }
      this.begin();
      this.waiting.shift()?.(true);
    }
  }

  /** Counts a request from its start, because its end may never be reported. */
  private begin(): void {
    this.requests += 1;
    this.inFlight += 1;
    if (this.intervalMs > 0) this.nextAt = Math.max(monotonicMs(), this.nextAt) + this.intervalMs;
  }

  /** Returns the milliseconds until the next request can start, by pause and rate. 0 means now. */
  private waitMs(): number {
    if (this.intervalMs === 0 && this.pausedUntil === 0) return 0;
    const now = monotonicMs();
    if (this.pausedUntil > now) return this.pausedUntil - now;
    // Timers have a resolution of a millisecond, so a shorter wait would take as long as that.
    return this.nextAt - now >= 1 ? this.nextAt - now : 0;
  }

  private rejectAll(): void {
    clearTimeout(this.timer);
    for (const start of this.waiting.splice(0)) start(false);
    this.abandonIfIdle();
  }

  /** Ends the delays before further attempts: a stopped run waits only for requests that are in flight. */
  private abandonIfIdle(): void {
    if (this.inFlight === 0) this.stop.abandon();
  }

  /** Requests that were in flight at the last halving do not halve again. */
  private slowDown(elapsedMs: number): void {
    const now = monotonicMs();
    if (now - elapsedMs < this.halvedAt) return;
    this.limit = Math.max(1, Math.floor(this.limit / 2));
    this.halvedAt = now;
    this.successes = 0;
  }

  private speedUp(): void {
    if (this.limit === this.max) return;
    this.successes += 1;
    if (this.successes < this.limit) return;
    this.limit += 1;
    this.successes = 0;
  }
}

/**
 * Does the work for each item, on as many items at a time as the pace allows at most. After an error no further item
 * begins. When the function ends, no work is in progress.
 *
 * @throws the first error.
 */
export async function eachAtPace<Item>(
  pace: Pick<Pace, 'max'>,
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const worker = async () => {
    for (let next = iterator.next(); !next.done && failures.length === 0; next = iterator.next())
      await work(next.value).catch((error) => failures.push(error));
  };
  await Promise.all(Array.from({ length: pace.max }, worker));
  if (failures.length > 0) throw failures[0];
}

function isTimeout(error: Error | undefined): boolean {
  return error instanceof CliError && error.details.reason === 'timeout';
}

function tooLongWait(status: number, waitMs: number): StopReason {
  const seconds = (ms: number) => `${Math.ceil(ms / 1000)} s`;
  return {
    kind: 'unavailable',
    message: `the service answered ${status} and asks to wait ${seconds(waitMs)}, longer than ${seconds(maxRetryWaitMs)}`,
  };
}
