import { type HttpHeaders, type HttpRequest, headerValue } from '../api/http.ts';
import { CliError } from '../process/errors.ts';
import { StoppedError } from '../process/signals.ts';
import type { AttemptResult } from './answers.ts';

/**
 * One attempt of a call, after its end. A call returns the list of its attempts, or throws an error that has the list. The
 * list tells whether the call may have been applied, how many attempts there were, and what the error says of them.
 */
export interface Attempt extends AttemptResult {
  /** The request that was sent, or after redirects the last one. A credential in its query is masked. */
  readonly request: HttpRequest;
  readonly isRedirected: boolean;
  /** 1 for the first. */
  readonly number: number;
  readonly elapsedMs: number;
  /** The service's id of the request, with secrets masked. Undefined if the service sent none. */
  readonly requestId?: string | undefined;
  /** The Retry-After of the response, in milliseconds from its arrival. */
  readonly retryAfterMs?: number | undefined;
  /** The delay before the next attempt, in milliseconds. Undefined if there is no next attempt. */
  readonly nextDelayMs?: number | undefined;
  /** The reason why there is no further attempt although the status allows one, a clause. */
  readonly whyNoRetry?: string | undefined;
}

/** Returns the attempts of the call that threw this error. The list is empty if the error is not of a call. */
export function attemptsOf(error: unknown): readonly Attempt[] {
  // The layer of the errors is below that of the client and does not know the type Attempt.
  if (error instanceof StoppedError) return error.attempts as readonly Attempt[];
  return error instanceof CliError ? ((error.details.attempts ?? []) as readonly Attempt[]) : [];
}

const firstDelayMs = 500;
const longestDelayMs = 30_000;

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
 * date is compared with the Date of the same response, because the clocks may differ.
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
  return Math.max(0, untilMs - (sentMs ?? nowMs));
}

function parseDate(text: string): number | undefined {
  const ms = /[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
