import type { PeerCertificate } from 'node:tls';
import { bareHost, fieldValue, type HttpFields, type HttpResponse } from '../../api/http.ts';
import { messageOf, UnavailableError, type UnavailableReason } from '../../process/errors.ts';
import { systemCode, systemReason } from '../../process/system-error.ts';
import { formatBytes, shorten } from '../../process/text.ts';

/** The largest body in bytes, encoded or decoded: 32 MiB (for a list, of one page), or 64 KiB of an error. */
function maxBytesOf(status: number): number {
  return status >= 200 && status < 300 ? 32 * 1024 * 1024 : 64 * 1024;
}

/** Collects an answer while a transport reads it, up to a maximum length. */
export class Collector {
  private readonly status: number;
  private readonly fields: HttpFields;
  private readonly settle: Settle;
  private readonly maxBytes: number;
  private readonly chunks: Uint8Array[] = [];
  private length = 0;

  constructor(status: number, fields: HttpFields, settle: Settle) {
    this.status = status;
    this.fields = fields;
    this.settle = settle;
    this.maxBytes = maxBytesOf(status);
  }

  /** False once the answer has reached the limit: it is settled, and the rest need not be read. */
  add(chunk: Uint8Array): boolean {
    this.length += chunk.length;
    const excess = this.length - this.maxBytes;
    if (excess <= 0) {
      this.chunks.push(chunk);
      return true;
    }
    this.chunks.push(chunk.subarray(0, Math.max(0, chunk.length - excess)));
    const why = `the answer is longer than ${formatBytes(this.maxBytes)}`;
    this.fail(invalidAnswer(why, { status: this.status }));
    return false;
  }

  end(): void {
    const [first] = this.chunks;
    const body = this.chunks.length === 1 && first ? first : Buffer.concat(this.chunks);
    this.settle.resolve({ status: this.status, fields: this.fields, body });
  }

  /** The body of an error is read only for its message, so a part of it will do. */
  fail(error: Error): void {
    if (this.status >= 400) this.end();
    else this.settle.reject(toUnavailable(error, { sent: true }));
  }
}

/** Settles the promise of an answer. */
export interface Settle {
  resolve(response: HttpResponse): void;
  reject(error: unknown): void;
}

/**
 * The answer with its content encodings decoded. An error whose body cannot be decoded gets an empty one.
 *
 * @throws UnavailableError if the body of any other answer is truncated, broken or too long, or if its encoding is
 *   unknown.
 */
export async function decoded(response: HttpResponse): Promise<HttpResponse> {
  const { status, fields, body } = response;
  const encodings = (fieldValue(fields, 'content-encoding') ?? '').toLowerCase().split(/[\s,]+/);
  let bytes: Uint8Array = typeof body === 'string' ? Buffer.from(body) : body;
  try {
    for (const encoding of encodings.reverse())
      if (encoding !== '' && encoding !== 'identity' && bytes.length > 0)
        bytes = await undo(encoding, bytes, maxBytesOf(status));
  } catch (error) {
    if (status < 400) throw error;
    bytes = new Uint8Array();
  }
  return { status, fields, body: bytes };
}

async function undo(encoding: string, bytes: Uint8Array, maxOutputLength: number): Promise<Uint8Array> {
  const zlib = await import('node:zlib');
  const options = { maxOutputLength };
  try {
    if (encoding === 'br') return zlib.brotliDecompressSync(bytes, options);
    // It tells gzip and deflate apart by their first bytes.
    if (/^(x-gzip|gzip|deflate)$/.test(encoding)) return zlib.unzipSync(bytes, options);
  } catch (error) {
    if (systemCode(error) === 'ERR_BUFFER_TOO_LARGE')
      throw invalidAnswer(`the body is longer than ${formatBytes(maxOutputLength)}`);
    throw invalidAnswer(`the body is not valid ${encoding}: ${messageOf(error)}`);
  }
  throw invalidAnswer(
    `the body is encoded as ${encoding}, which was not asked for and which this program cannot read`,
  );
}

