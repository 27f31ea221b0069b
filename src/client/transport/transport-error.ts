import type { PeerCertificate } from 'node:tls';
import { bareHost } from '../../api/http.ts';
import { CliError, type UnavailableReason, unansweredError } from '../../process/errors.ts';
import { systemCode, systemReason } from '../../process/system-error.ts';
import { joinFirst, shorten } from '../../process/text.ts';

/**
 * Makes the error of a response that is not valid although its status is a success.
 *
 * @param why a clause.
 */
export function invalidResponse(
  why: string,
  details: { readonly status?: number; readonly hint?: string | undefined } = {},
): CliError {
  return unansweredError('invalid-response', why, details);
}

/**
 * Turns the error of a socket or of the HTTP parser into the error of a request.
 *
 * @param options.namesPlace false if the message need not name the address of a refused connection, or TLS.
 * @param options.status the status of the response, if its head has come.
 */
export function transportError(
  error: Error,
  { namesPlace = true, status }: { readonly namesPlace?: boolean; readonly status?: number | undefined } = {},
): CliError {
  if (error instanceof CliError) return error;
  const root = rootOf(error);
  // undici's parser gives some of its errors no code.
  const code = systemCode(root) ?? root.name;
  const reason = reasons.find(([codes]) => codes.test(code))?.[1] ?? 'reset';
  if (reason === 'invalid-response' && isTlsAlert(root))
    return unansweredError('tls', 'the port speaks TLS, not plain http', { hint: secureHint, cause: error });
  const hint = tlsHints.find(([words]) => words.test(`${code} ${root.message}`))?.[1];
  const place = namesPlace ? placeOf(root, code, reason) : '';
  const clause =
    reason === 'reset'
      ? `the connection was closed before ${status === undefined ? 'an' : 'the whole'} answer came`
      : clauseFor(root, code, reason);
  return unansweredError(reason, `${place}${clause}`, { hint, status, cause: error });
}

/** Several addresses were tried and all failed: report the last error. */
function rootOf(error: Error): Error {
  return error instanceof AggregateError ? ((error.errors.at(-1) as Error | undefined) ?? error) : error;
}

/** The first match decides; any other code means that the connection broke. */
const reasons: readonly (readonly [codes: RegExp, reason: UnavailableReason])[] = [
  [/^(ENOTFOUND|EAI_)/, 'dns'],
  [/^(ECONNREFUSED|EHOST|ENET|EADDR|EACCES|EPERM)/, 'refused'],
  [/TIMEDOUT|TIMEOUT/, 'timeout'],
  [/^(HPE_|HTTPParserError|UND_ERR_(HEADERS_OVERFLOW|RESPONSE|RES_))/, 'invalid-response'],
  [/^(ERR_SSL|ERR_TLS|ERR_OSSL|EPROTO|CERT_|UNABLE_|CRL_|ERROR_IN_|OUT_OF_MEM)|CERT|ISSUER/, 'tls'],
];

export const secureHint = 'begin the base URL with https://';

/** Whether the bytes that are no HTTP response are an alert of TLS, which answers a request in plain http. @see RFC 8446, 5.1 */
function isTlsAlert(error: Error): boolean {
  // Node's parser gives the bytes, undici's the text.
  const { rawPacket, data } = error as { rawPacket?: Uint8Array; data?: unknown };
  if (rawPacket) return rawPacket[0] === 0x15 && rawPacket[1] === 3;
  return typeof data === 'string' && data.startsWith('\x15\x03');
}

/** What to do about a certificate whose authority is unknown. */
export const trustHint =
  'if you trust its authority, name it in the setting ca-cert (PETSTORE_CA_CERT=<file>)';

export const clientCertificateHint = 'name one in the setting client-cert (PETSTORE_CLIENT_CERT=<file>)';

const tlsHints: readonly (readonly [words: RegExp, hint: string])[] = [
  [/SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/, trustHint],
  [
    /alert[ _](certificate[ _]required|handshake[ _]failure|bad[ _]certificate|certificate[ _]unknown|unknown[ _]ca)/i,
    `if the service wants a client certificate, ${clientCertificateHint}`,
  ],
];

function clauseFor(error: Error, code: string, reason: UnavailableReason): string {
  if (/OVERFLOW/.test(code)) return 'the headers of the answer are larger than 16 KiB';
  if (reason === 'invalid-response') return `invalid HTTP response: ${error.message}`;
  if (reason === 'tls') return tlsClause(error, code);
  const why = systemReason(error, 'connection');
  const { hostname } = error as { hostname?: string };
  if (code === 'EAI_AGAIN') return `the name ${hostname ?? ''} ${why}`;
  return code === 'ENOTFOUND' && hostname ? `${why}: ${hostname}` : why;
}

/** Names TLS, or the address of a connection that failed, at the start of a message. */
function placeOf(error: Error, code: string, reason: UnavailableReason): string {
  if (reason === 'tls') return 'TLS: ';
  const { address, port } = error as { address?: string; port?: number };
  if (!/^(ECONNREFUSED|E(HOST|NET)UNREACH|ETIMEDOUT)$/.test(code) || !address) return '';
  return `${address.includes(':') ? `[${address}]` : address}:${port}: `;
}

/** Says why TLS failed. Leaves out the advice that Node 24 adds for a certificate, which is about a flag of node. */
function tlsClause(error: Error, code: string): string {
  const { message } = error;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return nameClause(error as NameError);
  if (/^CERT_(NOT_YET_VALID|HAS_EXPIRED)$/.test(code))
    return `the ${message}; the clock here says ${new Date().toISOString().slice(0, 16)}Z`;
  if (code !== 'EPROTO' && !code.startsWith('ERR_SSL')) return message.replace(/; if the root CA .*/, '');
  const why = opensslReason(error) ?? message;
  return isPlainHttpError(error) ? `${why}; the server may speak plain http` : why;
}

/** Returns the reason in a line of OpenSSL: `40A7...:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/...`. */
function opensslReason({ message }: Error): string | undefined {
  return /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+)/.exec(message)?.[1];
}

/** Whether a TLS handshake probably failed because the server speaks plain http. */
export function isPlainHttpError(error: Error): boolean {
  return ['wrong version number', 'packet length too long'].includes(opensslReason(error) ?? '');
}

/** The certificate of a service does not bear its name. */
interface NameError extends Error {
  readonly host: string;
  readonly cert: PeerCertificate;
}

/** How many names of a certificate a message lists. */
const mostNames = 5;

function nameClause({ host, cert: { subject, subjectaltname } }: NameError): string {
  const names = subjectaltname?.split(', ').map((name) => name.replace(/^[\w ]+:/, '')) ?? [subject?.CN];
  const list = joinFirst(names.filter(Boolean), mostNames) || 'nobody';
  return `the certificate is not for ${bareHost(host)}, but for ${shorten(list, 300)}`;
}
