import { isSafeMethod } from '../api/http.ts';
import { type Attempt, statusRule } from './answer-table.ts';

/** An outage is long after this number of attempts in a row without an answer from the service. */
const maxUnanswered = 20;
/** A run whose service is dead stops within a minute, even if the user allows each call more time. */
const longestPatienceMs = 30_000;
/** How long nothing at all may answer, neither the service nor a gateway. */
const longestSilenceMs = 60_000;

/** Counts the attempts in a row without an answer from the service. */
export class Outage {
  /** How long an outage may last in which a gateway answers. */
  readonly patienceMs: number;
  private unanswered = 0;
  private unansweredSince = 0;
  private isWriteLost = false;
  private respondedAt = 0;
  /** When the first attempt without a response after the last response began. */
  private silentSince: number | undefined;

  /** @param patienceMs at most 30 s count. */
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
