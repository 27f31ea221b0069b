import { isSafeMethod } from '../api/http.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import { type Stop, StoppedError } from '../process/signals.ts';
import { durationText } from '../process/text.ts';
import { type Attempt, statusRule } from './answer-table.ts';
import { retryDelay } from './retry.ts';

/** The longest Retry-After, in milliseconds. A longer one stops the run. */
const maxRetryWaitMs = 120_000;

/** How many probes go out within the patience of a run. */
const probeCount = 10;

/**
 * The pace of requests, shared by all workers: a rate, a pause when the service asks for one, and a stop if it no longer answers. In
 * a long outage one request is sent at a time, a probe, to find out whether the service answers again.
 */
export class Pace {
  /**
   * The stop of the run, and the error that ends it. The pace stops the run if the service asks to wait too long, or does not
   * answer any more.
   */
  readonly stop: Stop<CliError>;
  private readonly intervalMs: number;
  private inFlight = 0;
  private readonly outage: Outage;
  private nextProbeAt = 0;
  private pausedUntil = 0;
  private nextAt = 0;

  /**
   * @param rate the most requests a second, unlimited by default. Each attempt counts.
   * @param patienceMs how long a service may give no answer before the run stops, but at most `longestPatienceMs`.
   */
  constructor(rate: number | undefined, stop: Stop<CliError>, patienceMs: number) {
    this.outage = new Outage(patienceMs);
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
    const { response, retryAfterMs } = attempt;
    const now = monotonicMs();
    this.inFlight -= 1;
    const status = response?.status;
    if (retryAfterMs !== undefined && retryAfterMs > maxRetryWaitMs)
      this.stop.trigger(
        new CliError(
          'unavailable',
          `the service answered ${status} and asks to wait ${durationText(retryAfterMs)}, longer than ${durationText(maxRetryWaitMs)}`,
        ),
      );
    const pauseMs = retryAfterMs ?? (statusRule(status).pauses ? retryDelay(1) : 0);
    if (pauseMs > 0) this.pausedUntil = Math.max(this.pausedUntil, now + pauseMs);
    const whyGivenUp = this.outage.count(attempt, now);
    if (whyGivenUp !== undefined)
      this.stop.trigger(
        new CliError('unavailable', whyGivenUp, {
          hint: 'see `petstore doctor` with the same flags',
          status,
        }),
      );
    if (!this.outage.isLong()) this.nextProbeAt = 0;
    if (this.stop.cause) this.abandonIfIdle();
  }

  private async waitAndCount(firstWaitMs: number): Promise<void> {
    for (let waitMs = firstWaitMs; waitMs > 0; ) {
      await sleep(waitMs, this.stop.stopped);
      // The service may have asked for a pause meanwhile, or have given no answer.
      waitMs = this.outage.isLong() || this.pausedUntil > monotonicMs() ? this.reserveTurn() : 0;
    }
    this.count();
  }

  /** Counts a request from its start, because its end may never be reported. */
  private count(): void {
    this.inFlight += 1;
  }

  /** Takes the next turn by pause and rate, and returns the milliseconds until then. The first caller gets the next probe. */
  private reserveTurn(): number {
    if (this.intervalMs === 0 && this.pausedUntil === 0 && !this.outage.isLong()) return 0;
    const now = monotonicMs();
    if (this.outage.isLong()) {
      if (now < this.nextProbeAt) return this.nextProbeAt - now;
      this.nextProbeAt = now + this.outage.patienceMs / probeCount;
    }
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

/** An outage is long after this number of attempts in a row without an answer from the service. */
const maxUnanswered = 20;
/** A run whose service is dead stops within a minute, even if the user allows each call more time. */
const longestPatienceMs = 30_000;
/** How long nothing at all may answer, neither the service nor a gateway. */
const longestSilenceMs = 60_000;

/** Counts the attempts in a row without an answer from the service. */
class Outage {
  /** How long an outage may last in which a gateway answers. */
  readonly patienceMs: number;
  private unanswered = 0;
  private unansweredSince = 0;
  private isWriteLost = false;
  private respondedAt = 0;
  /** When the first attempt without a response after the last response began. */
  private silentSince: number | undefined;

  constructor(patienceMs: number) {
    this.patienceMs = Math.min(patienceMs, longestPatienceMs);
  }

  isLong(): boolean {
    return this.unanswered >= maxUnanswered;
  }

  /** Counts an attempt that has ended. @returns why the run gives up on the service, a clause, if it does. */
  count(attempt: Attempt, now: number): string | undefined {
    const { response, error, elapsedMs, request } = attempt;
    // The attempt may have begun before the last response.
    const silentMs =
      response || this.silentSince === undefined ? 0 : now - Math.max(this.silentSince, this.respondedAt);
    this.silentSince = response ? undefined : (this.silentSince ?? now - elapsedMs);
    if (response) this.respondedAt = now;
    // A service may answer readings although its writes get no answer: a reading between two writes is not a sign of life.
    const isSafe = isSafeMethod(request.method);
    // The service itself has answered, and not a gateway that has no way to it.
    if (response && !statusRule(response.status).isOutage && attempt.author !== 'gateway') {
      if (!isSafe || !this.isWriteLost) this.unanswered = 0;
      if (!isSafe) this.isWriteLost = false;
      return undefined;
    }
    if (this.unanswered === 0) this.unansweredSince = now;
    this.unanswered += 1;
    this.isWriteLost ||= !isSafe;
    const isTooLong = this.isLong() && now - this.unansweredSince >= this.patienceMs;
    if (!isTooLong && silentMs < longestSilenceMs) return undefined;
    const last = error?.message ?? `the last one was ${response?.status}`;
    return `${this.unanswered} attempts in a row got no answer from the service: ${last}`;
  }
}
