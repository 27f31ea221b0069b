import { type HttpRequest, type HttpResponse, headerValue, isSafeMethod, shownUrl } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import { type Author, CliError, type ErrorDetails, type ErrorKind, systemCode } from '../process/errors.ts';
import {
  type Attempt,
  type FailureVerdict,
  isDeniedStatus,
  isIdempotent,
  isMissingStatus,
  isRetriedVerdict,
  isSuccess,
  mayHaveBeenApplied,
  statusRule,
  verdictOf,
} from './answer-table.ts';
import type { Call } from './call.ts';
import { readErrorBody } from './error-body.ts';
import { invalidResponse } from './transport/response.ts';

type Attempts = readonly Attempt[];

/** Returns the error of a response by its status alone. A success has none. */
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
  return makeError(call, attempts, kind, `${why}${orMissing}`, details, statusRule(status, author).verdict);
}

function errorKindOf({ operation, request }: Call, status: number, author: Author): ErrorKind {
  const isMissing = isMissingStatus(status);
  // A service answers 200 for an empty list, so the address is wrong.
  if (isMissing && operation?.isList) return 'unavailable';
  // Services answer so without a body when they refuse a token, or have no such record.
  const isUsual = isMissing ? isSafeMethod(request.method) : isDeniedStatus(status);
  return statusRule(status, author === 'unknown' && isUsual ? 'service' : author).kind;
}

/** Returns `, or pet 3 does not exist`: some services answer a missing record with a page, whatever their description says. */
function noRecordClause({ operation, recordId }: Call): string {
  if (!operation || recordId === undefined) return '';
  const { singular, operations } = nouns[operation.noun];
  return operation.id === operations.create ? '' : `, or ${singular} ${recordId} does not exist`;
}

/**
 * Adds the request, the attempts and a hint to the error of a call without a valid answer.
 *
 * @param thrown a CliError with `noAnswer`, whose message says only what went wrong. Any other error is returned as it is.
 */
export function callError<Thrown>(call: Call, attempts: Attempts, thrown: Thrown): Thrown | CliError {
  if (!(thrown instanceof CliError)) return thrown;
  const { kind, message, details } = thrown;
  const { noAnswer, status = attempts.at(-1)?.response?.status } = details;
  if (noAnswer === undefined) return thrown;
  const hint = hintOf({ call, error: thrown });
  const verdict = verdictOf({ request: call.request, isSent: true, error: thrown });
  const why = call.client.secrets.mask(message);
  return makeError(call, attempts, kind, why, { noAnswer, status, hint, cause: thrown }, verdict);
}

/**
 * Makes the error of a call. If the answer came through a forward proxy, and its body does not show that the service sent it, the
 * error names the proxy.
 */
