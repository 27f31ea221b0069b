import { type HttpResponse, headerValue, isSafeMethod, shownUrl } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import { type Author, CliError, type ErrorDetails, type ErrorKind } from '../process/errors.ts';
import { systemCode } from '../process/system-error.ts';
import {
  type AnswerRule,
  type Attempt,
  answerRule,
  isIdempotent,
  isMissingStatus,
  isSuccess,
  mayHaveBeenApplied,
  statusRule,
} from './answer-table.ts';
import type { Call } from './call.ts';
import { readErrorBody } from './error-body.ts';
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
  const details = { status, author, code, serviceMessage, hint };
  return makeError(call, attempts, kind, `${why}${orMissing}`, details, statusRule(status, author));
}

function errorKindOf({ operation, request }: Call, status: number, author: Author): ErrorKind {
  const isMissing = isMissingStatus(status);
  // A service answers 200 for an empty list, so the address is wrong.
  if (isMissing && operation?.isList) return 'unavailable';
  // Services answer so without a body when they refuse a token, or have no such record.
  const isUsual = isMissing ? isSafeMethod(request.method) : statusRule(status).word === 'denied';
  return statusRule(status, author === 'unknown' && isUsual ? 'service' : author).kind;
}

/** A service may answer with a page in place of an error, although its description does not say so. */
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
  const rule = answerRule({ isSent: true, error: thrown });
  const why = call.client.secrets.mask(message);
  return makeError(call, attempts, kind, why, { reason, status, hint, cause: thrown }, rule);
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
  details: ErrorDetails,
  { verdict }: Pick<AnswerRule, 'verdict'>,
): CliError {
  const { method } = call.request;
  const { forwardProxy } = call.client.transport;
  const isAnswered = attempts.at(-1)?.response !== undefined;
  const senders =
    forwardProxy !== undefined && isAnswered && details.author !== 'service'
      ? `; the proxy ${forwardProxy} or the service has sent it`
      : '';
  const isOnce = isIdempotent(method) || !mayHaveBeenApplied(method, attempts);
  return new CliError(kind, `${why}${senders}`, {
    ...callDetails(call, attempts),
    ...details,
    retryable: (verdict === 'busy' || verdict === 'lost') && isOnce,
  });
}

/** Returns the details of an error that describe its call. */
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

/** What is known of a call that failed. A check that only opens a connection has no call. */
interface Failure {
  readonly call?: Call | undefined;
  /** Why there is no valid answer. */
  readonly error?: CliError | undefined;
  /** The answer, if its status is that of an error. */
  readonly response?: HttpResponse | undefined;
  readonly author?: Author | undefined;
  readonly kind?: ErrorKind | undefined;
}

/** Returns what the user can do about a failure, one sentence. */
export function hintOf(failure: Failure): string | undefined {
  // Certificates, tokens and caches come before the guesses.
  const hints = [
    message,
    proxyPassword,
    basic,
    token,
    cache,
    largeHeader,
    plainToTls,
    gatewayRule,
    timeout,
    address,
  ];
  return hints.map((hint) => hint(failure)).find((text) => text !== undefined);
}

/** The hints for codes and messages of Node and OpenSSL, and of an answer that is not valid. */
const messageHints: readonly (readonly [words: RegExp, hint: string])[] = [
  [
    /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/,
    'if you trust its authority, name it in the setting ca-cert (PETSTORE_CA_CERT=<file>)',
  ],
  [
    /alert[ _](certificate[ _](required|unknown)|handshake[ _]failure|bad[ _]certificate|unknown[ _]ca)/i,
    'if the service wants a client certificate, name one in the setting client-cert (PETSTORE_CLIENT_CERT=<file>)',
  ],
  [/the port speaks TLS/, 'begin the base URL with https://'],
  [/wrong version number|packet length too long/, 'is the base URL http:// instead?'],
  [/with text\/html, not JSON/, 'does the base URL lead to the service, and not to a web page?'],
];

function message({ error }: Failure): string | undefined {
  const cause = error?.details.cause;
  const words = cause instanceof Error ? `${systemCode(cause)} ${cause.message}` : '';
  if (/CERT_(NOT_YET_VALID|HAS_EXPIRED)/.test(words))
    return `the clock here says ${new Date().toISOString().slice(0, 16)}Z: is it right?`;
  return error && messageHints.find(([pattern]) => pattern.test(`${words} ${error.message}`))?.[1];
}

/** tinyproxy answers 401 in place of 407 to a wrong password. */
function proxyPassword({ call, response, author }: Failure): string | undefined {
  const isOfProxy = author !== 'service' && call?.client.transport.forwardProxy?.includes('@');
  return response?.status === 401 && isOfProxy
    ? 'are the user name and password of the proxy right?'
    : undefined;
}

