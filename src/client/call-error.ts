import { type HttpRequest, type HttpResponse, headerLines, shownUrl } from '../api/http.ts';
import {
  CliError,
  type ErrorDetails,
  type ErrorKind,
  isInterruption,
  type Sender,
  systemCode,
} from '../process/errors.ts';
import {
  errorKindOf,
  isMissingStatus,
  isPerhapsApplied,
  isSuccess,
  mayRetry,
  noAnswerRule,
} from './answer-table.ts';
import type { Call, CallSoFar } from './call.ts';
import { readErrorBody } from './read-answer.ts';
import { invalidResponse } from './transport/response.ts';

/** Returns the error of a response by its status alone. A success has none. */
export function responseErrorOf(soFar: CallSoFar, response: HttpResponse): CliError | undefined {
  const { call, attempts } = soFar;
  const { status } = response;
  const { operation, request } = call;
  // Of `api request`: the user sent a condition, and 304 is the answer to it.
  if (status === 304 && !operation) return undefined;
  if (isSuccess(request.method, status, operation?.isList)) return undefined;
  if (status < 400) {
    const why = `the answer is ${status}, which is neither a success nor an error`;
    return withCallDetails(soFar, invalidResponse(why));
  }
  const sender = attempts.at(-1)?.sender ?? 'unknown';
  const { why, code, message: serviceMessage } = readErrorBody(response, sender, call.service.secrets.mask);
  const kind = errorKindOf(status, sender, request.method, operation?.isList);
  return createCallError(soFar, { response, sender, kind }, why, { status, sender, code, serviceMessage });
}

/**
 * Adds the request, the attempts and a hint to the error of a call without a valid answer, and to an interruption if a write may have
 * been applied.
 *
 * @param thrown a CliError with `noAnswer`, whose message says only what went wrong. Any other error is returned as it is.
 */
export function withCallDetails<Thrown>(soFar: CallSoFar, thrown: Thrown): Thrown | CliError {
  if (isInterruption(thrown))
    return isPerhapsApplied(soFar.attempts) ? thrown.with(callDetails(soFar)) : thrown;
  if (!(thrown instanceof CliError) || thrown.details.noAnswer === undefined) return thrown;
  const { message, details, kind } = thrown;
  const { noAnswer, status = soFar.attempts.at(-1)?.response?.status } = details;
  const why = soFar.call.service.secrets.mask(message);
  return createCallError(soFar, { error: thrown, kind }, why, { noAnswer, status, cause: thrown });
}

function createCallError(
  soFar: CallSoFar,
  failure: Failure & { readonly kind: ErrorKind },
  why: string,
  details: ErrorDetails,
): CliError {
  const { call, attempts } = soFar;
  const kind = isPerhapsApplied(attempts) ? 'unavailable' : failure.kind;
  const hint = attempts.at(-1)?.whyNoRetry ?? hintOf({ ...failure, call, why });
  return new CliError(kind, why + senderClause(soFar), { ...callDetails(soFar), ...details, hint });
}

/** Returns a clause that names the forward proxy, unless the body of the answer shows that the service has sent it. */
function senderClause({ call, attempts }: CallSoFar): string {
  const { forwardProxy } = call.service.transport;
  const { response, sender } = attempts.at(-1) ?? {};
  if (forwardProxy === undefined || !response || sender === 'service') return '';
  return `; it came from the proxy ${forwardProxy} or from the service`;
}

function callDetails({ call, attempts }: CallSoFar): ErrorDetails {
  const last = attempts.at(-1);
  return {
    method: call.request.method,
    url: shownUrl((last?.request ?? call.request).url),
    attempts: attempts.length,
    retryAfterMs: last?.retryAfterMs,
    requestId: last?.requestId,
    retryable: last !== undefined && mayRetry(last),
    isPerhapsApplied: isPerhapsApplied(attempts),
  };
}

/** What is known of a call that failed. A check that only opens a connection has no call. */
interface Failure {
  readonly call?: Call | undefined;
  /** Why there is no valid answer. */
  readonly error?: CliError | undefined;
  /** The answer, if its status means an error. */
  readonly response?: HttpResponse | undefined;
  readonly sender?: Sender | undefined;
  readonly kind?: ErrorKind | undefined;
  /** What went wrong, with the title of the page of a gateway. */
  readonly why?: string | undefined;
}

/** Returns the hint for a failure, one sentence. An error may already have its own hint. */
export function hintOf(failure: Failure): string | undefined {
  const ownHint = failure.error?.details.hint;
  if (ownHint !== undefined) return ownHint;
  for (const hint of Object.values(hints)) {
    const text = hint(failure);
    if (text) return text;
  }
  return undefined;
}

/** Returns the code and the message of the error of Node or OpenSSL, or an empty text. */
function systemText(error: CliError | undefined): string {
  const { cause } = error?.details ?? {};
  return cause instanceof Error ? `${systemCode(cause)} ${cause.message}` : '';
}

/** Returns true if the connection was closed before an answer. */
function isClosed(error: CliError | undefined): boolean {
  return error?.details.noAnswer === 'reset' && error.details.status === undefined;
}

/** Returns a header of the request or the answer, or an empty text. */
function headerOf(message: HttpRequest | HttpResponse | undefined, name: string): string {
  return message?.headers[name] ?? '';
}

/** Returns a sentence if the hint fits a failure. */
type Hint = (failure: Failure) => string | false | undefined;

const largeHeaderBytes = 4000;