function makeError(
  call: Call,
  attempts: Attempts,
  kind: ErrorKind,
  why: string,
  details: ErrorDetails,
  verdict: FailureVerdict,
): CliError {
  const { method } = call.request;
  const { forwardProxy } = call.client.transport;
  const isAnswered = attempts.at(-1)?.response !== undefined;
  const senders =
    forwardProxy !== undefined && isAnswered && details.author !== 'service'
      ? `; the proxy ${forwardProxy} or the service has sent it`
      : '';
  const isSafeToRepeat = isIdempotent(method) || !mayHaveBeenApplied(attempts);
  return new CliError(kind, `${why}${senders}`, {
    ...callDetails(call, attempts),
    ...details,
    retryable: isRetriedVerdict(verdict) && isSafeToRepeat,
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
    mayBeApplied: mayHaveBeenApplied(attempts),
  };
}

/** What is known of a call that failed. A check that only opens a connection has no call. */
interface Failure {
  readonly call?: Call | undefined;
  /** Why there is no valid answer. */
  readonly error?: CliError | undefined;
  /** The answer, if its status means an error. */
  readonly response?: HttpResponse | undefined;
  readonly author?: Author | undefined;
  readonly kind?: ErrorKind | undefined;
}

/** Returns the hint for a failure, one sentence. An error may already have its own hint. */
export function hintOf(failure: Failure): string | undefined {
  const ownHint = failure.error?.details.hint;
  if (ownHint !== undefined) return ownHint;
  const { text } = Object.values(hints).find(({ when }) => when(failure)) ?? {};
  return typeof text === 'function' ? text(failure) : text;
}

/** Returns the code and the message of the error of Node or OpenSSL, or an empty text. */
function systemText({ error }: Failure): string {
  const { cause } = error?.details ?? {};
  return cause instanceof Error ? `${systemCode(cause)} ${cause.message}` : '';
}

/** Returns true if the connection was closed before an answer. */
function isClosed({ error }: Failure): boolean {
  return error?.details.noAnswer === 'reset' && error.details.status === undefined;
}

/** Returns true if the service may not have the address at all. */
function isAddressMissing({ response, kind }: Failure): boolean {
  return isMissingStatus(response?.status) && kind === 'unavailable';
}

/** Returns a header of the request or the answer, or an empty text. */
function headerOf(message: HttpRequest | HttpResponse | undefined, name: string): string {
  return headerValue(message?.headers ?? {}, name) ?? '';
}

interface Hint {
  when(failure: Failure): boolean | undefined;
  readonly text: string | ((failure: Failure) => string);
}

/** The hints by name. The first hint whose condition holds is given, so certificates, tokens and caches come before the guesses. */
const hints: Readonly<Record<string, Hint>> = {
  expiredCertificate: {
    when: (failure) => /CERT_(NOT_YET_VALID|HAS_EXPIRED)/.test(systemText(failure)),
    text: () => `the clock here says ${new Date().toISOString().slice(0, 16)}Z: is it right?`,
  },
  unknownAuthority: {
    when: (failure) => /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/.test(systemText(failure)),
    text: 'if you trust its authority, name it in the setting ca-cert (PETSTORE_CA_CERT=<file>)',
  },
  clientCertificate: {
    when: (failure) =>
      /alert[ _](certificate[ _](required|unknown)|handshake[ _]failure|bad[ _]certificate|unknown[ _]ca)/i.test(
        systemText(failure),
      ),
    text: 'if the service wants a client certificate, name one in the setting client-cert (PETSTORE_CLIENT_CERT=<file>)',
  },
  plainPort: {
    when: (failure) => /wrong version number|packet length too long/.test(systemText(failure)),
    text: 'is the base URL http:// instead?',
  },
  // tinyproxy answers a wrong password with 401, not 407.
  proxyLogin: {
    when: ({ call, response, author }) =>
      response?.status === 401 && author !== 'service' && call?.client.transport.forwardProxy?.includes('@'),
    text: 'are the user name and password of the proxy right?',
  },
  // Basic is the only scheme that the 401 names, and the request used another or none. See RFC 9110, 11.6.1.
  basicLogin: {
    when: ({ call, response }) =>
      response?.status === 401 &&
      /^\s*basic\b(?!.*\bbearer\b)/is.test(headerOf(response, 'www-authenticate')) &&
      !/^basic\b/i.test(headerOf(call?.request, 'authorization')),
    text: 'it wants a user name and a password: set auth-scheme to Basic (PETSTORE_AUTH_SCHEME=Basic), and give user:password as the token',
  },
  token: { when: ({ kind }) => kind === 'auth', text: tokenHint },
  cache: {
    when: ({ response }) => response?.status === 412 && headerOf(response, 'age') !== '',
    text: ({ response }) =>
      `a cache in front of the service has answered (Age: ${headerOf(response, 'age')}): it must pass on requests with If-Match`,
  },
  headerSize: {
    when: ({ call, response, ...failure }) =>
      (response?.status === 400 || response?.status === 431 || isClosed(failure)) &&
      largestHeader(call).bytes >= largeHeaderBytes,
    text: ({ call }) => {
      const { name, bytes } = largestHeader(call);
      const source = name === 'authorization' ? call?.client.credentialSource : undefined;
      const header = source === undefined ? `the header ${name}` : `the header with the token of ${source}`;
      return `${header} has ${bytes} bytes, and many gateways allow 8 KB of headers`;
    },
  },
  // A gateway answers plain http on a port of TLS with 400, or closes the connection.
  tlsPort: {
    when: ({ call, response, author, ...failure }) =>
      ((response?.status === 400 && author === 'gateway') || isClosed(failure)) &&
      call?.request.url.startsWith('http:'),
    text: 'if the port speaks TLS, begin the base URL with https://',
  },
  gatewayRule: {
    when: ({ response, author }) =>
      (response?.status === 403 || response?.status === 405) && author === 'gateway',
    text: ({ call }) =>
      `a gateway in front of the service may refuse ${call?.request.method}: look at the paths, methods and bodies that its rules allow`,
  },
  timeout: {
    when: ({ error }) => error?.details.noAnswer === 'timeout',
    text: 'allow more time with --timeout',
  },
  basePath: {
    when: ({ call, ...failure }) =>
      call &&
      isAddressMissing(failure) &&
      call.client.contract.basePath !== '' &&
      call.client.baseUrl.endsWith(call.client.contract.basePath),
    text: ({ call }) =>
      `the description says that its operations lie below ${call?.client.contract.basePath}; if they do not, bind again with --base-path /`,
  },
  baseUrl: {
    when: ({ call, error, ...failure }) =>
      call &&
      (isAddressMissing(failure) || ['connection-refused', 'dns'].includes(error?.details.noAnswer ?? '')),
    text: ({ call }) =>
      `is the base URL right, and the service running? \`${call?.client.doctor}\` looks at each step`,
  },
};

function tokenHint({ call, response }: Failure): string {
  const { credentialSource, whyNoCredential } = call?.client ?? {};
  if (credentialSource === undefined)
    return (
      whyNoCredential ??
      'give a token: PETSTORE_TOKEN together with PETSTORE_BASE_URL, or token-file in the profile of this service'
    );
  const credential = headerOf(call?.request, 'authorization');
  const prefix = /^\S+ ("|'|bearer |basic |authorization(?=:))/i.exec(credential)?.[1];
  if (prefix !== undefined)
    return `the token of ${credentialSource} begins with ${prefix.trim()}: leave that out`;
  return response?.status === 401
    ? `is the token of ${credentialSource} that of this service, and still valid?`
    : `the token of ${credentialSource} may not do this`;
}

/** Many gateways take 8 KB of headers. */
const largeHeaderBytes = 4000;

/** Returns the longest header of a request. */
function largestHeader(call: Call | undefined): { readonly name: string; readonly bytes: number } {
  return Object.keys(call?.request.headers ?? {})
    .map((name) => ({ name, bytes: Buffer.byteLength(headerOf(call?.request, name)) }))
    .reduce((largest, each) => (each.bytes > largest.bytes ? each : largest), { name: '', bytes: 0 });
}
