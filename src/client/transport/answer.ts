import { fieldValue, type HttpFields, type HttpResponse } from '../../api/http.ts';
import { messageOf } from '../../process/errors.ts';
import { systemCode } from '../../process/system-error.ts';
import { formatBytes } from '../../process/text.ts';
import { invalidAnswer, transportError } from './transport-error.ts';

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
    else this.settle.reject(transportError(error));
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
 * @throws CliError if the body of any other answer is truncated, broken or too long, or if its encoding is
 *   unknown.
 */
export async function decodeBody(response: HttpResponse): Promise<HttpResponse> {
  const { status, fields, body } = response;
  const encodings = (fieldValue(fields, 'content-encoding') ?? '').toLowerCase().split(/[\s,]+/);
  let bytes: Uint8Array = typeof body === 'string' ? Buffer.from(body) : body;
  try {
    for (const encoding of encodings.reverse())
      if (encoding !== '' && encoding !== 'identity' && bytes.length > 0)
        bytes = await undoEncoding(encoding, bytes, maxBytesOf(status));
  } catch (error) {
    if (status < 400) throw error;
    bytes = new Uint8Array();
  }
  return { status, fields, body: bytes };
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
