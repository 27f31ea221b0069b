import { type HttpResponse, isSafeMethod, shownUrl } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import { type Author, CliError, type ErrorDetails, type ErrorKind } from '../process/errors.ts';
import {
  type AnswerRule,
  type Attempt,
  answerRule,
  isIdempotent,
  isMissingStatus,
  isSuccess,
  mayHaveBeenApplied,
  statusRule,
  statusWord,
} from './answer-table.ts';
import type { Call } from './call.ts';
import { readErrorBody } from './error-body.ts';
import { hintOf } from './hints.ts';
import { invalidResponse } from './transport/response.ts';

type Attempts = readonly Attempt[];

/** Returns the error of a response, by its status alone. Undefined if the status means success. */
export function responseError(call: Call, attempts: Attempts, response: HttpResponse): CliError | undefined {
  const { status } = response;
  // A list may be answered in parts, although no range was asked for.
  const isPart = status === 206 && call.operation?.isList === true;
  if (isPart || isSuccess(call.request.method, status)) return undefined;
  if (status < 400) {
    const why = `the answer is ${status}, which is neither a success nor an error`;
    return callError(call, attempts, invalidResponse(why));
  }
  const author = attempts.at(-1)?.author ?? 'unknown';
  const { why, code, message: serviceMessage } = readErrorBody(response, author, call.client.secrets.mask);
  const kind = errorKindOf(call, status, author);
  const orMissing = isMissingStatus(status) && kind === 'unavailable' ? noRecordClause(call) : '';
  const hint = hintOf({ call, response, author, kind });
  const own = { status, author, code, serviceMessage, hint };
  return makeError(call, attempts, kind, `${why}${orMissing}`, own, statusRule(status, author));
}

function errorKindOf({ operation, request }: Call, status: number, author: Author): ErrorKind {
  const isMissing = isMissingStatus(status);
  // A service answers 200 for an empty list, so the address is wrong.
  if (isMissing && operation?.isList) return 'unavailable';
  // Services answer so without a body when they refuse a token, or have no such record.
  const isUsual = isMissing ? isSafeMethod(request.method) : statusWord(status) === 'denied';
  return statusRule(status, author === 'unknown' && isUsual ? 'service' : author).kind;
}

/** A page in place of an error may come from the service all the same, if its description says nothing of it. */
function noRecordClause({ operation, request }: Call): string {
  const id = /\/(\d+)(?:\?.*)?$/.exec(request.url)?.[1];
  if (!operation || operation.isList || id === undefined) return '';
  return `, or ${nouns[operation.noun].singular} ${id} does not exist`;
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
  const hint = details.hint ?? hintOf({ call, error: thrown });
  const own = { reason, status, hint, cause: thrown };
  const rule = answerRule({ isSent: true, error: thrown });
  return makeError(call, attempts, kind, call.client.secrets.mask(message), own, rule);
}

/**
 * Makes the error of a call. It says who may have answered, if the answer came through a forward proxy and its body does not show
 * that it is the service's.
 */
function makeError(
  call: Call,
  attempts: Attempts,
  kind: ErrorKind,
  why: string,
  own: ErrorDetails,
  { again }: Pick<AnswerRule, 'again'>,
): CliError {
  const { method } = call.request;
  const { forwardProxy } = call.client.transport;
  const isAnswered = attempts.at(-1)?.response !== undefined;
  const senders =
    forwardProxy !== undefined && isAnswered && own.author !== 'service'
      ? `; the proxy ${forwardProxy} or the service has sent it`
      : '';
  const isOnce = isIdempotent(method) || !mayHaveBeenApplied(method, attempts);
  const details = { ...callDetails(call, attempts), ...own, retryable: again !== 'never' && isOnce };
  return new CliError(kind, `${why}${senders}`, details);
}

/** Returns the details of an error that tell of its call. */
export function callDetails({ request }: Call, attempts: Attempts): ErrorDetails {
  const last = attempts.at(-1);
  return {
    method: request.method,
    url: shownUrl((last?.request ?? request).url),
    attempts: attempts.length,
    retryAfterMs: last?.retryAfterMs,
    requestId: last?.requestId,
    addition: last?.whyNoRetry,
    mayBeApplied: mayHaveBeenApplied(request.method, attempts),
  };
}
