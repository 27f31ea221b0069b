import { isUtf8 } from 'node:buffer';
import { fieldValue, type HttpResponse } from '../api/http.ts';
import { messageOf } from '../errors.ts';

/** Most bytes of an answer, a page of a list included, sent or decoded. */
export const maxAnswerBytes = 64 * 1024 * 1024;
/** Most bytes of an error's body, likewise. */
export const maxErrorBytes = 64 * 1024;

/** Why a body cannot be read, a clause. */
export class BodyError extends Error {}

/** Whether the body came in a content encoding. */
export function isEncoded({ fields }: HttpResponse): boolean {
  return fields['content-encoding'] !== undefined;
}

/**
 * The body of an answer as bytes, its content encodings undone.
 *
 * @param maxBytes of the decoded body, however small it came.
 * @throws BodyError for an encoding that is not known, a body that is cut short or broken, or one that is too long.
 */
export async function decodeBody({ fields, body }: HttpResponse, maxBytes: number): Promise<Uint8Array> {
  let bytes: Uint8Array = typeof body === 'string' ? Buffer.from(body) : body;
  const encodings = fieldValue(fields, 'content-encoding');
  for (const encoding of encodings
    ?.toLowerCase()
    .split(/[\s,]+/)
    .reverse() ?? [])
    if (encoding !== '' && encoding !== 'identity' && bytes.length > 0)
      bytes = await undo(encoding, bytes, maxBytes);
  if (bytes.length > maxBytes) throw tooLong(maxBytes);
  return bytes;
}

/** @throws BodyError for bytes that are no UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new BodyError('the body is no UTF-8');
  return asBuffer(bytes).toString('utf8');
}

/** The first bytes of a body as text for people: one line, what is no text shown as replacement characters. */
export function excerpt(bytes: Uint8Array): string {
  const most = 200;
  const text = asBuffer(bytes.subarray(0, most)).toString('utf8').replace(/\s+/g, ' ').trim();
  return bytes.length > most ? `${text}...` : text;
}

export function isJsonType(type: string | undefined): boolean {
  if (type === 'application/json') return true;
  return type !== undefined && /^application\/([\w.!#$&^-]+\+)?json$/i.test(mediaType(type));
}

/** A content type without its parameters. */
export function mediaType(type: string): string {
  return type.split(';', 1)[0]?.trim() ?? '';
}

async function undo(encoding: string, bytes: Uint8Array, maxOutputLength: number): Promise<Uint8Array> {
  const zlib = await import('node:zlib');
  const options = { maxOutputLength };
  try {
    if (encoding === 'gzip' || encoding === 'x-gzip') return zlib.gunzipSync(bytes, options);
    if (encoding === 'br') return zlib.brotliDecompressSync(bytes, options);
    // Some servers send raw deflate, some the zlib form that RFC 9110 asks for; the latter begins with 0x?8.
    if (encoding === 'deflate')
      return ((bytes[0] ?? 0) & 0x0f) === 8
        ? zlib.inflateSync(bytes, options)
        : zlib.inflateRawSync(bytes, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLong(maxOutputLength);
    throw new BodyError(`the body is no valid ${encoding}: ${messageOf(error)}`);
  }
  throw new BodyError(
    `the body is encoded as ${encoding}, which nobody asked for and this program cannot read`,
  );
}

function tooLong(maxBytes: number): BodyError {
  return new BodyError(`the body is longer than ${describeBytes(maxBytes)}`);
}

export function describeBytes(bytes: number): string {
  return bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 10} KiB`;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
