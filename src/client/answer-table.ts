import { type HttpRequest, type HttpResponse, isSafeMethod } from '../api/http.ts';
import { CliError, type ErrorKind, type NoAnswer, type Sender } from '../process/errors.ts';

// What an answer, or the reason why there is none, means for a write, a retry, a run, a list and an error.

/** One attempt of a call, after its end. */
export interface Attempt {
  /** The request that was sent, or after redirects the last one. */
  readonly request: HttpRequest;
  /** True if the service may have received a byte of the request. */
  readonly isSent: boolean;
  readonly response?: HttpResponse | undefined;
  /** Why there is no response, or why its redirect is not followed. */
  readonly error?: Error | undefined;
  /** The sender of an answer with an error status. */
  readonly sender?: Sender | undefined;
  /** 1 for the first. */
  readonly number: number;
  readonly elapsedMs: number;
  /** The service's id of the request, with secrets masked. */
  readonly requestId?: string | undefined;
  /** The Retry-After of an error status, in milliseconds from its arrival. */
  readonly retryAfterMs?: number | undefined;
  /** The delay before the next attempt, in milliseconds, if there is one. */
  readonly nextDelayMs?: number | undefined;
  /** Why there is no further attempt although the answer allows one: the hint of the error. */
  readonly whyNoRetry?: string | undefined;
}

/** What an answer with an error status, or no answer, says of a write. It also decides which requests are retried. */
export type FailureVerdict =
  /** The write may have been applied. It is idempotent, so it is retried. */
  | 'lost'
  /** The write may have been applied, and no request is retried. */
  | 'unrepeatable'
  /** Certainly not applied by this request. The service reports a conflict with the state of the record. */
  | 'conflict'
  /** Certainly not applied by this request. A condition of the request is not met. */
  | 'condition-failed'
  /** The record does not exist. */
  | 'missing'
  /** Certainly not applied. Any request is retried. */
  | 'busy'
  /** Certainly not applied, and no request is retried. */
  | 'rejected';

interface AnswerRule {
  readonly verdict: FailureVerdict;
  /** True if the same request may succeed later. */
  readonly isTransient: boolean;
  readonly kind: ErrorKind;
  /** True if gateways send this status too, even after the service has applied the write. */
  readonly isGatewayStatus?: true;
  /** True if a gateway may have answered because the service is overloaded or unreachable. */
  readonly mayBeOutage?: true;
  /** True if a run pauses. */
  readonly pauses?: true;
}

const rejection: AnswerRule = { verdict: 'rejected', isTransient: false, kind: 'failed' };
/** The credential is not enough. A new one may be. */
const denied: AnswerRule = { ...rejection, isTransient: true, kind: 'auth' };
const busy: AnswerRule = { verdict: 'busy', isTransient: true, kind: 'unavailable' };
const lost: AnswerRule = { verdict: 'lost', isTransient: true, kind: 'unavailable' };
/** A page of a gateway, or a status below 400 that is not a success. */
const unrepeatable: AnswerRule = { ...lost, verdict: 'unrepeatable' };

/**
 * The meanings of the statuses that are not a success. Any other 4xx is `rejected`, any other 5xx is `lost`, and the rest is
 * `unrepeatable`. A 5xx may come from a gateway after the service has applied the write, even one with Retry-After.
 */
const statusTable: readonly (readonly [statuses: readonly number[], rule: AnswerRule])[] = [
  [[307, 308], rejection],
  [[401], denied],
  [[403], { ...denied, isGatewayStatus: true }],
  [[404, 410], { ...rejection, verdict: 'missing', kind: 'not-found', isGatewayStatus: true }],
  // Rails and Spring choose the format of the answer only after the write. A gateway answers
  // 499 if a request was cancelled, and its write may be done by then.
  [[406, 499], { ...rejection, verdict: 'unrepeatable' }],
  [[408], lost],
  [[409], { ...rejection, verdict: 'conflict' }],
  [[412], { ...rejection, verdict: 'condition-failed' }],
  [[425], busy],
  [[429], { ...busy, pauses: true }],
  [[501, 505], { ...rejection, kind: 'unavailable' }],
  [[502, 504], { ...lost, mayBeOutage: true }],
  [[503], { ...lost, mayBeOutage: true, pauses: true }],
];
const statusRules: ReadonlyMap<number | undefined, AnswerRule> = new Map(
  statusTable.flatMap(([statuses, rule]) => statuses.map((status) => [status, rule] as const)),
);

/** The meaning of a missing answer: nobody can be reached; a retry may succeed at once; or neither. */
type NoAnswerRule = 'unreachable' | 'retryable' | 'final';

const noAnswerRules: Readonly<Record<NoAnswer, NoAnswerRule>> = {
  'connection-refused': 'unreachable',
  dns: 'unreachable',
  proxy: 'unreachable',
  timeout: 'retryable',
  reset: 'retryable',
  tls: 'final',
  redirect: 'final',
  'invalid-response': 'final',
};

