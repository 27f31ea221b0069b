import type { HttpRequest, HttpResponse } from '../api/http.ts';
import { CliError, messageOf } from '../process/errors.ts';
import { StoppedError } from '../process/signals.ts';

/**
 * One finished attempt of a call. A call returns the list of its attempts, or throws with it; whether the call may have
 * been applied, how often it was tried and what to say about it follow from that list.
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

/** The caller's signal ended the call. The last of its attempts may be unfinished. */
export class StoppedCallError extends StoppedError {
  readonly attempts: readonly Attempt[];

  constructor(attempts: readonly Attempt[], cause: unknown) {
    super(messageOf(cause), { cause });
    this.attempts = attempts;
  }
}

/** The attempts of the call that threw this error; empty if no call did. */
export function attemptsOf(error: unknown): readonly Attempt[] {
  if (error instanceof StoppedCallError) return error.attempts;
  // Errors know nothing of HTTP, so they keep the attempts without their type.
  return error instanceof CliError ? ((error.details.attempts ?? []) as readonly Attempt[]) : [];
}

/** Whether requests with this method only read. */
export function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/**
 * Whether a write may have been applied: at least one of its attempts was sent and not refused. The answer to a later
 * attempt does not change that.
 */
export function mayHaveBeenApplied(
  method: string,
  attempts: readonly Pick<Attempt, 'isSent' | 'response'>[],
): boolean {
  return !isReading(method) && attempts.some((attempt) => !isRefusal(attempt));
}

const refusals: ReadonlySet<number> = new Set([307, 308, 429, 501, 505]);

/**
 * Whether an attempt has certainly changed nothing: nothing was sent, or the answer is 307, 308, 4xx except 408, 501,
 * 505, or 503 with Retry-After. A 503 without Retry-After may come from a gateway after the service has applied the write,
 * and a 303 answers a write that was applied (RFC 9110, 15.4.4).
 */
function isRefusal({ isSent, response }: Pick<Attempt, 'isSent' | 'response'>): boolean {
  if (!response) return !isSent;
  const { status, fields } = response;
  if (status === 503) return fields['retry-after'] !== undefined;
  return refusals.has(status) || (status >= 400 && status < 500 && status !== 408);
}
