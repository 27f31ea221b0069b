import { fieldValue, type HttpFields, type HttpResponse } from '../api/http.ts';
import { UnavailableError, type UnavailableReason } from '../process/errors.ts';

const firstDelayMs = 500;
const longestDelayMs = 30_000;
/** Statuses and failures that may pass: the same request may succeed later. */
export const retriedStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
export const retriedReasons: ReadonlySet<UnavailableReason> = new Set<UnavailableReason>([
  'refused',
  'reset',
  'timeout',
  'proxy',
  'dns',
]);
/** RFC 9110, 9.2.2: sending them twice has the same effect as once. PATCH and POST are not among them. */
export const idempotentMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

/**
 * Delay before the next attempt, in milliseconds: full jitter over 500 ms doubled per attempt, at most 30 s, and never
 * less than Retry-After.
 *
 * @param attempt 1 for the first retry.
 * @param random from 0 to 1.
 */
export function retryDelay(attempt: number, retryAfterMs = 0, random = Math.random()): number {
  const ceiling = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(attempt - 1, 16));
  return Math.max(retryAfterMs, Math.ceil(random * ceiling));
}

/**
 * The answer's Retry-After in milliseconds from now; undefined if it is missing or malformed.
 *
 * @see RFC 9110, 10.2.3
 */
export function retryAfter(fields: HttpFields, nowMs: number): number | undefined {
  const text = fieldValue(fields, 'retry-after')?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = /[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

interface RetryPolicy {
  /** The statuses after which the same request may succeed. */
  readonly statuses?: ReadonlySet<number> | undefined;
  /** Whether a service that refuses the connection, or whose name is unknown, may come back. */
  readonly retriesUnreachable?: boolean | undefined;
}

/**
 * Whether a retry may help and cannot apply a write twice.
 *
 * @param outcome the answer, or the error if none came.
 */
export function shouldRetry(
  method: string,
  outcome: HttpResponse | Error | undefined,
  { statuses = retriedStatuses, retriesUnreachable = false }: RetryPolicy = {},
): boolean {
  const isIdempotent = idempotentMethods.has(method);
  if (outcome instanceof UnavailableError) {
    if (outcome.details.retryable === false || !retriedReasons.has(outcome.reason)) return false;
    if (!retriesUnreachable && (outcome.reason === 'refused' || outcome.reason === 'dns')) return false;
    return isIdempotent || !outcome.sent;
  }
  if (!outcome || outcome instanceof Error || !statuses.has(outcome.status)) return false;
  if (isIdempotent) return true;
  return (outcome.status === 429 || outcome.status === 503) && outcome.fields['retry-after'] !== undefined;
}

/** A redirect to another place; a 304 is an answer. */
export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}