export function isNoAnswer(code: string): code is NoAnswer {
  return Object.hasOwn(noAnswerRules, code);
}

/** Returns the rule of an error without a valid answer. Any other error is `final`. */
export function noAnswerRule(error: Error | undefined): NoAnswerRule {
  const { noAnswer } = error instanceof CliError ? error.details : {};
  return noAnswer ? noAnswerRules[noAnswer] : 'final';
}

/** Returns what an attempt without success means for a write, by its answer or the absence of one, and its method. */
export function verdictOf({
  request: { method },
  isSent,
  response,
  error,
  sender,
}: Pick<Attempt, 'request' | 'isSent' | 'response' | 'error' | 'sender'>): FailureVerdict {
  const [ifSent, ifUnsent] =
    noAnswerRule(error) === 'final' ? (['unrepeatable', 'rejected'] as const) : (['lost', 'busy'] as const);
  const verdict = response ? statusRule(response.status, sender).verdict : isSent ? ifSent : ifUnsent;
  // Two requests with these methods have the same effect as one.
  const isIdempotent = isSafeMethod(method) || method === 'PUT' || method === 'DELETE';
  return verdict === 'lost' && !isIdempotent ? 'unrepeatable' : verdict;
}

/** Returns the meaning of a status. @param sender who sent it. */
export function statusRule(status: number | undefined, sender?: Sender): AnswerRule {
  const rule = statusRules.get(status);
  if (rule) return rule.isGatewayStatus && sender !== 'service' ? unrepeatable : rule;
  return status === undefined || status < 400 ? unrepeatable : status >= 500 ? lost : rejection;
}

/** Returns true if the service itself has answered an attempt, and not a gateway that cannot reach it. */
export function isAnswered({ response, sender }: Pick<Attempt, 'response' | 'sender'>): boolean {
  return response !== undefined && !statusRule(response.status).mayBeOutage && sender !== 'gateway';
}

/**
 * Returns the kind of the error of an answer without success to a call whose requests were all refused.
 *
 * @param isList true for a list. A service answers 200 for an empty list, so the address of a missing one is wrong.
 */
export function errorKindOf(status: number, sender: Sender, method: string, isList = false): ErrorKind {
  const isMissing = isMissingStatus(status);
  if (isMissing && isList) return 'unavailable';
  // The sender of an answer without a body is unknown. Services themselves answer so to a token that they refuse, and to a GET of a
  // record that they do not have.
  const isUsual = isMissing ? isSafeMethod(method) : isDeniedStatus(status);
  return statusRule(status, sender === 'unknown' && isUsual ? 'service' : sender).kind;
}

/** Returns true if a status means success: 202 only for a write, and 206 only for a list, although no range was asked for. */
export function isSuccess(method: string, status: number, isList = false): boolean {
  if (status === 202) return !isSafeMethod(method);
  return [200, 201, 203, 204, 205].includes(status) || (status === 206 && isList);
}

/** Returns true if a status says that nothing exists at the address. */
export function isMissingStatus(status: number | undefined): boolean {
  return statusRules.get(status)?.kind === 'not-found';
}

/** Returns true if a status says that the credential does not suffice. */
export function isDeniedStatus(status: number | undefined): boolean {
  return statusRules.get(status)?.kind === 'auth';
}

/** Returns true if a service itself gives this answer to a page after the last one. An empty 404 or a text may be a gateway's. */
export function isAfterLastPage({ details: { status, sender } }: CliError): boolean {
  return status === 204 || (sender === 'service' && (status === 404 || status === 416));
}

/** Returns true if the operation is gone, and not only the record: 410, or 404 or 405 without an error code of the service. */
export function isWithdrawn({ details: { status, code } }: CliError): boolean {
  return status === 410 || ((status === 404 || status === 405) && code === undefined);
}

/**
 * Returns true if a write may have been applied: the service itself did not refuse every attempt that was sent. An answer to one
 * attempt says nothing about the others.
 */
export function isPerhapsApplied(attempts: readonly Attempt[]): boolean {
  return attempts.some(
    (attempt) =>
      !isSafeMethod(attempt.request.method) && ['lost', 'unrepeatable'].includes(verdictOf(attempt)),
  );
}

/** Returns true if a request may be sent again. @see RFC 9110, 9.2.2 */
export function mayRetry(attempt: Attempt): boolean {
  return ['busy', 'lost'].includes(verdictOf(attempt));
}

/** Returns true if the reason of an error may pass, so that the same request may succeed later. */
export function isTransientError({ kind, details: { status, sender } }: CliError): boolean {
  // A gateway may have answered without a body. A record that the list lacks is certainly not there.
  if (kind === 'usage' || (kind === 'not-found' && sender !== 'unknown')) return false;
  return status === undefined || statusRule(status, sender).isTransient;
}
