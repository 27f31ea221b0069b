import { type HttpRequest, type HttpResponse, requestIdOf } from '../api/http.ts';
import { ApiError, UnavailableError, type UnavailableReason } from '../errors.ts';
import { shownUrl } from '../mask.ts';
import { readRefusal } from './response.ts';
import { isSafeAgain, mayHaveBeenApplied, retriedStatuses } from './retry.ts';

/** The facts about a failed call, for its message. */
export interface FailedCall {
  /** Its operation, with a summary such as `Get a pet`; undefined for a raw request. */
  readonly purpose: { readonly summary: string; readonly many: boolean } | undefined;
  /** The last request, redirects followed, without the credential. */
  readonly request: HttpRequest;
  readonly attempts: number;
  /** An additional reason for the end, a clause. */
  readonly note: string | undefined;
  /** True if an attempt may have been applied. */
  readonly mayBeApplied: boolean;
  /** The source of the sent credential; undefined if none was sent. */
  readonly credential?: string | undefined;
  /** Masks secrets in the texts of a service. */
  readonly mask?: ((text: string) => string) | undefined;
}

/** An error answer as an error, whatever its body: `<what failed>: METHOD url: <why> (status code)`. */
export async function refusalError(call: FailedCall, response: HttpResponse): Promise<ApiError> {
  const { status } = response;
  const { mask, purpose, mayBeApplied, request } = call;
  const { why, code, message } = await readRefusal(response, mask);
  const isMissingList = purpose?.many === true && (status === 404 || status === 410);
  return new ApiError(sentence(call, why, mayBeApplied), {
    ...detailsOf(call, mayBeApplied),
    // An empty list would still answer 200, so a 404 means that the address is wrong.
    ...(isMissingList && { kind: 'unavailable' }),
    status,
    code,
    serviceMessage: message,
    remark: remarks(call, mayBeApplied).join('; ') || undefined,
    requestId: requestIdOf(response.fields),
    hint: isMissingList
      ? 'is the base URL right? `petstore doctor` looks at each step'
      : hintOfStatus(status, call),
    retryable: retriedStatuses.has(status) && isSafeAgain(request.method, mayBeApplied),
  });
}

/** The error of a call without a valid answer. */
export function unavailableError(call: FailedCall, cause: UnavailableError): UnavailableError {
  const { reason, sent, answer, details } = cause;
  const { mask = same, request } = call;
  const mayBeApplied = call.mayBeApplied || mayHaveBeenApplied(request.method, { sent });
  return new UnavailableError(sentence(call, mask(cause.message), mayBeApplied), {
    ...details,
    ...detailsOf(call, mayBeApplied),
    reason,
    sent: sent || mayBeApplied,
    answer,
    hint: details.hint ?? hintOfReason[reason],
    retryable: (details.retryable ?? isPassing(reason)) && isSafeAgain(request.method, mayBeApplied),
    cause,
  });
}

/**
 * The error of an answer that is not valid although its status is a success.
 *
 * @param answer the body, if it is JSON of another shape. @see UnavailableError.answer
 */
export function invalidResponse(
  call: FailedCall,
  { status, fields }: HttpResponse,
  why: string,
  answer?: unknown,
): UnavailableError {
  const requestId = requestIdOf(fields);
  const details = { reason: 'invalid-response', sent: true, status, requestId, answer } as const;
  return unavailableError(call, new UnavailableError(why, details));
}

function detailsOf({ request, attempts }: FailedCall, mayBeApplied: boolean) {
  const { method, url } = request;
  return { method, url: shownUrl(url), attempts, ...(mayBeApplied && { applied: 'unknown' as const }) };
}

function same(text: string): string {
  return text;
}

function sentence(call: FailedCall, why: string, mayBeApplied: boolean): string {
  const { purpose, request, attempts } = call;
  const sent = `${request.method} ${shownUrl(request.url)}`;
  const subject = purpose === undefined ? sent : `${lowerFirst(purpose.summary)}: ${sent}`;
  const count = attempts > 1 ? [`after ${attempts} attempts`] : [];
  return [`${subject}: ${why}`, ...count, ...remarks(call, mayBeApplied)].join('; ');
}

/** How the call ended, in addition to the service's message. */
function remarks({ note }: FailedCall, mayBeApplied: boolean): string[] {
  return [...(note ? [note] : []), ...(mayBeApplied ? ['the request may or may not have been applied'] : [])];
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function isPassing(reason: UnavailableReason): boolean {
  return reason !== 'tls' && reason !== 'redirect' && reason !== 'invalid-response';
}

function hintOfStatus(status: number, { credential, mayBeApplied }: FailedCall): string | undefined {
  if (status === 412)
    return mayBeApplied
      ? 'an earlier attempt may have changed it: read it again, then decide'
      : 'it was changed in the meantime: read it again, then decide';
  if (status !== 401 && status !== 403) return undefined;
  if (credential === undefined)
    return 'give a token: PETSTORE_TOKEN, PETSTORE_TOKEN_FILE, or token-file in the profile';
  return status === 401
    ? `the token of ${credential} was sent: is it that of this service, and still valid?`
    : `the token of ${credential} may not do this`;
}

const hintOfReason: { readonly [R in UnavailableReason]?: string } = {
  refused: 'is the service running, and the base URL right? `petstore doctor` looks at each step',
  dns: 'is the base URL right? `petstore doctor` looks at each step',
  timeout: 'give it longer with --timeout',
};
