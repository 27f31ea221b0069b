import { type HttpResponse, shownUrl } from '../api/http.ts';
import { ApiError, UnavailableError, type UnavailableReason } from '../process/errors.ts';
import { type JsonValue, printJson } from '../process/exact-json.ts';
import { lowerFirst, shorten } from '../process/text.ts';
import type { Call } from './call.ts';
import { type Difference, readErrorBody } from './response.ts';
import { idempotentMethods, mayHaveBeenApplied, retriedReasons, retriedStatuses } from './retry.ts';

/** An error answer as an error, whatever its body: `<what failed>: METHOD url: <why> (status code)`. */
export function answeredError(call: Call, response: HttpResponse): ApiError {
  const { status } = response;
  const { why, code, message } = readErrorBody(response, call.client.secrets.mask);
  const isMissingList = call.operation?.many === true && (status === 404 || status === 410);
  return new ApiError(sentence(call, why), {
    ...detailsOf(call),
    // An empty list would still answer 200, so a 404 means that the address is wrong.
    ...(isMissingList && { kind: 'unavailable' }),
    status,
    code,
    serviceMessage: message,
    addition: additions(call).join('; ') || undefined,
    requestId: call.requestIdIn(response.fields),
    hint: isMissingList ? isUrlRight(call) : hintOfStatus(status, call),
    retryable: retriedStatuses.has(status) && isSafeAgain(call),
  });
}

/**
 * The error of a write that the service answered with success, and with other values than those that were sent;
 * undefined if there are none.
 */
export function mismatchError(
  call: Call,
  { status, fields }: HttpResponse,
  different: readonly Difference[],
): ApiError | undefined {
  if (different.length === 0) return undefined;
  const shown = (value: JsonValue) => shorten(typeof value === 'string' ? value : printJson(value), 100);
  const values = different.map(
    ({ field, sent, answered }) => `${field} ${shown(answered)}, not ${shown(sent)}`,
  );
  const why = call.client.secrets.mask(`the service answered ${values.join('; ')}`);
  const { method, url } = call.request;
  return new ApiError(`${subjectOf(call)}: ${why}`, {
    kind: 'failed',
    method,
    url: shownUrl(url),
    attempts: call.attempts,
    status,
    requestId: call.requestIdIn(fields),
    retryable: false,
  });
}

/** What a call throws: an UnavailableError whose message is only the reason becomes one that names the call. */
export function callError(call: Call, thrown: unknown): unknown {
  if (!(thrown instanceof UnavailableError)) return thrown;
  const { reason, sent, answer, details } = thrown;
  const { request, response } = call;
  // That an answer is not valid shows only after the last attempt.
  call.mayBeApplied ||= mayHaveBeenApplied(request.method, { sent });
  return new UnavailableError(sentence(call, call.client.secrets.mask(thrown.message)), {
    ...details,
    ...detailsOf(call),
    status: details.status ?? response?.status,
    requestId: response && call.requestIdIn(response.fields),
    reason,
    sent: sent || call.mayBeApplied,
    answer,
    hint: details.hint ?? hintOfReason[reason]?.(call),
    retryable: (details.retryable ?? retriedReasons.has(reason)) && isSafeAgain(call),
    cause: thrown,
  });
}

function detailsOf({ request, attempts, mayBeApplied }: Call) {
  const { method, url } = request;
  return { method, url: shownUrl(url), attempts, ...(mayBeApplied && { applied: 'unknown' as const }) };
}

function sentence(call: Call, why: string): string {
  const count = call.attempts > 1 ? [`after ${call.attempts} attempts`] : [];
  return [`${subjectOf(call)}: ${why}`, ...count, ...additions(call)].join('; ');
}

function subjectOf({ operation, request: { method, url } }: Call): string {
  const sent = `${method} ${shownUrl(url)}`;
  return operation === undefined ? sent : `${lowerFirst(operation.summary)}: ${sent}`;
}

/** Whether the request may be sent again without applying it twice. */
function isSafeAgain({ request, mayBeApplied }: Call): boolean {
  return idempotentMethods.has(request.method) || !mayBeApplied;
}

/** How the call ended, in addition to the service's message. */
function additions({ note, mayBeApplied }: Call): string[] {
  return [...(note ? [note] : []), ...(mayBeApplied ? ['the request may or may not have been applied'] : [])];
}

function hintOfStatus(status: number, { client: { credential }, mayBeApplied }: Call): string | undefined {
  if (status === 412)
    return mayBeApplied
      ? 'an earlier attempt may have changed it: read it again, then decide'
      : 'it was changed in the meantime: read it again, then decide';
  if (status !== 401 && status !== 403) return undefined;
  if (credential === undefined)
    return 'give a token: PETSTORE_TOKEN, PETSTORE_TOKEN_FILE, or token-file in the profile';
  return status === 401
    ? `is the token of ${credential} that of this service, and still valid?`
    : `the token of ${credential} may not do this`;
}

const hintOfReason: { readonly [R in UnavailableReason]?: (call: Call) => string } = {
  refused: (call) => `is the service running, and the base URL right? ${doctorLooks(call)}`,
  dns: isUrlRight,
  timeout: () => 'allow more time with --timeout',
};

function isUrlRight(call: Call): string {
  return `is the base URL right? ${doctorLooks(call)}`;
}

function doctorLooks({ client: { doctor = 'petstore doctor' } }: Call): string {
  return `\`${doctor}\` looks at each step`;
}