/**
 * The error of an answer that is not valid although its status is a success.
 *
 * @param why a clause.
 */
export function invalidAnswer(
  why: string,
  details: { readonly status?: number; readonly hint?: string | undefined } = {},
): UnavailableError {
  return new UnavailableError(why, { ...details, reason: 'invalid-response', sent: true });
}

/** Fields by lower-case name from alternating names and values; a repeated name gets a list. */
export function readFields(raw: readonly string[]): HttpFields {
  const fields: Record<string, string | string[]> = Object.create(null);
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    const value = raw[at + 1] ?? '';
    const before = fields[name];
    fields[name] = before === undefined ? value : [before, value].flat();
  }
  return fields;
}

/** Turns the error of a socket or of the HTTP parser into an UnavailableError. */
export function toUnavailable(error: Error, { sent }: { readonly sent: boolean }): UnavailableError {
  if (error instanceof UnavailableError) return error;
  const root = rootOf(error);
  // undici's parser gives some of its errors no code.
  const code = systemCode(root) ?? root.name;
  const reason = reasons.find(([codes]) => codes.test(code))?.[1] ?? 'reset';
  const hint = tlsHints.find(([codes]) => codes.test(code))?.[1];
  return new UnavailableError(describe(root, code, reason), { reason, sent, hint, cause: error });
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

const tlsHints: readonly (readonly [codes: RegExp, hint: string])[] = [
  [
    /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/,
    'if you trust its authority, name its certificate: `petstore config set ca-cert <file>`',
  ],
  [
    /ALERT_(CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|UNKNOWN_CA)/,
    'the service may want a client certificate that it knows: `petstore config set client-cert <file>`',
  ],
];

function describe(error: Error, code: string, reason: UnavailableReason): string {
  if (reason === 'reset') return 'the connection was closed before the whole answer came';
  if (reason === 'invalid-response') return `invalid HTTP response: ${error.message}`;
  if (reason === 'tls') return `TLS: ${plainTls(error, code)}`;
  const why = systemReason(error, 'connection');
  const { address, port, hostname } = error as { address?: string; port?: number; hostname?: string };
  if (code === 'EAI_AGAIN') return `the name ${hostname ?? ''} ${why}`;
  if (code === 'ENOTFOUND' && hostname) return `${why}: ${hostname}`;
  if (!/^(ECONNREFUSED|E(HOST|NET)UNREACH|ETIMEDOUT)$/.test(code) || !address) return why;
  return `${address.includes(':') ? `[${address}]` : address}:${port}: ${why}`;
}

/**
 * The reason in OpenSSL's line `40A7...:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/...`; of
 * a certificate, the reason without the advice that Node 24 adds, which is about a flag of node.
 */
function plainTls(error: Error, code: string): string {
  const { message } = error;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return wrongName(error as NameError);
  if (code !== 'EPROTO' && !code.startsWith('ERR_SSL')) return message.replace(/; if the root CA .*/, '');
  const why = /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+)/.exec(message)?.[1] ?? message;
  return why === 'wrong version number' || why === 'packet length too long'
    ? `${why}; the server may speak plain http`
    : why;
}

/** The certificate of a service does not bear its name. */
interface NameError extends Error {
  readonly host: string;
  readonly cert: PeerCertificate;
}

/** Names in a certificate that are listed. */
const mostNames = 5;

function wrongName({ host, cert: { subject, subjectaltname } }: NameError): string {
  const names = subjectaltname?.split(', ').map((name) => name.replace(/^[\w ]+:/, '')) ?? [subject?.CN];
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : '';
  const listed = names.filter(Boolean).slice(0, mostNames).join(', ') || 'nobody';
  return `the certificate is not for ${bareHost(host)}, but for ${shorten(listed, 300)}${more}`;
}