/** Basic is the only scheme that a 401 names, and the request used another or none. @see RFC 9110, 11.6.1 */
function basic({ call, response }: Failure): string | undefined {
  if (!call || response?.status !== 401) return undefined;
  const challenge = headerValue(response.headers, 'www-authenticate') ?? '';
  const authorization = headerValue(call.request.headers, 'authorization') ?? '';
  if (!/^\s*basic\b/i.test(challenge) || /\bbearer\b/i.test(challenge) || /^basic\b/i.test(authorization))
    return undefined;
  return 'it wants a user name and a password: set auth-scheme to Basic (PETSTORE_AUTH_SCHEME=Basic), and give user:password as the token';
}

function token({ call, response, kind }: Failure): string | undefined {
  if (!call || kind !== 'auth') return undefined;
  const { credentialSource, whyNoCredential } = call.client;
  if (credentialSource === undefined)
    return (
      whyNoCredential ??
      'give a token: PETSTORE_TOKEN together with PETSTORE_BASE_URL, or token-file in the profile of this service'
    );
  const authorization = headerValue(call.request.headers, 'authorization') ?? '';
  const prefix = /^\S+ ("|'|bearer |basic |authorization(?=:))/i.exec(authorization)?.[1];
  if (prefix !== undefined)
    return `the token of ${credentialSource} begins with ${prefix.trim()}: leave that out`;
  return response?.status === 401
    ? `is the token of ${credentialSource} that of this service, and still valid?`
    : `the token of ${credentialSource} may not do this`;
}

function cache({ response }: Failure): string | undefined {
  const age = response && headerValue(response.headers, 'age');
  if (response?.status !== 412 || age === undefined) return undefined;
  return `a cache in front of the service has answered (Age: ${age}): it must pass on requests with If-Match`;
}

/** Many gateways take 8 KB of headers. */
const largeHeaderBytes = 4000;

/** Names the largest header of a request, if a gateway may have refused it. */
function largeHeader({ call, response, error }: Failure): string | undefined {
  const isRefused = response?.status === 400 || response?.status === 431 || isClosed(error);
  if (!call || !isRefused) return undefined;
  const { client, request } = call;
  const [largest] = Object.keys(request.headers)
    .map((name) => ({ name, bytes: Buffer.byteLength(headerValue(request.headers, name) ?? '') }))
    .sort((a, b) => b.bytes - a.bytes);
  if (!largest || largest.bytes < largeHeaderBytes) return undefined;
  const { name, bytes } = largest;
  const isToken = client.credentialSource !== undefined && name === 'authorization';
  const header = isToken ? `the header with the token of ${client.credentialSource}` : `the header ${name}`;
  return `${header} has ${bytes} bytes, and many gateways allow 8 KB of headers`;
}

/** A gateway answers plain http on a port of TLS with 400, or closes the connection. */
function plainToTls({ call, response, author, error }: Failure): string | undefined {
  const isPossible = (response?.status === 400 && author === 'gateway') || isClosed(error);
  if (!isPossible || !call?.request.url.startsWith('http:')) return undefined;
  return 'if the port speaks TLS, begin the base URL with https://';
}

function isClosed(error: CliError | undefined): boolean {
  return error?.details.reason === 'reset' && error.details.status === undefined;
}

function gatewayRule({ call, response, author }: Failure): string | undefined {
  const isRefusal = response?.status === 403 || response?.status === 405;
  if (!isRefusal || author !== 'gateway') return undefined;
  return `a gateway in front of the service may refuse ${call?.request.method}: look at the paths, methods and bodies that its rules allow`;
}

function timeout({ error }: Failure): string | undefined {
  return error?.details.reason === 'timeout' ? 'allow more time with --timeout' : undefined;
}

function address({ call, response, error, kind }: Failure): string | undefined {
  if (!call) return undefined;
  const { contract, baseUrl, doctor } = call.client;
  const look = `\`${doctor}\` looks at each step`;
  const { reason } = error?.details ?? {};
  if (reason === 'connection-refused') return `is the service running, and the base URL right? ${look}`;
  const isAddressMissing = isMissingStatus(response?.status) && kind === 'unavailable';
  if (!isAddressMissing && reason !== 'dns') return undefined;
  const { basePath } = contract;
  if (isAddressMissing && basePath !== '' && baseUrl.endsWith(basePath))
    return `the description says that its operations lie below ${basePath}; if they do not, bind again with --base-path /`;
  return `is the base URL right? ${look}`;
}
