import { isSafeMethod } from '../api/http.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import type { Stop } from '../process/signals.ts';
import { durationText } from '../process/text.ts';
import { type Attempt, isAnswered, statusRule } from './answer-table.ts';
import { retryDelayMs } from './retry.ts';

/** The longest Retry-After, in milliseconds. A longer one stops the run. */
const maxRetryWaitMs = 120_000;

/** An outage is this number of attempts in a row without an answer of the service. Then one request at a time tries again. */
const maxUnanswered = 20;
/** The number of these requests. Without an answer to the last one the run stops. */
const maxProbes = 10;
/** The longest time between two of them, in milliseconds. A dead service is reported within a minute. */
const longestProbeMs = 3000;
/** The time between requests after the first refusal of a service that limits them, and the longest, in milliseconds. */
const [minSpacingMs, maxSpacingMs] = [10, 1000];
/** The longest time in which neither the service nor a gateway answers. A pause does not count. */
const longestSilenceMs = 60_000;

/**
 * The pace of requests, shared by all workers: a rate, a pause and then a slower rate if the service refuses requests because they are
 * too many, and a stop if it no longer answers.
 */
export class Pace {
  /** The pace stops the run if the service asks to wait too long, or does not answer any more. */
  readonly stop: Stop;
  private readonly intervalMs: number;
  private readonly probeMs: number;
  private pausedUntilMs = 0;
  private nextTurnMs = 0;
  /** The time between requests that follows from refusals such as 429. It grows with each, and shrinks with each other answer. */
  private spacingMs = 0;
  /** The number of attempts in a row without an answer of the service. */
  private unanswered = 0;
  /** True if one of them is a write. */
  private isWriteLost = false;
  /** The time of the last response, or of the start of the first unanswered attempt after it. */
  private silentSinceMs = 0;

  /**
   * @param rate the most requests a second, unlimited by default. Each attempt counts.
   * @param timeoutMs the time that a call may take. In an outage, requests follow each other after a tenth of it.
   */
  constructor(rate: number | undefined, stop: Stop, timeoutMs: number) {
    this.intervalMs = rate === undefined ? 0 : 1000 / rate;
    this.probeMs = Math.min(timeoutMs / maxProbes, longestProbeMs);
    this.stop = stop;
  }

  /** Says what a run waits for in an outage, while one request at a time tries again. Empty at any other time. */
  get waitText(): string {
    return this.isOutage ? 'no answer from the service, trying again' : '';
  }

  private get isOutage(): boolean {
    return this.unanswered >= maxUnanswered;
  }

  /**
   * Waits for the turn of an attempt. Returns undefined if the attempt can start at once, which saves a turn of the event loop.
   *
   * @throws an interruption if the run has stopped.
   */
  waitForTurn(): Promise<void> | undefined {
    this.stop.stopped.throwIfAborted();
    const waitMs = this.reserveTurn();
    if (waitMs > 0) return this.wait(waitMs);
    this.begin();
    return undefined;
  }

  /** Counts an attempt that has ended. Call it after each attempt. */
  attemptEnded(attempt: Attempt): void {
    const { response, error, retryAfterMs } = attempt;
    const status = response?.status;
    if (retryAfterMs !== undefined && retryAfterMs > maxRetryWaitMs)
      this.stop.trigger(
        new CliError(
          'unavailable',
          `the service answered ${status} and asks to wait ${durationText(retryAfterMs)}, longer than ${durationText(maxRetryWaitMs)}`,
        ),
      );
    const { pauses = false, mayBeOutage = false } = statusRule(status);
    // After an outage the service need not be spared.
    if (response && !mayBeOutage) this.setSpacing(pauses);
    this.pauseFor(retryAfterMs ?? (pauses ? retryDelayMs(1) : 0));
    this.countAnswer(attempt);
    if (isAnswered(attempt) || !this.isServiceGone()) return;
    const last = error?.message ?? `the last one was ${status}`;
    const message = `${this.unanswered} attempts in a row got no answer from the service: ${last}`;
    const hint = 'see `petstore doctor` with the same flags';
    this.stop.trigger(new CliError('unavailable', message, { hint, status }));
  }

  /** Spaces the next requests out after a refusal, and moves them closer together again after any other answer. */
  private setSpacing(isRefusal: boolean): void {
    if (!isRefusal) this.spacingMs = this.spacingMs < minSpacingMs / 4 ? 0 : this.spacingMs * 0.9;
    // Further refusals in a pause are of requests that were sent before it.
    else if (monotonicMs() >= this.pausedUntilMs)
      this.spacingMs = Math.min(Math.max(1.5 * this.spacingMs, minSpacingMs), maxSpacingMs);
  }

  /** Counts the answer to an attempt, or its absence. */
  private countAnswer(attempt: Attempt): void {
    const now = monotonicMs();
    const isWrite = !isSafeMethod(attempt.request.method);
    // The attempt may have begun before the last response.
    if (this.unanswered === 0) this.silentSinceMs = Math.max(this.silentSinceMs, now - attempt.elapsedMs);
    if (attempt.response) this.silentSinceMs = now;
    if (isAnswered(attempt)) {
      // A service may answer readings although its writes get no answer: a reading between two writes is not a sign of life.
      if (isWrite) this.isWriteLost = false;
      if (!this.isWriteLost) this.unanswered = 0;
      return;
    }
    this.isWriteLost ||= isWrite;
    // During an outage `begin` has counted the request already.
    if (!this.isOutage) this.unanswered += 1;
  }

  private isServiceGone(): boolean {
    const silentMs = monotonicMs() - Math.max(this.silentSinceMs, this.pausedUntilMs);
    const isSilent = this.unanswered > 1 && silentMs >= longestSilenceMs;
    return isSilent || this.unanswered >= maxUnanswered + maxProbes;
  }

  private begin(): void {
    if (!this.isOutage) return;
    this.unanswered += 1;
    this.pauseFor(this.probeMs);
  }

  private pauseFor(pauseMs: number): void {
    if (pauseMs > 0) this.pausedUntilMs = Math.max(this.pausedUntilMs, monotonicMs() + pauseMs);
  }

  private async wait(firstWaitMs: number): Promise<void> {
    for (let waitMs = firstWaitMs; waitMs > 0; ) {
      await sleep(waitMs, this.stop.stopped);
      // Another attempt may have begun a pause meanwhile.
      waitMs = this.pausedUntilMs > monotonicMs() ? this.reserveTurn() : 0;
    }
    this.begin();
  }

  /** Takes the next turn by pause and rate, and returns the milliseconds until then. */
  private reserveTurn(): number {
    const intervalMs = Math.max(this.intervalMs, this.spacingMs);
    if (intervalMs === 0 && this.pausedUntilMs === 0) return 0;
    const now = monotonicMs();
    const turn = Math.max(now, this.pausedUntilMs, this.nextTurnMs);
    if (intervalMs > 0) this.nextTurnMs = turn + intervalMs;
    // Timers have a resolution of a millisecond, so a shorter wait would take as long as that.
    return turn - now >= 1 ? turn - now : 0;
  }
}
