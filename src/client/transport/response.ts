import { type HttpHeaders, type HttpResponse, headerValue } from '../../api/http.ts';
import { messageOf } from '../../process/errors.ts';
import { systemCode } from '../../process/system-error.ts';
import { formatBytes } from '../../process/text.ts';
import { invalidResponse, transportError } from './transport-error.ts';

/** The largest body in bytes, encoded or decoded: 32 MiB (for a list, of one page), or 64 KiB of an error. */
function maxBytesOf(status: number): number {
  return status >= 200 && status < 300 ? 32 * 1024 * 1024 : 64 * 1024;
}

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

  /** @param rawHeaders alternating names and values. */
  begin(status: number, rawHeaders: readonly string[]): void {
    this.head = { status, headers: readHeaders(rawHeaders) };
  }

  /** Adds a part of the body. @returns false if the response is now longer than allowed: the promise is settled, and the rest need not be read. */
  add(chunk: Uint8Array): boolean {
    const { status = 0 } = this.head ?? {};
    const maxBytes = maxBytesOf(status);
    const room = maxBytes - this.length;
    this.length += chunk.length;
    this.chunks.push(chunk.length > room ? chunk.subarray(0, Math.max(0, room)) : chunk);
    if (chunk.length <= room) return true;
    this.fail(invalidResponse(`the answer is longer than ${formatBytes(maxBytes)}`, { status }));
    return false;
  }

  /** Fulfils the promise with the response that has been read. */
  end(): void {
    if (!this.head) return;
    const [first] = this.chunks;
    const body = this.chunks.length === 1 && first ? first : Buffer.concat(this.chunks);
    this.resolve({ ...this.head, body });
  }

  /** Rejects the promise. A response with an error status fulfils it: a part of its body is enough for its message. */
  fail(error: Error): void {
    if (this.head && this.head.status >= 400) this.end();
    else this.reject(transportError(error, { status: this.head?.status }));
  }
}

/**
 * Decodes the content encodings of a response. If the body of an error status cannot be decoded, it becomes empty.
 *
 * @throws CliError if the body of another response is truncated, broken or too long, or if its encoding is unknown.
 */
export async function decodeBody(response: HttpResponse): Promise<HttpResponse> {
  const { status, headers, body } = response;
  const encodings = (headerValue(headers, 'content-encoding') ?? '').toLowerCase().split(/[\s,]+/);
  let bytes: Uint8Array = typeof body === 'string' ? Buffer.from(body) : body;
  try {
    for (const encoding of encodings.reverse())
      if (encoding !== '' && encoding !== 'identity' && bytes.length > 0)
        bytes = await undoEncoding(encoding, bytes, maxBytesOf(status));
  } catch (error) {
    if (status < 400) throw error;
    bytes = new Uint8Array();
  }
  return { status, headers, body: bytes };
}

async function undoEncoding(
  encoding: string,
  bytes: Uint8Array,
  maxOutputLength: number,
): Promise<Uint8Array> {
  const zlib = await import('node:zlib');
  const options = { maxOutputLength };
  try {
    if (encoding === 'br') return zlib.brotliDecompressSync(bytes, options);
    // `unzip` tells gzip and deflate apart by their first bytes.
    if (/^(x-gzip|gzip|deflate)$/.test(encoding)) return zlib.unzipSync(bytes, options);
  } catch (error) {
    if (systemCode(error) === 'ERR_BUFFER_TOO_LARGE')
      throw invalidResponse(`the body is longer than ${formatBytes(maxOutputLength)}`);
    throw invalidResponse(`the body is not valid ${encoding}: ${messageOf(error)}`);
  }
  throw invalidResponse(
    `the body is encoded as ${encoding}, which was not asked for and which this program cannot read`,
  );
}

/** Returns headers by lower-case name, from alternating names and values. A repeated name has a list of values. */
function readHeaders(raw: readonly string[]): HttpHeaders {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  return headers;
}
