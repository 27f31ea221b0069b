import type { HttpResponse } from '../api/http.ts';
import { ApiError, UnavailableError, type UnavailableReason } from '../errors.ts';
import { maskUrl } from '../mask.ts';
import { type Refusal, readRefusal } from './error-body.ts';
import { type Ending, mayHaveBeenApplied, retriedStatuses } from './retry.ts';

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
  /** Masks secrets in what a service says. */
  readonly mask?: ((text: string) => string) | undefined;
}

/** The service's refusal as an error, whatever its body: `<what failed>: METHOD url: <why> (status code)`. */
export async function refusalError(failed: Failed, response: HttpResponse): Promise<ApiError> {
  const { status } = response;
  const { mask = same } = failed;
  const { why, code, message } = masked(await readRefusal(response), mask);
  const { method, url, attempts, hint } = failed;
  return new ApiError(`${subject(failed)}: ${why}${remarks(failed, { answer: response })}`, {
    status,
    code,
    serviceMessage: message,
    method,
    url: maskUrl(url),
    attempts,
    hint: hint ?? hintOfStatus(status),
    retryable: retriedStatuses.has(status),
  });
}

/** Why no valid answer came, as an error of the whole call. */
export function unavailableError(failed: Failed, cause: UnavailableError): UnavailableError {
  const { reason, sent, details } = cause;
  const { method, url, attempts, mask = same } = failed;
  return new UnavailableError(`${subject(failed)}: ${mask(cause.message)}${remarks(failed, { sent })}`, {
    ...details,
    reason,
    sent,
    method,
    url: maskUrl(url),
    attempts,
    hint: failed.hint ?? details.hint ?? hintOfReason[reason],
    retryable: details.retryable ?? isPassing(reason),
    cause,
  });
}

/** An answer that is none: its status was fine and the rest was not. */
export function invalidResponse(failed: Failed, why: string, status: number): UnavailableError {
  const cause = new UnavailableError(why, { reason: 'invalid-response', sent: true, status });
  return unavailableError(failed, cause);
}

function masked({ why, code, message }: Refusal, mask: (text: string) => string): Refusal {
  return { why: mask(why), code: code && mask(code), message: message && mask(message) };
}

function same(text: string): string {
  return text;
}

function subject({ what, method, url }: Failed): string {
  const request = `${method} ${maskUrl(url)}`;
  return what === undefined ? request : `${lowerFirst(what)}: ${request}`;
}

function remarks({ method, attempts, note }: Failed, ending: Ending): string {
  const notes = [
    ...(attempts > 1 ? [`after ${attempts} attempts`] : []),
    ...(note ? [note] : []),
    ...(mayHaveBeenApplied(method, ending) ? ['the request may or may not have been applied'] : []),
  ];
  return notes.length === 0 ? '' : `; ${notes.join('; ')}`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function isPassing(reason: UnavailableReason): boolean {
  return reason !== 'tls' && reason !== 'redirect' && reason !== 'invalid-response';
}

function hintOfStatus(status: number): string | undefined {
  if (status === 401)
    return 'give a token: PETSTORE_TOKEN, PETSTORE_TOKEN_FILE, or token-file in the profile';
  if (status === 403) return 'the token may not do this';
  if (status === 412) return 'somebody changed it meanwhile: read it again, then decide';
  return undefined;
}

const hintOfReason: { readonly [R in UnavailableReason]?: string } = {
  refused: 'is the service running, and the base URL right? `petstore doctor` looks at each step',
  dns: 'is the base URL right? `petstore doctor` looks at each step',
  timeout: 'give it longer with --timeout',
};
