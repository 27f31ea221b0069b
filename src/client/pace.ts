import { isSafeMethod } from '../api/http.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import { type Stop, StoppedError } from '../process/signals.ts';
import { durationText } from '../process/text.ts';
import { type Attempt, isAnswered, statusRule } from './answer-table.ts';
import { retryDelay } from './retry.ts';

/** The longest Retry-After, in milliseconds. A longer one stops the run. */
const maxRetryWaitMs = 120_000;

/** An outage is this number of attempts in a row without an answer of the service. */
const maxUnanswered = 20;
/** A run whose service is dead stops within a minute, even if the user allows each call more time. */
const longestPatienceMs = 30_000;
/** How long nothing at all may answer, neither the service nor a gateway. A pause does not count. */
const longestSilenceMs = 60_000;

/** The pace of requests, shared by all workers: a rate, a pause when the service asks for one, and a stop if it no longer answers. */
export class Pace {
  /**
   * The stop of the run, and the error that ends it. The pace stops the run if the service asks to wait too long, or does not
   * answer any more.
   */
  readonly stop: Stop<CliError>;
  private readonly intervalMs: number;
  private readonly patienceMs: number;
  private inFlight = 0;
  private pausedUntil = 0;
  private nextAt = 0;
  /** The number of attempts in a row without an answer of the service. */
  private unanswered = 0;
  /** When the first of them ended. */
  private unansweredSince = 0;
  /** True if one of them is a write. */
  private isWriteLost = false;
  /** When the last response came, or when the first attempt after it began that got none. */
  private silentSince = 0;

  /**
   * @param rate the most requests a second, unlimited by default. Each attempt counts.
   * @param patienceMs how long an outage may last before the run stops, but at most `longestPatienceMs`.
   */
  constructor(rate: number | undefined, stop: Stop<CliError>, patienceMs: number) {
    this.patienceMs = Math.min(patienceMs, longestPatienceMs);
    this.intervalMs = rate === undefined ? 0 : 1000 / rate;
    this.stop = stop;
    stop.stopped.addEventListener('abort', () => this.abandonIfIdle());
  }

  /**
   * Waits for the turn of an attempt. Returns undefined if the attempt can start at once, which saves a turn of the event loop.
   *
   * @throws StoppedError if the run has stopped.
   */
  waitForTurn(): Promise<void> | undefined {
    if (this.stop.cause) throw new StoppedError();
    const waitMs = this.reserveTurn();
    if (waitMs > 0) return this.waitAndCount(waitMs);
    this.count();
    return undefined;
  }

  /** Counts an attempt that has ended. Call it after each attempt. */
  attemptEnded(attempt: Attempt): void {
    const { response, error, retryAfterMs } = attempt;
    const status = response?.status;
    this.inFlight -= 1;
    if (retryAfterMs !== undefined && retryAfterMs > maxRetryWaitMs)
      this.stop.trigger(
        new CliError(
          'unavailable',
          `the service answered ${status} and asks to wait ${durationText(retryAfterMs)}, longer than ${durationText(maxRetryWaitMs)}`,
        ),
      );
    this.pauseFor(retryAfterMs ?? (statusRule(status).pauses ? retryDelay(1) : 0));
    const isDead = this.countAnswer(attempt);
    if (isDead) {
      const last = error?.message ?? `the last one was ${status}`;
      const message = `${this.unanswered} attempts in a row got no answer from the service: ${last}`;
      const hint = 'see `petstore doctor` with the same flags';
      this.stop.trigger(new CliError('unavailable', message, { hint, status }));
    }
    if (this.stop.cause) this.abandonIfIdle();
  }

  /** Counts the answer to an attempt, or its absence. @returns true if the run gives up on the service. */
  private countAnswer(attempt: Attempt): boolean {
    const now = monotonicMs();
    const isWrite = !isSafeMethod(attempt.request.method);
    // The attempt may have begun before the last response.
    if (this.unanswered === 0) this.silentSince = Math.max(this.silentSince, now - attempt.elapsedMs);
    if (attempt.response) this.silentSince = now;
    if (isAnswered(attempt)) {
      // A service may answer readings although its writes get no answer: a reading between two writes is not a sign of life.
      if (isWrite) this.isWriteLost = false;
      if (!this.isWriteLost) this.unanswered = 0;
      return false;
    }
    if (this.unanswered === 0) this.unansweredSince = now;
    this.unanswered += 1;
    this.isWriteLost ||= isWrite;
    return (
      (this.isOutage() && now - this.unansweredSince >= this.patienceMs) ||
      (this.unanswered > 1 && now - Math.max(this.silentSince, this.pausedUntil) >= longestSilenceMs)
    );
  }

  private isOutage(): boolean {
    return this.unanswered >= maxUnanswered;
  }

  private pauseFor(pauseMs: number): void {
    if (pauseMs > 0) this.pausedUntil = Math.max(this.pausedUntil, monotonicMs() + pauseMs);
  }

  private async waitAndCount(firstWaitMs: number): Promise<void> {
    for (let waitMs = firstWaitMs; waitMs > 0; ) {
      await sleep(waitMs, this.stop.stopped);
      // Another attempt may have begun a pause meanwhile.
      waitMs = this.pausedUntil > monotonicMs() ? this.reserveTurn() : 0;
    }
    this.count();
  }

  /** Counts a request from its start, because its end may never be reported. */
  private count(): void {
    this.inFlight += 1;
    // In an outage one request at a time finds out whether the service answers again, so that few rows lose a retry.
    if (this.isOutage()) this.pauseFor(this.patienceMs / 10);
  }

  /** Takes the next turn by pause and rate, and returns the milliseconds until then. */
  private reserveTurn(): number {
    if (this.intervalMs === 0 && this.pausedUntil === 0) return 0;
    const now = monotonicMs();
    const turn = Math.max(now, this.pausedUntil, this.nextAt);
    if (this.intervalMs > 0) this.nextAt = turn + this.intervalMs;
    // Timers have a resolution of a millisecond, so a shorter wait would take as long as that.
    return turn - now >= 1 ? turn - now : 0;
  }

  /** Ends the delays before further attempts: a stopped run waits only for requests that are in flight. */
  private abandonIfIdle(): void {
    if (this.inFlight === 0) this.stop.abandon();
  }
}
