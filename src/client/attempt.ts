import { type HttpRequest, type HttpResponse, isSafeMethod } from '../api/http.ts';
import { CliError, type ErrorKind, type UnavailableReason } from '../process/errors.ts';
import { StoppedError } from '../process/signals.ts';
import type { Author } from './error-body.ts';

// What an answer means for a write, a retry and an error. Calls, rows, smoke and errors read this table.

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

/** What decides whether a request was applied, and is sent again. */
type AttemptEnd = Pick<Attempt, 'isSent' | 'response' | 'error' | 'author'>;

export interface AnswerRule {
  /** True if a write with this answer may have been applied. */
  readonly mayBeApplied: boolean;
  /** Which requests are sent again by themselves: none, those that are once if sent twice, or all. */
  readonly again: 'never' | 'idempotent' | 'always';
  /** True if the same request may succeed later without a change to it. */
  readonly passes: boolean;
  /** The kind of the error. */
  readonly kind: ErrorKind;
}

const refused: AnswerRule = { mayBeApplied: false, again: 'never', passes: false, kind: 'failed' };
const denied: AnswerRule = { ...refused, passes: true, kind: 'auth' };
const missing: AnswerRule = { ...refused, kind: 'not-found' };
const unsupported: AnswerRule = { ...refused, kind: 'unavailable' };
const busy: AnswerRule = { mayBeApplied: false, again: 'always', passes: true, kind: 'unavailable' };
const lost: AnswerRule = { mayBeApplied: true, again: 'idempotent', passes: true, kind: 'unavailable' };
/** A gateway's page, a 202, and a success that is none. */
const unclear: AnswerRule = { ...lost, again: 'never' };
const unsent: AnswerRule = { ...busy, again: 'never' };

/** A 5xx that is not here may come from a gateway after the service has applied the write, with Retry-After too. */
const rules: ReadonlyMap<number, AnswerRule> = new Map([
  [307, refused],
  [308, refused],
  [401, denied],
  [403, denied],
  [404, missing],
  [408, lost],
  [410, missing],
  [412, { ...refused, passes: true }],
  [425, busy],
  [429, busy],
  [501, unsupported],
  [505, unsupported],
]);
/** A gateway without a way to the service answers so too, for example after the service has applied the write. */
const gatewayStatuses: ReadonlySet<number> = new Set([403, 404, 410]);
/** The reasons after which the same request may get an answer at once. */
const passingReasons: ReadonlySet<UnavailableReason | undefined> = new Set<UnavailableReason>([
  'refused',
  'reset',
  'timeout',
  'proxy',
  'dns',
]);

/** Returns what the answer to an attempt means, or that there is none. */
export function answerRule({ isSent, response, error, author }: AttemptEnd): AnswerRule {
  if (response && !(error && response.status < 300)) return statusRule(response.status, author);
  const { reason, retryable } = error instanceof CliError ? error.details : {};
  const isPassing = retryable !== false && passingReasons.has(reason);
  if (isSent) return isPassing ? lost : unclear;
  return isPassing ? busy : unsent;
}

/** Returns what a status means. @param author whose answer it is. */
export function statusRule(status: number, author: Author | undefined): AnswerRule {
  if (gatewayStatuses.has(status) && author !== 'service') return unclear;
  return rules.get(status) ?? (status >= 500 ? lost : status >= 400 ? refused : unclear);
}

/**
 * Returns true if a write may have been applied: at least one of its attempts was sent and not refused by the service itself. The
 * answer to a later attempt does not change that.
 */
export function mayHaveBeenApplied(method: string, attempts: readonly AttemptEnd[]): boolean {
  return !isSafeMethod(method) && attempts.some((attempt) => answerRule(attempt).mayBeApplied);
}

/** Returns true if a request may be sent again by itself. @see RFC 9110, 9.2.2 */
export function isSentAgain(method: string, result: AttemptEnd): boolean {
  const { again } = answerRule(result);
  return again === 'always' || (again === 'idempotent' && isIdempotent(method));
}

/** Returns true if the request of an error may succeed later without a change to it. */
export function errorPasses({ kind, details: { status, author } }: CliError): boolean {
  return status === undefined ? kind !== 'usage' : statusRule(status, author).passes;
}

/** Returns true if a reading that failed is tried again: an empty 404 and a page of a gateway say nothing of the record. */
export function isReadAgain({ details: { status, author, retryable } }: CliError): boolean {
  return retryable === true || ((status === 404 || status === 410) && author !== 'service');
}

/** Returns true if a request that is sent twice has the effect of one. */
export function isIdempotent(method: string): boolean {
  return isSafeMethod(method) || method === 'PUT' || method === 'DELETE';
}
