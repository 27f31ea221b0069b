import { type HttpHeaders, headerDate, headerValue } from '../api/http.ts';
import { CliError } from '../process/errors.ts';
import type { Attempt } from './answer-table.ts';

// When a request is sent again: the retries of a call, and those of a row, whose record is read between two attempts.

export interface RetryLimits {
  /** The most retries. */
  readonly retries: number;
  /** True if a refused connection and an unknown host are tried again too. */
  readonly retriesUnreachable: boolean;
}

export type Retry =
  | { readonly kind: 'after'; readonly delayMs: number }
  | { readonly kind: 'none' }
  /** The deadline passes before it. */
  | { readonly kind: 'too-late' };

/**
 * Plans the retry after a failure that permits one.
 *
 * @param number 1 for the first retry.
 * @param leftMs what is left of the deadline.
 * @param random from 0 to 1.
 */
export function planRetry(
  number: number,
  { error, retryAfterMs }: Pick<Attempt, 'error' | 'retryAfterMs'>,
  { retries, retriesUnreachable }: RetryLimits,
  leftMs: number,
  random = Math.random(),
): Retry {
  if (isUnreachable(error) && !retriesUnreachable) return { kind: 'none' };
  // A Retry-After beyond the deadline is reported, even after the last retry.
  if (number > retries && (retryAfterMs === undefined || retryAfterMs < leftMs)) return { kind: 'none' };
  const delayMs = retryDelay(number, retryAfterMs, random);
  return delayMs < leftMs ? { kind: 'after', delayMs } : { kind: 'too-late' };
}

/** Returns true if nobody listens at the address. */
function isUnreachable(error: Error | undefined): boolean {
  const reason = error instanceof CliError ? error.details.reason : undefined;
  return reason === 'refused' || reason === 'dns';
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
export function retryDelay(number: number, retryAfterMs = 0, random = Math.random()): number {
  const ceiling = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(number - 1, 16));
  return Math.max(retryAfterMs, Math.ceil(random * ceiling));
}

/**
 * Returns the Retry-After of a response in milliseconds from its arrival. Undefined if the header is missing or malformed. A
 * date is compared with the Date of the same response, because the clocks may differ.
 *
 * @param nowMs the local time, for a response without a Date.
 * @see RFC 9110, 10.2.3
 */
export function retryAfter(headers: HttpHeaders, nowMs: number): number | undefined {
  const text = headerValue(headers, 'retry-after')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const untilMs = headerDate(headers, 'retry-after');
  return untilMs && Math.max(0, untilMs - (headerDate(headers, 'date') ?? nowMs));
}
