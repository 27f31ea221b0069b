import {
  type HttpHeaders,
  type HttpRequest,
  type HttpResponse,
  headerValue,
  isSafeMethod,
} from '../api/http.ts';
import { CliError, type UnavailableReason } from '../process/errors.ts';
import { StoppedError } from '../process/signals.ts';
import { authorOf } from './error-body.ts';

/**
 * One attempt of a call, after its end. A call returns the list of its attempts, or throws an error that has the list. The
 * list tells whether the call may have been applied, how many attempts there were, and what the error says of them.
 */
export interface Attempt {
  /** The request that was sent, or after redirects the last one. A credential in its query is masked. */
  readonly request: HttpRequest;
  readonly isRedirected: boolean;
  /** 1 for the first. */
  readonly number: number;
  readonly elapsedMs: number;
  /** The time from the first byte that was sent to the last byte that was read, without the time to connect. */
  readonly latencyMs: number;
  /** Whether the service may have received a byte of the request. */
  readonly isSent: boolean;
  /** Undefined if there is none. */
  readonly response?: HttpResponse | undefined;
  /** The reason why there is no response, or why its redirect is not followed. */
  readonly error?: Error | undefined;
  /** The service's id of the request, with secrets masked. Undefined if the service sent none. */
  readonly requestId?: string | undefined;
  /** The Retry-After of the response, in milliseconds from its arrival. */
  readonly retryAfterMs?: number | undefined;
  /** The delay before the next attempt, in milliseconds. Undefined if there is no next attempt. */
  readonly nextDelayMs?: number | undefined;
  /** The reason why there is no further attempt although the status allows one, a clause. */
  readonly whyNoRetry?: string | undefined;
}

/** The result of an attempt. */
type AttemptResult = Pick<Attempt, 'isSent' | 'response' | 'error'>;

/** Returns the attempts of the call that threw this error. The list is empty if the error is not of a call. */
export function attemptsOf(error: unknown): readonly Attempt[] {
  // The layer of the errors is below that of the client and does not know the type Attempt.
  if (error instanceof StoppedError) return error.attempts as readonly Attempt[];
  return error instanceof CliError ? ((error.details.attempts ?? []) as readonly Attempt[]) : [];
}

/**
 * Whether a write may have been applied: at least one of its attempts was sent and not refused by the service itself. The
 * answer to a later attempt does not change that.
 */
export function mayHaveBeenApplied(method: string, attempts: readonly AttemptResult[]): boolean {
  return !isSafeMethod(method) && attempts.some((attempt) => !isRefusal(attempt));
}

/** The statuses besides 4xx that say that nothing was changed. */
const refusals: ReadonlySet<number> = new Set([307, 308, 501, 505]);
/** A gateway without a way to the service has these statuses too, for example after the service has answered late. */
const gatewayStatuses: ReadonlySet<number> = new Set([403, 404, 410]);

/**
 * Whether an attempt has certainly changed nothing: nothing was sent, or the status is 307, 308, 501, 505, or 4xx except
 * 408; 403, 404 and 410 only if the service itself has answered.
 *
 * A 303 says that the write was applied (RFC 9110, 15.4.4). Any other 5xx may come from a gateway after the service has
 * applied the write: Varnish puts Retry-After on each answer that it could not fetch.
 */
function isRefusal({ isSent, response }: AttemptResult): boolean {
  if (!response) return !isSent;
  const { status } = response;
  if (gatewayStatuses.has(status)) return authorOf(response) === 'service';
  return refusals.has(status) || (status >= 400 && status < 500 && status !== 408);
}

const firstDelayMs = 500;
const longestDelayMs = 30_000;
/** The statuses and reasons that may pass: the same request may succeed later. */
export const retriedStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
export const retriedReasons: ReadonlySet<UnavailableReason> = new Set<UnavailableReason>([
  'refused',
  'reset',
  'timeout',
  'proxy',
  'dns',
]);

/**
 * Whether a request that is sent twice has the effect of one: all methods except POST and PATCH.
 *
 * @see RFC 9110, 9.2.2
 */
export function isIdempotent(method: string): boolean {
  return isSafeMethod(method) || method === 'PUT' || method === 'DELETE';
}

interface RetryPolicy {
  /** The statuses after which the same request may succeed. */
  readonly statuses?: ReadonlySet<number> | undefined;
  /** Whether a refused connection and an unknown host name are retried. */
  readonly retriesUnreachable?: boolean | undefined;
}

/** Whether a further attempt may succeed and cannot apply a write twice. */
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
  return isIdempotent(method) || response.status === 429;
}

/**
 * Returns the delay before the next attempt, in milliseconds: a random part of 500 ms, of 1 s before the second retry, of
 * 2 s before the third, and so on up to 30 s. The delay is never shorter than Retry-After.
 *
 * @param attempt 1 for the first retry.
 * @param random from 0 to 1.
 */
export function retryDelay(attempt: number, retryAfterMs = 0, random = Math.random()): number {
  const ceiling = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(attempt - 1, 16));
  return Math.max(retryAfterMs, Math.ceil(random * ceiling));
}

/**
 * Returns the Retry-After of a response in milliseconds from its arrival. Undefined if the header is missing or malformed. A
 * date is compared with the Date of the same response, because the clocks may differ, and Age says how long a cache has
 * kept it.
 *
 * @param nowMs the local time, for a response without a Date.
 * @see RFC 9110, 10.2.3
 */
export function retryAfter(headers: HttpHeaders, nowMs: number): number | undefined {
  const text = headerValue(headers, 'retry-after')?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const untilMs = parseDate(text);
  if (untilMs === undefined) return undefined;
  const sentMs = parseDate(headerValue(headers, 'date') ?? '');
  const ageMs = Number(/^\d+$/.exec(headerValue(headers, 'age') ?? '')?.[0] ?? 0) * 1000;
  return Math.max(0, untilMs - (sentMs === undefined ? nowMs : sentMs + ageMs));
}

function parseDate(text: string): number | undefined {
  const ms = /[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
