import { type HttpResponse, isSafeMethod, shownUrl } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import { CliError, type ErrorDetails, type ErrorKind } from '../process/errors.ts';
import { answerRule, isIdempotent, mayHaveBeenApplied, statusRule } from './answers.ts';
import type { Attempt } from './attempt.ts';
import type { Call } from './call.ts';
import { type Author, readErrorBody } from './error-body.ts';
import { hintOf } from './hints.ts';
import { isSuccess } from './read-answer.ts';
import { invalidResponse } from './transport/transport-error.ts';

type Attempts = readonly Attempt[];

/** Returns the error of a response, by its status alone. Undefined if the status means success. */
export function responseError(call: Call, attempts: Attempts, response: HttpResponse): CliError | undefined {
  const { status } = response;
  // A list may be answered in parts, although no range was asked for.
  const isPart = status === 206 && call.operation?.isList === true;
  if (isPart || isSuccess(call.request.method, status)) return undefined;
  if (status < 400)
    return callError(
      call,
      attempts,
      invalidResponse(`the answer is ${status}, which is neither a success nor an error`),
    );
  const author = attempts.at(-1)?.author ?? 'unknown';
  const { why, code, message } = readErrorBody(response, author, call.client.secrets.mask);
  const kind = kindOf(call, status, author);
  const orMissing = isMissing(status) && kind === 'unavailable' ? missingClause(call) : '';
  return new CliError(kind, withCircumstances(`${why}${orMissing}`, call, attempts, author), {
    ...callDetails(call, attempts),
    status,
    author,
    code,
    serviceMessage: message,
    hint: hintOf({ call, response, author, kind }),
    retryable: statusRule(status, author).again !== 'never' && isSafeAgain(call, attempts),
  });
}

function kindOf(call: Call, status: number, author: Author): ErrorKind {
  if (isMissing(status)) return isAboutRecord(call, author) ? 'not-found' : 'unavailable';
  // An empty 403 is the usual answer of a service that refuses a token.
  return statusRule(status, status === 403 && author === 'unknown' ? 'service' : author).kind;
}

function isMissing(status: number): boolean {
  return status === 404 || status === 410;
}

/** A page in place of an error may come from the service all the same, if its description says nothing of it. */
function missingClause({ operation, request }: Call): string {
  const id = /\/(\d+)(?:\?.*)?$/.exec(request.url)?.[1];
  if (!operation || operation.isList || id === undefined) return '';
  return `, or ${nouns[operation.noun].singular} ${id} does not exist`;
}

/**
 * Returns true if a 404 or 410 is about the record, and not about the address. The service itself says so, in a reading without a
 * word. A list is never missing, because a service answers 200 for an empty one.
 */
function isAboutRecord({ operation, request }: Call, author: Author): boolean {
  if (operation?.isList) return false;
  return author === 'service' || (author === 'unknown' && isSafeMethod(request.method));
}

/**
 * Adds the request, the attempts and a hint to the error of a call without a valid answer.
 *
 * @param thrown a CliError with a `reason`, whose message says only what went wrong. Any other error is returned as it is.
 */
export function callError<Thrown>(call: Call, attempts: Attempts, thrown: Thrown): Thrown | CliError {
  if (!(thrown instanceof CliError)) return thrown;
  const { kind, message, details } = thrown;
  const { reason, status = attempts.at(-1)?.response?.status } = details;
  if (reason === undefined) return thrown;
  return new CliError(kind, withCircumstances(call.client.secrets.mask(message), call, attempts), {
    ...callDetails(call, attempts),
    reason,
    status,
    hint: details.hint ?? hintOf({ call, error: thrown }),
    retryable: answerRule({ isSent: true, error: thrown }).again !== 'never' && isSafeAgain(call, attempts),
    cause: thrown,
  });
}

/** Returns the details of an error that tell of its call. */
export function callDetails({ request }: Call, attempts: Attempts): ErrorDetails {
  const last = attempts.at(-1);
  return {
    method: request.method,
    url: shownUrl((last?.request ?? request).url),
    attempts,
    requestId: last?.requestId,
    addition: last?.whyNoRetry,
    ...(mayHaveBeenApplied(request.method, attempts) && { applied: 'unknown' }),
  };
}

/**
 * Adds to a message how many attempts there were, and who may have answered if the answer came through a forward proxy and
 * the service has not signed it.
 */
function withCircumstances(
  why: string,
  { client }: Call,
  attempts: Attempts,
  author: Author = 'unknown',
): string {
  const { forwardProxy } = client.transport;
  const isAnswered = attempts.at(-1)?.response !== undefined;
  const senders =
    forwardProxy !== undefined && isAnswered && author !== 'service'
      ? `; the proxy ${forwardProxy} or the service has sent it`
      : '';
  return `${why}${senders}${attempts.length > 1 ? `; after ${attempts.length} attempts` : ''}`;
}

/** Returns true if the request can be sent again and cannot be applied twice. */
function isSafeAgain({ request: { method } }: Call, attempts: Attempts): boolean {
  return isIdempotent(method) || !mayHaveBeenApplied(method, attempts);
}
