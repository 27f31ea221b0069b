import type { HttpRequest, HttpResponse } from '../api/http.ts';
import { type Author, CliError } from '../process/errors.ts';
import { StoppedError } from '../process/signals.ts';

/**
 * One attempt of a call, after its end. A call returns the list of its attempts, or throws an error that has the list. The
 * list tells whether the call may have been applied, how many attempts there were, and what the error says of them.
 */
export interface Attempt {
  /** The request that was sent, or after redirects the last one. A credential in its query is masked. */
  readonly request: HttpRequest;
  /** True if the service may have received a byte of the request. */
  readonly isSent: boolean;
  /** Undefined if there is none. */
  readonly response?: HttpResponse | undefined;
  /** Why there is no response, or why its redirect is not followed. */
  readonly error?: Error | undefined;
  /** Whose answer an error status is. Undefined without one. */
  readonly author?: Author | undefined;
  /** 1 for the first. */
  readonly number: number;
  readonly elapsedMs: number;
  /** The service's id of the request, with secrets masked. Undefined if the service sent none. */
  readonly requestId?: string | undefined;
  /** The Retry-After of an error status, in milliseconds from its arrival. */
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

/** Says how many attempts there were, a clause after a message. Empty for one. */
export function attemptsClause(attempts: readonly Attempt[]): string {
  return attempts.length > 1 ? `; after ${attempts.length} attempts` : '';
}
