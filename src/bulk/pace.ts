import type { Attempt } from '../client/client.ts';
import { monotonicMs } from '../clock.ts';
import { sleep } from '../deadline.ts';
import { UnavailableError } from '../errors.ts';
import type { Stop } from './stop.ts';

export interface PaceOptions {
  /** Most requests in flight. */
  readonly concurrency: number;
  /** Most requests a second, every attempt counted; undefined for no limit. */
  readonly rate: number | undefined;
  /** Longest Retry-After that is waited for, in milliseconds. */
  readonly maxRetryWaitMs: number;
}

/**
 * How fast requests may go, for all workers together: a concurrency that is halved when the service is overloaded and
 * grows back one by one, a rate, and a pause where the service asks for one.
 */
export class Pace {
  /** Requests in flight at most, now. */
  limit: number;
  requests = 0;
  retries = 0;
  readonly maxRetryWaitMs: number;
  private readonly most: number;
  private readonly intervalMs: number;
  private readonly stop: Stop;
  private onWire = 0;
  private successes = 0;
  private halvedAt = Number.NEGATIVE_INFINITY;
  private pausedUntil = 0;
  private nextAt = 0;

  constructor({ concurrency, rate, maxRetryWaitMs }: PaceOptions, stop: Stop) {
    this.limit = concurrency;
    this.most = concurrency;
    this.intervalMs = rate === undefined ? 0 : 1000 / rate;
    this.maxRetryWaitMs = maxRetryWaitMs;
    this.stop = stop;
    stop.stopped.addEventListener('abort', () => this.giveUpWhereIdle());
  }

  /** To be awaited before each attempt; undefined where it may go at once. @throws StoppedError where the run has stopped. */
  gate(): Promise<void> | undefined {
    this.stop.stopped.throwIfAborted();
    if (this.intervalMs > 0 || this.pausedUntil > 0) return this.takeTurn();
    this.begin();
    return undefined;
  }

  /** To be told of each attempt when it has ended. */
  observe({ number, elapsedMs, response, error, retryAfterMs }: Attempt): void {
    this.onWire -= 1;
    if (this.stop.stopped.aborted) this.giveUpWhereIdle();
    if (number > 1) this.retries += 1;
    const status = response?.status;
    if (status === 429 || status === 503 || isTimeout(error)) this.slowDown(elapsedMs);
    else if (status !== undefined && status < 300) this.speedUp();
    if (retryAfterMs === undefined || status === undefined || status < 400) return;
    if (retryAfterMs > this.maxRetryWaitMs)
      this.stop.stop(tooLongWait(status, retryAfterMs, this.maxRetryWaitMs));
    else this.pausedUntil = Math.max(this.pausedUntil, monotonicMs() + retryAfterMs);
  }

  private async takeTurn(): Promise<void> {
    await this.pauseEnds();
    if (this.intervalMs > 0) {
      const now = monotonicMs();
      const turn = Math.max(now, this.nextAt);
      this.nextAt = turn + this.intervalMs;
      // Timers have a resolution of a millisecond: a shorter wait would become one of that length.
      if (turn - now >= 1) await sleep(turn - now, this.stop.stopped);
      await this.pauseEnds();
    }
    this.begin();
  }

  /** What is begun counts as a request, whether its end is ever told or not. */
  private begin(): void {
    this.requests += 1;
    this.onWire += 1;
  }

  private async pauseEnds(): Promise<void> {
    while (this.pausedUntil > monotonicMs()) await sleep(this.pausedUntil - monotonicMs(), this.stop.stopped);
  }

  /** What is left of a stopped run when nothing is in flight are delays before attempts that will not be made. */
  private giveUpWhereIdle(): void {
    if (this.onWire === 0) this.stop.giveUp();
  }

  /** Requests that were under way at the last halving say nothing new. */
  private slowDown(elapsedMs: number): void {
    const now = monotonicMs();
    if (now - elapsedMs < this.halvedAt) return;
    this.limit = Math.max(1, Math.floor(this.limit / 2));
    this.halvedAt = now;
    this.successes = 0;
  }

  private speedUp(): void {
    if (this.limit === this.most) return;
    this.successes += 1;
    if (this.successes < this.limit) return;
    this.limit += 1;
    this.successes = 0;
  }
}

function isTimeout(error: Error | undefined): boolean {
  return error instanceof UnavailableError && error.reason === 'timeout';
}

function tooLongWait(status: number, waitMs: number, mostMs: number) {
  const seconds = (ms: number) => `${Math.ceil(ms / 1000)} s`;
  return {
    kind: 'unavailable',
    message: `the service answered ${status} and asks to wait ${seconds(waitMs)}, longer than --max-retry-wait ${seconds(mostMs)}`,
  } as const;
}
