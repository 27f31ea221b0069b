import { type HttpResponse, isSafeMethod, shownUrl } from '../api/http.ts';
import { CliError, type ErrorDetails, type ErrorKind, type UnavailableReason } from '../process/errors.ts';
import {
  type Attempt,
  isIdempotent,
  mayHaveBeenApplied,
  retriedReasons,
  retriedStatuses,
} from './attempt.ts';
import type { Call } from './call.ts';
import { type Author, authorOf, readErrorBody } from './error-body.ts';
import { isSuccess } from './read-answer.ts';
import { invalidResponse } from './transport/transport-error.ts';

type Attempts = readonly Attempt[];

/** Returns the error of a response, by its status alone. Undefined if the status means success. */
export function responseError(call: Call, attempts: Attempts, response: HttpResponse): CliError | undefined {
  const { status } = response;
  if (isSuccess(call.request.method, status)) return undefined;
  if (status < 400)
    return callError(
      call,
      attempts,
      invalidResponse(`the service answered ${status}, which is neither a success nor an error`),
    );
  const { why, code, message } = readErrorBody(response, call.client.secrets.mask);
  const author = authorOf(response);
  return new CliError(kindOf(call, status, author), withCount(why, attempts), {
    ...callDetails(call, attempts),
    status,
    author,
    code,
    serviceMessage: message,
    hint: hintOfStatus(status, call, attempts, author),
    retryable: retriedStatuses.has(status) && isSafeAgain(call, attempts),
  });
}

function kindOf(call: Call, status: number, author: Author): ErrorKind {
  if (isMissing(status)) return isAboutRecord(call, author) ? 'not-found' : 'unavailable';
  if (status === 403) return author === 'gateway' ? 'unavailable' : 'auth';
  if (status === 401) return 'auth';
  if (status === 408 || status === 425 || status === 429 || status >= 500) return 'unavailable';
  return 'failed';
}

function isMissing(status: number): boolean {
  return status === 404 || status === 410;
}

/**
 * Whether a 404 or 410 is about the record, and not about the address. The service itself says so, in a reading without a
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
  return new CliError(kind, withCount(call.client.secrets.mask(message), attempts), {
    ...callDetails(call, attempts),
    reason,
    status,
    hint: details.hint ?? hintOfReason[reason]?.(call),
    retryable: (details.retryable ?? retriedReasons.has(reason)) && isSafeAgain(call, attempts),
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

function withCount(why: string, attempts: Attempts): string {
  return attempts.length > 1 ? `${why}; after ${attempts.length} attempts` : why;
}

/** Whether the request can be sent again and cannot be applied twice. */
function isSafeAgain({ request: { method } }: Call, attempts: Attempts): boolean {
  return isIdempotent(method) || !mayHaveBeenApplied(method, attempts);
}

function hintOfStatus(status: number, call: Call, attempts: Attempts, author: Author): string | undefined {
  const { credential } = call.client;
  if (status === 412)
    return mayHaveBeenApplied(call.request.method, attempts)
      ? 'an earlier attempt may have changed it: read it again, then decide'
      : 'it was changed in the meantime: read it again, then decide';
  if (isMissing(status) && !isAboutRecord(call, author)) return urlHint(call);
  if (status === 403 && author === 'gateway') return undefined;
  if (status !== 401 && status !== 403) return undefined;
  if (credential === undefined)
    return 'give a token: PETSTORE_TOKEN beside PETSTORE_BASE_URL, or token-file in the profile of this service';
  return status === 401
    ? `is the token of ${credential} that of this service, and still valid?`
    : `the token of ${credential} may not do this`;
}

const hintOfReason: { readonly [R in UnavailableReason]?: (call: Call) => string } = {
  refused: (call) => `is the service running, and the base URL right? ${doctorHint(call)}`,
  dns: urlHint,
  timeout: () => 'allow more time with --timeout',
};

function urlHint(call: Call): string {
  return `is the base URL right? ${doctorHint(call)}`;
}

function doctorHint({ client: { doctor = 'petstore doctor' } }: Call): string {
  return `\`${doctor}\` looks at each step`;
}
