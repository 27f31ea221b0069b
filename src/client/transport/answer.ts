import { fieldValue, type HttpFields, type HttpResponse } from '../../api/http.ts';
import { messageOf, UnavailableError } from '../../process/errors.ts';
import { systemCode } from '../../process/system-error.ts';
import { formatBytes } from '../../process/text.ts';

/** The largest body in bytes, encoded or decoded: 64 MiB (for a list, of one page), or 64 KiB of an error. */
function maxBytesOf(status: number): number {
  return status >= 200 && status < 300 ? 64 * 1024 * 1024 : 64 * 1024;
}

/** Collects an answer while a transport reads it, up to a maximum length. */
export class Collector {
  readonly status: number;
  private readonly fields: HttpFields;
  private readonly maxBytes: number;
  private readonly chunks: Uint8Array[] = [];
  private length = 0;

  constructor(status: number, fields: HttpFields) {
    this.status = status;
    this.fields = fields;
    this.maxBytes = maxBytesOf(status);
  }

  /** The body of an error is read only for its message, so a part of it will do. */
  get isError(): boolean {
    return this.status >= 400;
  }

  /** False once the answer has reached the limit: the rest need not be read. */
  add(chunk: Uint8Array): boolean {
    this.length += chunk.length;
    if (this.length <= this.maxBytes) {
      this.chunks.push(chunk);
      return true;
    }
    const kept = chunk.length - (this.length - this.maxBytes);
    if (kept > 0) this.chunks.push(chunk.subarray(0, kept));
    return false;
  }

  /** The answer so far. */
  response(): HttpResponse {
    const [first] = this.chunks;
    const body = this.chunks.length === 1 && first ? first : Buffer.concat(this.chunks);
    return { status: this.status, fields: this.fields, body };
  }

  tooLong(): UnavailableError {
    return invalidAnswer(`the answer is longer than ${formatBytes(this.maxBytes)}`, {
      status: this.status,
    });
  }
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
    if (encoding === 'gzip' || encoding === 'x-gzip') return zlib.gunzipSync(bytes, options);
    if (encoding === 'br') return zlib.brotliDecompressSync(bytes, options);
    // Some servers send raw deflate, some the zlib form that RFC 9110 requires; the latter begins with 0x?8.
    if (encoding === 'deflate')
      return ((bytes[0] ?? 0) & 0x0f) === 8
        ? zlib.inflateSync(bytes, options)
        : zlib.inflateRawSync(bytes, options);
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
 * @param details `answer` is the body, if it is JSON of another shape. @see UnavailableError.answer
 */
export function invalidAnswer(
  why: string,
  details: { readonly status?: number; readonly answer?: unknown; readonly hint?: string | undefined } = {},
): UnavailableError {
  return new UnavailableError(why, { ...details, reason: 'invalid-response', sent: true });
}

/** Fields by lower-case name from alternating names and values; a repeated name gets a list. */
export function readFields(raw: readonly string[]): HttpFields {
  const fields = noFields();
  for (let at = 0; at + 1 < raw.length; at += 2)
    addField(fields, (raw[at] ?? '').toLowerCase(), raw[at + 1] ?? '');
  return fields;
}

/**
 * Reads the fields of successive answers. Most fields equal those of the previous answer, and their strings are reused:
 * comparing bytes takes a third of the time of decoding, which is a native call for each string.
 */
export class FieldReader {
  /** Alternating names and values of the last answer, and the names in lower case at the same indexes. */
  private readonly texts: string[] = [];
  private readonly names: string[] = [];

  /** @param raw alternating names and values. */
  read(raw: readonly Buffer[]): HttpFields {
    const fields = noFields();
    for (let at = 0; at + 1 < raw.length; at += 2) {
      if (this.renew(raw, at)) this.names[at] = (this.texts[at] ?? '').toLowerCase();
      this.renew(raw, at + 1);
      addField(fields, this.names[at] ?? '', this.texts[at + 1] ?? '');
    }
    return fields;
  }

  /** Updates the text at an index; returns false if it was up to date. */
  private renew(raw: readonly Buffer[], at: number): boolean {
    const bytes = raw[at];
    if (!bytes || isText(bytes, this.texts[at])) return false;
    this.texts[at] = bytes.toString('latin1');
    return true;
  }
}

type Fields = Record<string, string | string[]>;

/** Creates an object without a prototype, like `Object.create(null)`, but not in V8's slow dictionary mode. */
function FieldMap() {}
FieldMap.prototype = Object.create(null);

function noFields(): Fields {
  return new (FieldMap as unknown as new () => Fields)();
}

function addField(fields: Fields, name: string, value: string): void {
  const before = fields[name];
  if (before === undefined) fields[name] = value;
  else if (typeof before === 'string') fields[name] = [before, value];
  else before.push(value);
}

function isText(bytes: Buffer, text: string | undefined): boolean {
  if (text?.length !== bytes.length) return false;
  for (let at = 0; at < bytes.length; at += 1) if (text.charCodeAt(at) !== bytes[at]) return false;
  return true;
}
