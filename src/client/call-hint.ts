import { type HttpResponse, headerValue } from '../api/http.ts';
import type { ErrorKind, UnavailableReason } from '../process/errors.ts';
import { mayHaveBeenApplied } from './answers.ts';
import type { Attempt } from './attempt.ts';
import type { Call } from './call.ts';
import { type Author, bodyText } from './error-body.ts';
import { clientCertificateHint, secureHint } from './transport/transport-error.ts';

// This file says what the user can do about the error of a call.

/** The response of a call that failed, and what it means. */
interface FailedResponse {
  readonly response: HttpResponse;
  readonly author: Author;
  readonly kind: ErrorKind;
}

/** Returns the remedy for the error of a response, a sentence. Undefined if there is none. */
export function hintOfStatus(
  call: Call,
  attempts: readonly Attempt[],
  { response, author, kind }: FailedResponse,
): string | undefined {
  const { status } = response;
  const { credential, whyNoCredential } = call.client;
  if (status === 412)
    return mayHaveBeenApplied(call.request.method, attempts)
      ? 'an earlier attempt may have changed it: read it again, then decide'
      : 'it was changed in the meantime: read it again, then decide';
  if (status === 400 || status === 431) return hintOfBadRequest(call, response);
  if ((status === 404 || status === 410) && kind === 'unavailable')
    return basePathHint(call) ?? urlHint(call);
  if (status === 403 && author === 'gateway')
    return 'look at the rules of what stands before the service: the addresses, the methods and the texts that it lets through';
  if (status !== 401 && status !== 403) return undefined;
  // tinyproxy answers 401 in place of 407 to a wrong password.
  if (status === 401 && author !== 'service' && call.client.transport.forwardProxy?.includes('@'))
    return 'are the user name and password of the proxy right?';
  if (status === 401 && wantsBasic(call, response))
    return 'it wants a user name and a password: set auth-scheme to Basic (PETSTORE_AUTH_SCHEME=Basic), and give user:password as the token';
  if (credential === undefined)
    return (
      whyNoCredential ??
      'give a token: PETSTORE_TOKEN together with PETSTORE_BASE_URL, or token-file in the profile of this service'
    );
  return status === 401
    ? `is the token of ${credential} that of this service, and still valid?`
    : `the token of ${credential} may not do this`;
}

/** Names the path that the description gives to a service that has nothing there. */
function basePathHint({ client: { contract, baseUrl } }: Call): string | undefined {
  const { basePath } = contract;
  if (basePath === '' || !baseUrl.endsWith(basePath)) return undefined;
  return `the description says that its operations lie below ${basePath}; if they do not, bind again with --base-path /`;
}

/** Whether Basic is the only scheme that a 401 names, and the request used another or none. @see RFC 9110, 11.6.1 */
function wantsBasic({ request }: Call, { headers }: HttpResponse): boolean {
  const challenge = headerValue(headers, 'www-authenticate') ?? '';
  const authorization = headerValue(request.headers, 'authorization') ?? '';
  return /^\s*basic\b/i.test(challenge) && !/\bbearer\b/i.test(challenge) && !/^basic\b/i.test(authorization);
}

/** The words of nginx, Apache, and the servers of Go. */
const plainHttpWords =
  /plain HTTP (request was sent )?to an? ?(HTTPS|SSL)|plain HTTP request was sent to HTTPS|HTTP request to an HTTPS server/i;
const certificateWords = /No required SSL certificate was sent|The SSL certificate error/;

/** Returns the remedy for a 400 or 431 that a gateway gives before it reads the request as a whole. */
function hintOfBadRequest(call: Call, { body }: HttpResponse): string | undefined {
  const text = bodyText(body.slice(0, 10_000));
  if (plainHttpWords.test(text)) return secureHint;
  if (certificateWords.test(text)) return `it wants a client certificate: ${clientCertificateHint}`;
  return largeHeaderHint(call);
}

/** Many gateways take 8 KB of headers. */
const largeHeaderBytes = 4000;

/** Names the largest header of a request, if gateways may refuse it. */
function largeHeaderHint({
  client: { credential, headers: clientHeaders },
  request,
}: Call): string | undefined {
  const sizes = Object.keys(request.headers).map((name) => {
    return { name, bytes: Buffer.byteLength(headerValue(request.headers, name) ?? '') };
  });
  const { name, bytes } = sizes.reduce((most, size) => (size.bytes > most.bytes ? size : most), {
    name: '',
    bytes: 0,
  });
  if (bytes < largeHeaderBytes) return undefined;
  const isToken = credential !== undefined && name === 'authorization' && clientHeaders[name] !== undefined;
  return `${isToken ? `the header with the token of ${credential}` : `the header ${name}`} has ${bytes} bytes, and many gateways take 8 KB of headers`;
}

/**
 * Returns the remedy for a call without a valid answer, a sentence. Undefined if there is none.
 *
 * @param isAnswered whether the beginning of an answer has come.
 */
export function hintOfReason(reason: UnavailableReason, call: Call, isAnswered: boolean): string | undefined {
  if (reason === 'refused') return `is the service running, and the base URL right? ${doctorHint(call)}`;
  if (reason === 'dns') return urlHint(call);
  if (reason === 'timeout') return 'allow more time with --timeout';
  if (reason !== 'reset' || isAnswered) return undefined;
  const isPlain = call.request.url.startsWith('http:');
  return largeHeaderHint(call) ?? (isPlain ? `if the port speaks TLS, ${secureHint}` : undefined);
}

function urlHint(call: Call): string {
  return `is the base URL right? ${doctorHint(call)}`;
}

function doctorHint({ client: { doctor = 'petstore doctor' } }: Call): string {
  return `\`${doctor}\` looks at each step`;
}
