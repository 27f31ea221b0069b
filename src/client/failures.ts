import type { HttpResponse } from '../api/http.ts';
import { ApiError, UnavailableError, type UnavailableReason } from '../errors.ts';
import { maskUrl, shownUrl } from '../mask.ts';
import { type Refusal, readRefusal } from './error-body.ts';
import { type Ending, isSafeAgain, mayHaveBeenApplied, retriedStatuses } from './retry.ts';

/** What is known of a call when it fails, for its message. */
export interface Failed {
  /** What the call was for, as `Get a pet`; undefined for a raw request. */
  readonly what: string | undefined;
  readonly method: string;
  readonly url: string;
  readonly attempts: number;
  /** More on why it ended here, a clause. */
  readonly note?: string | undefined;
  readonly hint?: string | undefined;
  /** Where the credential that was sent came from; undefined where none was. */
  readonly credential?: string | undefined;
  /** Masks secrets in what a service says. */
  readonly mask?: ((text: string) => string) | undefined;
}

/** The service's refusal as an error, whatever its body: `<what failed>: METHOD url: <why> (status code)`. */
export async function refusalError(failed: Failed, response: HttpResponse): Promise<ApiError> {
  const { status } = response;
  const { mask = same } = failed;
  const { why, code, message } = masked(await readRefusal(response), mask);
  const { method, url, attempts, hint } = failed;
  const ending = { answer: response };
  return new ApiError(sentence(failed, why, ending), {
    status,
    code,
    serviceMessage: message,
    remark: remarks(failed, ending).join('; ') || undefined,
    method,
    url: maskUrl(url),
    attempts,
    hint: hint ?? hintOfStatus(status, failed.credential),
    retryable: retriedStatuses.has(status) && isSafeAgain(method, ending),
  });
}

/** Why no valid answer came, as an error of the whole call. */
export function unavailableError(failed: Failed, cause: UnavailableError): UnavailableError {
  const { reason, sent, answer, details } = cause;
  const { method, url, attempts, mask = same } = failed;
  return new UnavailableError(sentence(failed, mask(cause.message), { sent }), {
    ...details,
    reason,
    sent,
    answer,
    method,
    url: maskUrl(url),
    attempts,
    hint: failed.hint ?? details.hint ?? hintOfReason[reason],
    retryable: (details.retryable ?? isPassing(reason)) && isSafeAgain(method, { sent }),
    cause,
  });
}

interface InvalidResponse {
  readonly status: number;
  /** @see UnavailableError.answer */
  readonly answer?: unknown;
}

/** An answer that is none: its status was fine and the rest was not. */
export function invalidResponse(
  failed: Failed,
  why: string,
  { status, answer }: InvalidResponse,
): UnavailableError {
  const cause = new UnavailableError(why, { reason: 'invalid-response', sent: true, status, answer });
  return unavailableError(failed, cause);
}

function masked({ why, code, message }: Refusal, mask: (text: string) => string): Refusal {
  return { why: mask(why), code: code && mask(code), message: message && mask(message) };
}

function same(text: string): string {
  return text;
}

function sentence(failed: Failed, why: string, ending: Ending): string {
  const { what, method, url, attempts } = failed;
  const request = `${method} ${shownUrl(url)}`;
  const subject = what === undefined ? request : `${lowerFirst(what)}: ${request}`;
  const count = attempts > 1 ? [`after ${attempts} attempts`] : [];
  return [`${subject}: ${why}`, ...count, ...remarks(failed, ending)].join('; ');
}

/** How the call ended beside what the service said. */
function remarks({ method, note }: Failed, ending: Ending): string[] {
  return [
    ...(note ? [note] : []),
    ...(mayHaveBeenApplied(method, ending) ? ['the request may or may not have been applied'] : []),
  ];
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function isPassing(reason: UnavailableReason): boolean {
  return reason !== 'tls' && reason !== 'redirect' && reason !== 'invalid-response';
}

function hintOfStatus(status: number, credential: string | undefined): string | undefined {
  if (status === 412) return 'somebody changed it meanwhile: read it again, then decide';
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
