import { type HttpResponse, headerValue } from '../api/http.ts';
import type { Author, CliError, ErrorKind } from '../process/errors.ts';
import { systemCode } from '../process/system-error.ts';
import { isMissingStatus } from './answer-table.ts';
import type { Call } from './call.ts';

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

/** Returns what the user can do about a failure, one sentence: the first line of the table that fits. */
export function hintOf(failure: Failure): string | undefined {
  for (const hint of hints) {
    const text = hint(failure);
    if (text !== undefined) return text;
  }
  return undefined;
}

type Hint = (failure: Failure) => string | undefined;

/** A hint for the errors without an answer whose code or message matches. */
const forWords =
  (words: RegExp, text: string | (() => string)): Hint =>
  ({ error }) => {
    const cause = error?.details.cause;
    const code = cause instanceof Error ? `${systemCode(cause)} ${cause.message}` : '';
    if (!error || !words.test(`${code} ${error.message}`)) return undefined;
    return typeof text === 'string' ? text : text();
  };

const alertOfCertificate =
  /alert[ _](certificate[ _](required|unknown)|handshake[ _]failure|bad[ _]certificate|unknown[ _]ca)/i;

/** One line for each cause. A certificate, a token and a cache come before the guesses. */
const hints: readonly Hint[] = [
  forWords(
    /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/,
    'if you trust its authority, name it in the setting ca-cert (PETSTORE_CA_CERT=<file>)',
  ),
  forWords(
    /CERT_(NOT_YET_VALID|HAS_EXPIRED)/,
    () => `the clock here says ${new Date().toISOString().slice(0, 16)}Z: is it right?`,
  ),
  forWords(
    alertOfCertificate,
    'if the service wants a client certificate, name one in the setting client-cert (PETSTORE_CLIENT_CERT=<file>)',
  ),
  forWords(/the port speaks TLS/, 'begin the base URL with https://'),
  forWords(/wrong version number|packet length too long/, 'is the base URL http:// instead?'),
  proxyPassword,
  basic,
  token,
  cache,
  largeHeader,
  plainToTls,
  rule,
  ({ error }) => (error?.details.reason === 'timeout' ? 'allow more time with --timeout' : undefined),
  address,
];

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
  const sent = headerValue(call.request.headers, 'authorization') ?? '';
  if (!/^\s*basic\b/i.test(challenge) || /\bbearer\b/i.test(challenge) || /^basic\b/i.test(sent))
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
  const sent = headerValue(call.request.headers, 'authorization') ?? '';
  const extra = /^\S+ ("|'|bearer |basic |authorization(?=:))/i.exec(sent)?.[1];
  if (extra !== undefined)
    return `the token of ${credentialSource} begins with ${extra.trim()}: leave that out`;
  return response?.status === 401
    ? `is the token of ${credentialSource} that of this service, and still valid?`
    : `the token of ${credentialSource} may not do this`;
}

function cache({ response }: Failure): string | undefined {
  const age = response && headerValue(response.headers, 'age');
  if (response?.status !== 412 || age === undefined) return undefined;
  return `a cache before the service has answered (Age: ${age}): let it pass on what has If-Match`;
}

/** Many gateways take 8 KB of headers. */
const largeHeaderBytes = 4000;

/** Names the largest header of a request, if a gateway may have refused it. */
function largeHeader({ call, response, error }: Failure): string | undefined {
  const isRefused = response?.status === 400 || response?.status === 431 || isClosed(error);
  if (!call || !isRefused) return undefined;
  const { client, request } = call;
  const sizes = Object.keys(request.headers).map((name) => ({
    name,
    bytes: Buffer.byteLength(headerValue(request.headers, name) ?? ''),
  }));
  const largest = sizes.sort((a, b) => b.bytes - a.bytes)[0];
  if (!largest || largest.bytes < largeHeaderBytes) return undefined;
  const { name, bytes } = largest;
  const isToken = client.credentialSource !== undefined && name === 'authorization';
  const header = isToken ? `the header with the token of ${client.credentialSource}` : `the header ${name}`;
  return `${header} has ${bytes} bytes, and many gateways take 8 KB of headers`;
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

function rule({ call, response, author }: Failure): string | undefined {
  const isRefusal = response?.status === 403 || response?.status === 405;
  if (!isRefusal || author !== 'gateway') return undefined;
  return `a rule of what stands before the service may refuse ${call?.request.method}: look at the addresses, the methods and the texts that it lets through`;
}

function address({ call, response, error, kind }: Failure): string | undefined {
  if (!call) return undefined;
  const { contract, baseUrl, doctor } = call.client;
  const look = `\`${doctor}\` looks at each step`;
  const { reason } = error?.details ?? {};
  if (reason === 'refused') return `is the service running, and the base URL right? ${look}`;
  const isAddressMissing = isMissingStatus(response?.status) && kind === 'unavailable';
  if (!isAddressMissing && reason !== 'dns') return undefined;
  const { basePath } = contract;
  if (isAddressMissing && basePath !== '' && baseUrl.endsWith(basePath))
    return `the description says that its operations lie below ${basePath}; if they do not, bind again with --base-path /`;
  return `is the base URL right? ${look}`;
}
