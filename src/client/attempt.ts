import { type HttpHeaders, type HttpRequest, type HttpResponse, headerValue } from '../api/http.ts';
import { CliError, type UnavailableReason } from '../process/errors.ts';
import { StoppedError } from '../process/signals.ts';

/**
 * One finished attempt of a call. A call returns the list of its attempts, or throws with it. Whether the call may have
 * been applied, how often it was tried and what an error says about it follow from that list.
 */
export interface Attempt {
  /** The request that was sent last, redirects followed. A credential in the query is masked. */
  readonly request: HttpRequest;
  readonly isRedirected: boolean;
  /** 1 for the first. */
  readonly number: number;
  readonly elapsedMs: number;
  /** True if the service may have received a byte of the request. */
  readonly isSent: boolean;
  /** The answer, if one came. */
  readonly response?: HttpResponse | undefined;
  /** Why there is no answer, or why its redirect is not followed. */
  readonly error?: Error | undefined;
  /** The service's id of the request, secrets masked; undefined if it sent none. */
  readonly requestId?: string | undefined;
  /** The answer's Retry-After, in milliseconds from now. */
  readonly retryAfterMs?: number | undefined;
  /** Milliseconds until the next attempt; undefined if there is none. */
  readonly nextDelayMs?: number | undefined;
  /** Why there is no further attempt although the status allows one, a clause. */
  readonly note?: string | undefined;
}

/** The result of an attempt. */
type AttemptResult = Pick<Attempt, 'isSent' | 'response' | 'error'>;

/** The attempts of the call that threw this error; empty if no call did. */
export function attemptsOf(error: unknown): readonly Attempt[] {
  // Errors know nothing of HTTP, so they keep the attempts without their type.
  if (error instanceof StoppedError) return error.attempts as readonly Attempt[];
  return error instanceof CliError ? ((error.details.attempts ?? []) as readonly Attempt[]) : [];
}

/** Whether requests with this method change nothing. @see RFC 9110, 9.2.1 */
export function isSafeMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/**
 * Whether a write may have been applied: one of its attempts was sent and not refused. The answer to a later attempt does
 * not change that.
 */
export function mayHaveBeenApplied(method: string, attempts: readonly AttemptResult[]): boolean {
  return !isSafeMethod(method) && attempts.some((attempt) => !isRefusal(attempt));
}

const refusals: ReadonlySet<number> = new Set([307, 308, 429, 501, 505]);

/**
 * Whether an attempt has certainly changed nothing: nothing was sent, or the answer is 307, 308, 4xx except 408, 501,
 * 505, or 503 with Retry-After. A 503 without Retry-After may come from a gateway after the service has applied the write,
 * and a 303 answers a write that was applied (RFC 9110, 15.4.4).
 */
function isRefusal({ isSent, response }: AttemptResult): boolean {
  if (!response) return !isSent;
  const { status, headers } = response;
  if (status === 503) return headers['retry-after'] !== undefined;
  return refusals.has(status) || (status >= 400 && status < 500 && status !== 408);
}

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

/** Whether sending a request twice has the same effect as once. PATCH and POST do not. @see RFC 9110, 9.2.2 */
export function isIdempotent(method: string): boolean {
  return isSafeMethod(method) || method === 'PUT' || method === 'DELETE';
}

interface RetryPolicy {
  /** The statuses after which the same request may succeed. */
  readonly statuses?: ReadonlySet<number> | undefined;
  /** Whether a service that refuses the connection, or whose name is unknown, may come back. */
  readonly retriesUnreachable?: boolean | undefined;
}

/** Whether a further attempt may help and cannot apply a write twice. */
export function shouldRetry(
  method: string,
  { isSent, response, error }: AttemptResult,
  { statuses = retriedStatuses, retriesUnreachable = false }: RetryPolicy = {},
): boolean {
  if (error) {
    const { reason, retryable } = error instanceof CliError ? error.details : {};
    if (retryable === false || reason === undefined || !retriedReasons.has(reason)) return false;
    if (!retriesUnreachable && (reason === 'refused' || reason === 'dns')) return false;
    return isIdempotent(method) || !isSent;
  }
  if (!response || !statuses.has(response.status)) return false;
  const { status, headers } = response;
  return isIdempotent(method) || ((status === 429 || status === 503) && headers['retry-after'] !== undefined);
}

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
export function retryAfter(headers: HttpHeaders, nowMs: number): number | undefined {
  const text = headerValue(headers, 'retry-after')?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = /[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
