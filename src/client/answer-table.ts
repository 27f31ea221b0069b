import { type HttpRequest, type HttpResponse, isSafeMethod } from '../api/http.ts';
import { type Author, CliError, type ErrorKind, type UnavailableReason } from '../process/errors.ts';

// What an answer means for a write, a retry and an error. Calls, rows, smoke and errors all read this one table.

/** One attempt of a call, after its end. */
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
  /** Why there is no further attempt although the answer allows one, a clause. */
  readonly whyNoRetry?: string | undefined;
}

/** The part of an attempt that decides whether the request was applied, and whether it is retried. */
type AttemptEnd = Pick<Attempt, 'isSent' | 'response' | 'error' | 'author'>;

export interface AnswerRule {
  /** True if a write with this answer may have been applied. */
  readonly mayBeApplied: boolean;
  /** Which requests are retried: none, the idempotent ones, or all. */
  readonly retry: 'never' | 'idempotent' | 'always';
  /** True if the reason may pass, so that the same request may succeed later. */
  readonly isTransient: boolean;
  /** The kind of the error. */
  readonly kind: ErrorKind;
}

/** What a status says, no matter who sent it. */
type StatusWord =
  | 'success'
  /** The service does it later. */
  | 'accepted'
  | 'redirect'
  /** The credential is not enough. */
  | 'denied'
  | 'missing'
  /** Missing, and for good. */
  | 'gone'
  /** The address does not support the method. */
  | 'no-method'
  | 'conflict'
  /** A condition of the request is not met. */
  | 'stale'
  | 'too-many'
  /** The service is overloaded, or a gateway cannot reach it. */
  | 'overloaded'
  /** A gateway got no valid answer from the service. */
  | 'no-service';

const rejected: AnswerRule = { mayBeApplied: false, retry: 'never', isTransient: false, kind: 'failed' };
const denied: AnswerRule = { ...rejected, isTransient: true, kind: 'auth' };
const missing: AnswerRule = { ...rejected, kind: 'not-found' };
const unsupported: AnswerRule = { ...rejected, kind: 'unavailable' };
const busy: AnswerRule = { mayBeApplied: false, retry: 'always', isTransient: true, kind: 'unavailable' };
const lost: AnswerRule = { mayBeApplied: true, retry: 'idempotent', isTransient: true, kind: 'unavailable' };
/** The write may have been applied, and must not be sent again: a page of a gateway, a redirect, or a success that shows no record. */
const unrepeatable: AnswerRule = { ...lost, retry: 'never' };
const unsent: AnswerRule = { ...busy, retry: 'never' };

/**
 * What each status means. A 5xx may come from a gateway after the service has applied the write, even one with Retry-After.
 */
const rows: readonly (readonly [statuses: readonly number[], rule: AnswerRule, word?: StatusWord])[] = [
  [[200, 201, 203, 204, 205], unrepeatable, 'success'],
  [[202], unrepeatable, 'accepted'],
  [[301, 302, 303], unrepeatable, 'redirect'],
  [[307, 308], rejected, 'redirect'],
  [[401, 403], denied, 'denied'],
  [[404], missing, 'missing'],
  [[405], rejected, 'no-method'],
  // Rails and Spring choose the format of the answer only after the write. A gateway answers
  // 499 if a request was cancelled, and its write may be done by then.
  [[406, 499], { ...rejected, mayBeApplied: true }],
  [[408], lost],
  [[409], rejected, 'conflict'],
  [[410], missing, 'gone'],
  [[412], { ...rejected, isTransient: true }, 'stale'],
  [[425], busy],
  [[429], busy, 'too-many'],
  [[501, 505], unsupported],
  [[502, 504], lost, 'no-service'],
  [[503], lost, 'overloaded'],
];
const rowOf = new Map(
  rows.flatMap(([statuses, rule, word]) => statuses.map((status) => [status, { rule, word }])),
);
/** Gateways send these too, even after the service has applied the write. */
const gatewayStatuses: ReadonlySet<number> = new Set([403, 404, 410]);
/** The reasons after which a retry may succeed at once. */
const repeatableReasons: ReadonlySet<UnavailableReason | undefined> = new Set<UnavailableReason>([
  'connection-refused',
  'reset',
  'timeout',
  'proxy',
  'dns',
]);

/** Returns what the answer to an attempt means, or what it means that there is none. */
export function answerRule({ isSent, response, error, author }: AttemptEnd): AnswerRule {
  if (response && !(error && response.status < 300)) return statusRule(response.status, author);
  const { reason, retryable } = error instanceof CliError ? error.details : {};
  const isRepeatable = retryable !== false && repeatableReasons.has(reason);
  if (isSent) return isRepeatable ? lost : unrepeatable;
  return isRepeatable ? busy : unsent;
}

/** Returns what a status means. @param author who sent it. */
export function statusRule(status: number, author: Author | undefined): AnswerRule {
  if (gatewayStatuses.has(status) && author !== 'service') return unrepeatable;
  return rowOf.get(status)?.rule ?? (status >= 500 ? lost : status >= 400 ? rejected : unrepeatable);
}

/** Returns what a status says. Undefined for a status that needs no word here. */
export function statusWord(status: number | undefined): StatusWord | undefined {
  return rowOf.get(status ?? 0)?.word;
}

/** Returns true if a status means success. 202 does so only for a write. */
export function isSuccess(method: string, status: number): boolean {
  const word = statusWord(status);
  return word === 'success' || (word === 'accepted' && !isSafeMethod(method));
}

/** Returns true if a status says that what the address names does not exist. */
export function isMissingStatus(status: number | undefined): boolean {
  const word = statusWord(status);
  return word === 'missing' || word === 'gone';
}

/**
 * Returns true if a write may have been applied: the service itself did not refuse all of the attempts that were sent. The
 * answer to a later attempt does not change that.
 */
export function mayHaveBeenApplied(method: string, attempts: readonly AttemptEnd[]): boolean {
  return !isSafeMethod(method) && attempts.some((attempt) => answerRule(attempt).mayBeApplied);
}

/** Returns true if a request may be retried. @see RFC 9110, 9.2.2 */
export function isRetried(method: string, result: AttemptEnd): boolean {
  const { retry } = answerRule(result);
  return retry === 'always' || (retry === 'idempotent' && isIdempotent(method));
}

/** Returns true if the reason of an error may pass, so that the same request may succeed later. */
export function isTransientError({ kind, details: { status, author } }: CliError): boolean {
  return status === undefined ? kind !== 'usage' : statusRule(status, author).isTransient;
}

/** Returns true if a reading that failed is retried. An empty 404 and the page of a gateway say nothing about the record. */
export function isReadingRetried({ details: { status, author, retryable } }: CliError): boolean {
  return retryable === true || (isMissingStatus(status) && author !== 'service');
}

/** Returns true if sending a request twice has the same effect as sending it once. */
export function isIdempotent(method: string): boolean {
  return isSafeMethod(method) || method === 'PUT' || method === 'DELETE';
}
