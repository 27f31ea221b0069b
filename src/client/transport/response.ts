import type { HttpHeaders, HttpResponse } from '../../api/http.ts';
import {
  CliError,
  type ErrorDetails,
  type NoAnswer,
  systemCode,
  systemReason,
} from '../../process/errors.ts';
import { bytesText, durationText, shorten } from '../../process/text.ts';

/** Collects the response to a request while a transport reads it, up to a maximum length. */
export class ResponseCollector {
  readonly response: Promise<HttpResponse>;
  private resolve!: (response: HttpResponse) => void;
  private reject!: (error: Error) => void;
  private head: Pick<HttpResponse, 'status' | 'headers'> | undefined;
  private readonly chunks: Uint8Array[] = [];
  private length = 0;

  constructor() {
    this.response = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** @param rawHeaders alternating names and values, as texts or in Latin-1. */
  begin(status: number, rawHeaders: readonly (string | Buffer)[]): void {
    this.head = { status, headers: readHeaders(rawHeaders) };
  }

  /** Adds a part of the body. @returns false if the response is too long: the promise is settled, and the rest need not be read. */
  add(chunk: Uint8Array): boolean {
    const { status = 0 } = this.head ?? {};
    // 32 MiB, for a list of one page; or 64 KiB of an error.
    const maxBytes = status >= 200 && status < 300 ? 32 * 1024 * 1024 : 64 * 1024;
    const room = maxBytes - this.length;
    this.length += chunk.length;
    this.chunks.push(chunk.length > room ? chunk.subarray(0, Math.max(0, room)) : chunk);
    if (chunk.length <= room) return true;
    this.fail(invalidResponse(`the answer is longer than ${bytesText(maxBytes)}`, { status }));
    return false;
  }

  /** Settles the promise by the response. An error with a compressed body loses the body, but keeps its status. */
  end(): void {
    if (!this.head) return;
    const [first] = this.chunks;
    const body = this.chunks.length === 1 && first ? first : Buffer.concat(this.chunks);
    const { status, headers } = this.head;
    const encoding = encodingOf(headers);
    if (encoding === undefined || body.length === 0) this.resolve({ status, headers, body });
    else if (status >= 300) this.resolve({ status, headers, body: new Uint8Array() });
    else
      this.fail(
        invalidResponse(`the body is encoded as ${encoding}, although no encoding was asked for`, { status }),
      );
  }

  /** Rejects the promise. A response with an error status fulfils it, because a part of its body is enough for the message. */
  fail(error: Error): void {
    if (this.head && this.head.status >= 400) this.end();
    else this.reject(transportError(error, this.head?.status));
  }
}

/** Returns the content encoding of a body. A plain body has none. */
export function encodingOf(headers: HttpHeaders): string | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  return encoding === '' || encoding === 'identity' ? undefined : encoding;
}

/** Returns headers by lower-case name, from alternating names and values. */
function readHeaders(raw: readonly (string | Buffer)[]): HttpHeaders {
  const headers: Record<string, string> = Object.create(null);
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = latin1(raw[index]).toLowerCase();
    const value = latin1(raw[index + 1]);
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return headers;
}

function latin1(text: string | Buffer = ''): string {
  return typeof text === 'string' ? text : text.toString('latin1');
}

/** Makes the error of a request without a valid answer: exit 6, or exit 1 for a redirect that is not followed. @param why a clause. */
export function noAnswerError(
  noAnswer: NoAnswer,
  why: string,
  details: Omit<ErrorDetails, 'noAnswer'> = {},
): CliError {
  return new CliError(noAnswer === 'redirect' ? 'failed' : 'unavailable', why, { ...details, noAnswer });
}

/** Makes the error of a call whose time has run out. */
export function timeoutError(timeoutMs: number): CliError {
  return noAnswerError('timeout', `no answer within ${durationText(timeoutMs)}`);
}

/** Makes the error of a success that is not valid. @param why a clause. */
export function invalidResponse(
  why: string,
  details: { readonly status?: number; readonly hint?: string | undefined } = {},
): CliError {
  return noAnswerError('invalid-response', why, details);
}

/**
 * Turns the error of a socket or of the HTTP parser into the error of a request.
 *
 * @param status the status of the response, if its head has come.
 */
export function transportError(error: Error, status?: number): CliError {
  if (error instanceof CliError) return error;
  // Several addresses were tried and all failed: report the last error.
  const root =
    error instanceof AggregateError ? ((error.errors.at(-1) as Error | undefined) ?? error) : error;
  // undici's parser gives some of its errors no code.
  const code = systemCode(root) ?? root.name;
  const noAnswer = noAnswerByCode.find(([codes]) => codes.test(code))?.[1] ?? 'reset';
  const details = { status, cause: root };
  if (/^(HPE_|HTTPParserError|UND_ERR_(HEADERS_OVERFLOW|RESPONSE|RES_))/.test(code))
    return noAnswerError('reset', `invalid HTTP response: ${root.message}`, details);
  if (noAnswer === 'reset') {
    const answer = status === undefined ? 'an' : 'the whole';
    return noAnswerError(noAnswer, `the connection was closed before ${answer} answer came`, details);
  }
  return noAnswerError(noAnswer, clauseFor(root, noAnswer), details);
}

/** The meanings of error codes. The first match decides; any other code means that the connection broke. */
const noAnswerByCode: readonly (readonly [codes: RegExp, noAnswer: NoAnswer])[] = [
  [/^(ENOTFOUND|EAI_)/, 'dns'],
  // The last is a process of Node without --allow-net.
  [/^(ECONNREFUSED|EHOST|ENET|EADDR|EACCES|EPERM|ERR_ACCESS_DENIED)/, 'connection-refused'],
  [/TIMEDOUT|TIMEOUT/, 'timeout'],
  [/^(ERR_SSL|ERR_TLS|ERR_OSSL|EPROTO|CERT_|UNABLE_|CRL_|ERROR_IN_|OUT_OF_MEM)|CERT|ISSUER/, 'tls'],
];

function clauseFor(error: Error, noAnswer: NoAnswer): string {
  if (noAnswer === 'tls') return `TLS: ${tlsClause(error)}`;
  const why = systemReason(error);
  const { hostname } = error as { hostname?: string };
  return noAnswer === 'dns' && hostname ? `${why}: ${hostname}` : why;
}

/**
 * Returns the message of Node, or the reason in a line of OpenSSL: `40A7...:error:0A00010B:SSL routines:ssl3_get_record:wrong
 * version number:../deps/...`. Leaves out what Node 24 adds about a flag of node.
 */
function tlsClause({ message }: Error): string {
  const why = /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+)/.exec(message)?.[1];
  return shorten(why ?? message.replace(/; if the root CA .*|: +$/, ''), 300);
}