/** The hints by name. The first one that fits is given, so hints about certificates and tokens come before the guesses. */
const hints: Readonly<Record<string, Hint>> = {
  expiredCertificate: ({ error }) =>
    /CERT_(NOT_YET_VALID|HAS_EXPIRED)/.test(systemText(error)) &&
    `check the clock of this machine, which says ${new Date().toISOString().slice(0, 16)}Z`,
  unknownAuthority: ({ error }) =>
    /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/.test(systemText(error)) &&
    'if you trust its authority, name it in the setting ca-cert (PETSTORE_CA_CERT=<file>)',
  // nginx answers a missing or a wrong certificate with 400; 495 and 496 are its own names for these cases.
  clientCertificate({ error, response, sender, why = '' }) {
    const isOfNginx = sender === 'gateway' && [400, 495, 496].includes(response?.status ?? 0);
    const alert =
      /alert[ _](certificate[ _](required|unknown)|handshake[ _]failure|bad[ _]certificate|unknown[ _]ca)/i;
    if (!(isOfNginx && /SSL certificate/i.test(why)) && !alert.test(systemText(error))) return undefined;
    return 'if the service wants a client certificate, name one in the setting client-cert (PETSTORE_CLIENT_CERT=<file>)';
  },
  // tinyproxy answers a wrong password with 401, not 407.
  proxy({ call, error, response, sender }) {
    const hasPassword = call?.service.transport.forwardProxy?.includes('@');
    const isRefused = response?.status === 401 && sender !== 'service' && hasPassword;
    if (error?.details.noAnswer !== 'proxy' && !isRefused) return undefined;
    return 'check the address of the proxy, and the user name and the password in it: user:password@proxy.example';
  },
  otherScheme(failure) {
    const scheme = otherSchemeOf(failure);
    if (scheme === undefined) return undefined;
    const set = `set auth-scheme to ${scheme} (PETSTORE_AUTH_SCHEME=${scheme})`;
    return /^basic$/i.test(scheme)
      ? `the answer asks for a user name and a password: ${set}, and give user:password as the token`
      : `the answer asks for a token with the scheme ${scheme}: ${set}`;
  },
  token: (failure) => failure.kind === 'auth' && tokenHint(failure),
  cache: ({ response }) =>
    response?.status === 412 &&
    headerOf(response, 'age') !== '' &&
    `a cache in front of the service has answered (Age: ${headerOf(response, 'age')}): it must pass on requests with If-Match`,
  headerSize: ({ call, response, error }) =>
    (response?.status === 400 || response?.status === 431 || isClosed(error)) &&
    headerLines(call?.request.headers ?? {}).join('\r\n').length >= largeHeaderBytes &&
    'the request has large headers, and many gateways allow only 8 KB',
  // A TLS port answers a request over plain http with the 400 of a gateway, or closes the connection.
  protocol({ call, response, sender, error }) {
    const isOtherProtocol = /wrong[ _]version[ _]number|no[ _]application[ _]protocol|Expected HTTP\//i.test(
      systemText(error),
    );
    const isRefused = (response?.status === 400 && sender === 'gateway') || isClosed(error);
    if (!isOtherProtocol && !(isRefused && call?.request.url.startsWith('http:'))) return undefined;
    return 'check whether the port expects http or https; petstore cannot use a port that speaks only HTTP/2';
  },
  rateLimit({ call, response }) {
    if (response?.status !== 429) return undefined;
    return call?.options.pace
      ? 'the service limits requests: lower the settings rate or concurrency (PETSTORE_RATE, PETSTORE_CONCURRENCY)'
      : 'the service limits requests: wait, or give more --retries and a longer --timeout';
  },
  // A 413 is about the request, and not about the base URL.
  gateway: ({ response, sender }) =>
    sender === 'gateway' &&
    response?.status !== 413 &&
    'the answer is not JSON, so it may come from a gateway: check the base URL, and see `petstore help gateways`',
  timeout: ({ error }) => error?.details.noAnswer === 'timeout' && 'allow more time with --timeout',
  address({ call, error, response, kind }) {
    const isMissing = isMissingStatus(response?.status) && kind === 'unavailable';
    if (!isMissing && noAnswerRule(error) !== 'unreachable') return undefined;
    if (!response)
      return 'check the base URL, and that the service is running; `petstore doctor` with the same flags tests each step';
    return call?.service.contract.origin === undefined
      ? 'check the base URL; if the service has other paths, `petstore api bind` finds them in its description'
      : 'check the base URL, and the paths in `petstore api operations`';
  },
};

/**
 * Returns the scheme that a 401 asks for, if it asks for one that sends a token or a password as it is, and the request used another.
 * A request without a token lacks more than the scheme, unless that is Basic. See RFC 9110, 11.6.1.
 */
function otherSchemeOf({ call, response }: Failure): string | undefined {
  if (response?.status !== 401) return undefined;
  const challenges = headerOf(response, 'www-authenticate')
    .replace(/"[^"]*"/g, '')
    .split(',');
  const schemes = challenges
    .flatMap((challenge) => /^\s*([\w-]+)(?![\w-]|\s*=)/.exec(challenge)?.[1] ?? [])
    .filter((scheme) => !/^(digest|negotiate|ntlm)$/i.test(scheme));
  const [scheme = ''] = schemes;
  const [used = ''] = headerOf(call?.request, 'authorization').toLowerCase().split(' ');
  const isOther = scheme.toLowerCase() !== used && (used !== '' || /^basic$/i.test(scheme));
  return schemes.length === 1 && isOther ? scheme : undefined;
}

function tokenHint({ call, response }: Failure): string {
  const { credentialSource, whyNoCredential } = call?.service ?? {};
  if (credentialSource === undefined)
    return (
      whyNoCredential ??
      'give a token in PETSTORE_TOKEN, or its file with `petstore config set token-file <file> --profile <name>`'
    );
  return response?.status === 401
    ? `check that the token from ${credentialSource} is for this service and still valid`
    : `the token from ${credentialSource} is not allowed to do this`;
}
