import { type HttpHeaders, headerDate } from '../api/http.ts';
import type { ErrorDetails } from '../process/errors.ts';
import { type Attempt, noAnswerRule } from './answer-table.ts';

// The delays before retries: of a call, and of a row, which reads its record in between.

export interface CallLimits {
  /** The deadline of the whole call, retries included, in milliseconds. */
  readonly timeoutMs: number;
  readonly retries: number;
  /** The most retries after a 429, `retries` by default: a service that limits requests works. */
  readonly retriesOf429?: number | undefined;
  /** True if a refused connection and an unknown host are tried again too. */
  readonly retriesUnreachable: boolean;
  /** The most requests at a time. */
  readonly concurrency: number;
}

/**
 * Returns the delay before a retry after a failure that permits one, in milliseconds. Returns undefined if all retries are used
 * up, or if nobody can be reached and that is not tried again.
 *
 * @param retry 1 for the first retry.
 * @param random from 0 to 1.
 */
export function permittedDelayMs(
  retry: number,
  { error, retryAfterMs, status }: Pick<Attempt, 'error' | 'retryAfterMs'> & Pick<ErrorDetails, 'status'>,
  {
    retries,
    retriesOf429 = retries,
    retriesUnreachable,
  }: Pick<CallLimits, 'retries' | 'retriesOf429' | 'retriesUnreachable'>,
  random = Math.random(),
): number | undefined {
  const most = status === 429 ? retriesOf429 : retries;
  if (retry > most || (noAnswerRule(error) === 'unreachable' && !retriesUnreachable)) return undefined;
  return retryDelayMs(retry, retryAfterMs, random);
}

const firstDelayMs = 500;
const longestDelayMs = 30_000;

/**
 * Returns the delay before a retry, in milliseconds: a random time of at most 500 ms before the first retry, 1 s before the second,
 * 2 s before the third, and so on up to 30 s. The delay is never shorter than Retry-After.
 *
 * @param retry 1 for the first retry.
 * @param random from 0 to 1.
 */
export function retryDelayMs(retry: number, retryAfterMs = 0, random = Math.random()): number {
  const ceiling = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(retry - 1, 16));
  return Math.max(retryAfterMs, Math.ceil(random * ceiling));
}

/**
 * Returns the Retry-After of a response in milliseconds from its arrival. A malformed header is ignored. A
 * date is compared with the Date of the same response, because the clocks may differ.
 *
 * @param nowMs the local time, for a response without a Date.
 * @see RFC 9110, 10.2.3
 */
export function retryAfterMsOf(headers: HttpHeaders, nowMs: number): number | undefined {
  const text = headers['retry-after']?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  const untilMs = headerDate(headers, 'retry-after');
  return untilMs && Math.max(0, untilMs - (headerDate(headers, 'date') ?? nowMs));
}
