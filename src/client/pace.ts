import { type HttpHeaders, headerDate, headerValue, isSafeMethod } from '../api/http.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import { type Stop, StoppedError } from '../process/signals.ts';
import { durationText } from '../process/text.ts';
import { type Attempt, isOutageStatus } from './answer-table.ts';

// Decides when a request is sent: the retries of a call, the retries of a row, which reads its record in between, and the pace of a run.

export interface RetryLimits {
  /** The most retries. */
  readonly retries: number;
  /** True if a refused connection and an unknown host are tried again too. */
  readonly retriesUnreachable: boolean;
}

/**
 * Returns the delay before a retry after a failure that permits one, in milliseconds. Returns undefined if all retries are used
 * up, or if nobody listens at the address.
 *
 * @param number 1 for the first retry.
 * @param random from 0 to 1.
 */
export function delayOfRetry(
  number: number,
  { error, retryAfterMs }: Pick<Attempt, 'error' | 'retryAfterMs'>,
  { retries, retriesUnreachable }: RetryLimits,
  random = Math.random(),
): number | undefined {
  if (number > retries || (isUnreachable(error) && !retriesUnreachable)) return undefined;
  return retryDelay(number, retryAfterMs, random);
}

/** Returns true if nobody listens at the address. */
function isUnreachable(error: Error | undefined): boolean {
  const noAnswer = error instanceof CliError ? error.details.noAnswer : undefined;
  return noAnswer === 'connection-refused' || noAnswer === 'dns';
}

const firstDelayMs = 500;
const longestDelayMs = 30_000;

/**
 * Returns the delay before the next attempt, in milliseconds: a random part of 500 ms, of 1 s before the second retry, of
 * 2 s before the third, and so on up to 30 s. The delay is never shorter than Retry-After.
 *
 * @param number 1 for the first retry.
 * @param random from 0 to 1.
 */
function retryDelay(number: number, retryAfterMs = 0, random = Math.random()): number {
  const ceiling = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(number - 1, 16));
  return Math.max(retryAfterMs, Math.ceil(random * ceiling));
}

/**
 * Returns the Retry-After of a response in milliseconds from its arrival. A malformed header is ignored. A
 * date is compared with the Date of the same response, because the clocks may differ.
 *
 * @param nowMs the local time, for a response without a Date.
 * @see RFC 9110, 10.2.3
 */
export function retryAfter(headers: HttpHeaders, nowMs: number): number | undefined {
  const text = headerValue(headers, 'retry-after')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  const untilMs = headerDate(headers, 'retry-after');
  return untilMs && Math.max(0, untilMs - (headerDate(headers, 'date') ?? nowMs));
}

/** The longest Retry-After, in milliseconds. A longer one stops the run. */
const maxRetryWaitMs = 120_000;

/**
 * After this number of attempts in a row without an answer from the service, the pace sends one request at a time, a probe, to find
 * out whether the service answers again.
 */
const maxUnanswered = 20;
/** How many probes go out within the patience of a run. */
const probeCount = 10;
/** A run whose service is dead stops within a minute, even if the user allows each call more time. */
const longestPatienceMs = 30_000;
/** How long nothing at all may answer, neither the service nor a gateway. */
const longestSilenceMs = 60_000;

/** The pace of requests, shared by all workers: a rate, a pause when the service asks for one, and a stop if it no longer answers. */
export class Pace {
  /**
   * The stop of the run, and the error that ends it. The pace stops the run if the service asks to wait too long, or does not
   * answer any more.
   */
  readonly stop: Stop<CliError>;
  private readonly intervalMs: number;
  private inFlight = 0;
  private unanswered = 0;
  private unansweredSince = 0;
  private respondedAt = 0;
  /** When the first attempt without a response after the last response began. */
  private silentSince: number | undefined;
  private isWriteLost = false;
  private readonly patienceMs: number;
  private nextProbeAt = 0;
  private pausedUntil = 0;
  private nextAt = 0;

  /**
   * @param rate the most requests a second, unlimited by default. Each attempt counts.
   * @param patienceMs how long a service may give no answer before the run stops, at most 30 s: a gateway may be away for a moment.
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
    const { response, error, retryAfterMs, elapsedMs } = attempt;
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
    const pauseMs = retryAfterMs ?? (status === 429 || status === 503 ? retryDelay(1) : 0);
    if (pauseMs > 0) this.pausedUntil = Math.max(this.pausedUntil, now + pauseMs);
    // A service may answer readings although its writes get no answer: a reading between two writes is not a sign of life.
    const isSafe = isSafeMethod(attempt.request.method);
    // The attempt may have begun before the last response.
    const silentMs =
      response || this.silentSince === undefined ? 0 : now - Math.max(this.silentSince, this.respondedAt);
    this.silentSince = response ? undefined : (this.silentSince ?? now - elapsedMs);
    if (response) this.respondedAt = now;
    if (isOfService(attempt)) {
      this.nextProbeAt = 0;
      if (!isSafe || !this.isWriteLost) this.unanswered = 0;
      if (!isSafe) this.isWriteLost = false;
    } else {
      if (this.unanswered === 0) this.unansweredSince = now;
      this.unanswered += 1;
      this.isWriteLost ||= !isSafe;
      const isGone = this.isProbing() && now - this.unansweredSince >= this.patienceMs;
      if (isGone || silentMs >= longestSilenceMs)
        this.stop.trigger(
          new CliError(
            'unavailable',
            `${this.unanswered} attempts in a row got no answer from the service: ${error?.message ?? `the last one was ${status}`}`,
          ),
        );
    }
    if (this.stop.cause) this.abandonIfIdle();
  }

  private async waitAndCount(firstWaitMs: number): Promise<void> {
    for (let waitMs = firstWaitMs; waitMs > 0; ) {
      await sleep(waitMs, this.stop.stopped);
      // The service may have asked for a pause meanwhile, or have given no answer.
      waitMs = this.isProbing() || this.pausedUntil > monotonicMs() ? this.reserveTurn() : 0;
    }
    this.count();
  }

  /** Counts a request from its start, because its end may never be reported. */
  private count(): void {
    this.inFlight += 1;
  }

  private isProbing(): boolean {
    return this.unanswered >= maxUnanswered;
  }

  /** Takes the next turn by pause and rate, and returns the milliseconds until then. The first caller gets the next probe. */
  private reserveTurn(): number {
    if (this.intervalMs === 0 && this.pausedUntil === 0 && !this.isProbing()) return 0;
    const now = monotonicMs();
    if (this.isProbing()) {
      if (now < this.nextProbeAt) return this.nextProbeAt - now;
      this.nextProbeAt = now + this.patienceMs / probeCount;
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

/** Returns true if the service itself has answered, and not a gateway that has no way to it. */
function isOfService({ response, author }: Attempt): boolean {
  return response !== undefined && !isOutageStatus(response.status) && author !== 'gateway';
}
