import { isUtf8 } from 'node:buffer';
import * as v from 'valibot';
import { fieldValue, type HttpResponse } from '../api/http.ts';
import { type Operation, operations } from '../api/operations.ts';
import { boundResultSchemas, type ResultName, resultSchemas } from '../api/schemas.ts';
import { reasonOf } from '../api/shapes.ts';
import type { Cancellation } from '../deadline.ts';
import { messageOf } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, parseJsonArray } from '../json.ts';

/** The largest answer in bytes, encoded or decoded; for a list, of one page. */
export const maxAnswerBytes = 64 * 1024 * 1024;
/** The largest body of an error in bytes, encoded or decoded. */
export const maxErrorBytes = 64 * 1024;

/** An answer with a success status is not valid; the message is a clause. */
export class InvalidAnswerError extends Error {
  /** The body, if it is JSON of another shape. */
  readonly answer: JsonValue | undefined;

  constructor(message: string, answer?: JsonValue) {
    super(message);
    this.answer = answer;
  }
}

/** The expected answer to an operation. */
interface Expected {
  readonly operation: Operation;
  /** The requested id, if the request names one record. */
  readonly id: bigint | undefined;
  /** Masks secrets in the parts of the body that an error shows. */
  readonly mask?: ((text: string) => string) | undefined;
  /** Runs long work, such as parsing a very long list, which checks its cancellation now and then. */
  within(work: (cancellation: Cancellation) => Promise<unknown>): Promise<unknown>;
}

/**
 * The records of a successful answer: all fields in the service's order, also unknown ones, ids as bigints. Undefined
 * if the operation has no result, or if a write is answered without a body. A promise if the list is very long.
 *
 * @param response its content encodings decoded.
 * @throws InvalidAnswerError for another media type, text that is not UTF-8 or JSON, JSON of another shape, or a record
 *   with another id than the requested one.
 */
export function readResult(expected: Expected, response: HttpResponse): unknown {
  const { result, many, id } = expected.operation;
  if (!result) {
    checkBareSuccess(expected, response);
    return undefined;
  }
  const text = readJsonText(expected, response);
  if (text === undefined) {
    if (operations[id].method !== 'GET') return undefined;
    throw new InvalidAnswerError(`answered ${response.status} with no body`);
  }
  const parts = many ? parseJsonArray(text) : undefined;
  if (parts) return expected.within((cancellation) => readParts(expected, parts, cancellation));
  const value = parse(() => parseJson(text));
  if (!many) return checkId(expected, toRecord(expected.operation, value, ''));
  if (!Array.isArray(value)) throw new InvalidAnswerError(`the body is not a list of ${result}`);
  return value.map((item, index) => toRecord(expected.operation, item, `/${index}`));
}

async function readParts(
  { operation }: Expected,
  parts: Iterable<JsonValue[]>,
  cancellation: Cancellation,
): Promise<JsonObject[]> {
  const records: JsonObject[] = [];
  const iterator = parts[Symbol.iterator]();
  for (let next = parse(() => iterator.next()); !next.done; next = parse(() => iterator.next())) {
    for (const item of next.value) records.push(toRecord(operation, item, `/${records.length}`));
    await new Promise(setImmediate);
    if (cancellation.isCancelled) throw cancellation.reason;
  }
  return records;
}

/**
 * Where no record is promised the body does not matter, unless it denies the success: it is an Error, or about another record.
 *
 * @throws InvalidAnswerError
 */
function checkBareSuccess(expected: Expected, response: HttpResponse): void {
  if (!isJsonType(fieldValue(response.fields, 'content-type'))) return;
  let value: JsonValue;
  try {
    value = parseJson(Buffer.from(response.body).toString('utf8'));
  } catch {
    return;
  }
  if (!isJsonObject(value)) return;
  const { code, message } = value;
  if (typeof code === 'string' && typeof message === 'string')
    throw new InvalidAnswerError(`answered ${response.status} with an error: ${message}`, value);
  checkId(expected, value);
}

/** The text of a JSON answer; undefined if the body is empty. */
function readJsonText({ mask }: Expected, { status, fields, body }: HttpResponse): string | undefined {
  if (body.length === 0) return undefined;
  const type = fieldValue(fields, 'content-type');
  if (!isJsonType(type)) {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const what = type ? mediaType(type) : 'no content type';
    throw new InvalidAnswerError(`answered ${status} with ${what}, not JSON: ${excerpt(bytes, mask)}`);
  }
  if (typeof body === 'string') return body;
  if (!isUtf8(body)) throw new InvalidAnswerError('the body is not UTF-8');
  return asBuffer(body).toString('utf8');
}

function parse<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    // The message quotes the body, part of which may be a secret that cannot be masked because it is cut.
    const why = messageOf(error).replace(/, (?:\.\.\.)?".*" is not valid JSON$/s, '');
    throw new InvalidAnswerError(`the body is not valid JSON: ${why}`);
  }
}

/** @param pointer JSON pointer to the record in the body. */
function toRecord({ result = 'Pet', source }: Operation, value: JsonValue, pointer: string): JsonObject {
  const checked = v.safeParse((source === 'bound' ? boundResultSchemas : resultSchemas)[result], value);
  if (checked.success && isJsonObject(value)) return Object.assign(value, checked.output);
  const [issue] = checked.issues ?? [];
  const path = (issue?.path ?? []).map(({ key }) => `/${String(key)}`).join('');
  const where = `${pointer}${path}` || 'it';
  throw new InvalidAnswerError(
    `the body is not ${nounPhrases[result]}: ${where} ${issue ? reasonOf(issue) : ''}`,
    value,
  );
}

const nounPhrases: Readonly<Record<ResultName, string>> = {
  Pet: 'a Pet',
  Category: 'a Category',
  Order: 'an Order',
  InventoryItem: 'an InventoryItem',
};

/** An inventory entry is identified by the id of its pet. */
function checkId({ operation: { noun }, id: asked }: Expected, record: JsonObject): JsonObject {
  const name = noun === 'inventory' ? 'petId' : 'id';
  const id = record[name];
  if (asked === undefined || id === undefined || id === null || id === asked) return record;
  throw new InvalidAnswerError(
    `the answer is about another record: its ${name} is ${String(id)}, not ${asked}`,
  );
}

/** The error that a service describes in a body of any shape. */
interface Refusal {
  /** Its message with the status, or a replacement for it. */
  readonly why: string;
  /** The service's own code. */
  readonly code: string | undefined;
  /** The service's own message, without the status. */
  readonly message?: string | undefined;
}

/**
 * Reads the body of an error: the service's own `{code, message, status}`, problem details (RFC 9457), other JSON with
 * a message, text, nothing, or garbage. Never throws.
 *
 * @param mask masks secrets in the body before it is cut.
 */
export async function readRefusal(
  response: HttpResponse,
  mask: (text: string) => string = (text) => text,
): Promise<Refusal> {
  const { status } = response;
  const bytes = await decodeBody(response, maxErrorBytes).catch(() => new Uint8Array());
  if (bytes.length === 0) return { why: `answered ${status}, with no reason given`, code: undefined };
  const type = fieldValue(response.fields, 'content-type');
  const value = type === undefined || isJsonType(type) ? tryJson(bytes) : undefined;
  const message = value === undefined ? undefined : messageIn(value);
  if (message !== undefined) {
    const code = codeIn(value);
    return described(oneLine(mask(message)), status, code && oneLine(mask(code), 100));
  }
  const text = excerpt(bytes, mask);
  if (type !== undefined && mediaType(type) === 'text/plain') return described(text, status);
  const what = type === undefined ? 'no content type' : mediaType(type);
  return { why: `answered ${status} with ${what}: ${text}`, code: undefined };
}

function described(message: string, status: number, code?: string): Refusal {
  return { why: `${message} (${code === undefined ? status : `${status} ${code}`})`, code, message };
}

function tryJson(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(asBuffer(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

function messageIn(value: JsonValue | undefined): string | undefined {
  if (Array.isArray(value)) return messageIn(value[0]);
  if (!isJsonObject(value)) return undefined;
  const { message, detail, error_description, title, error, errors } = value;
  return (
    [message, detail, error_description, title, error].find(isWords) ?? messageIn(error) ?? messageIn(errors)
  );
}

function codeIn(value: JsonValue | undefined): string | undefined {
  if (Array.isArray(value)) return codeIn(value[0]);
  if (!isJsonObject(value)) return undefined;
  return [value.code, value.error].find(isWords) ?? codeIn(value.error);
}

function isWords(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function oneLine(text: string, most = 1000): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most)}...` : line;
}

/** The beginning of a body for people: one line, with replacement characters for bytes that are not text. */
function excerpt(bytes: Uint8Array, mask: (text: string) => string = (text) => text): string {
  return oneLine(mask(asBuffer(bytes.subarray(0, maxErrorBytes)).toString('utf8')), 200);
}

/** A body cannot be decoded; the message is a clause. */
export class BodyError extends Error {}

/** Whether the body has a content encoding. */
export function isEncoded({ fields }: HttpResponse): boolean {
  return fields['content-encoding'] !== undefined;
}

/**
 * The body of an answer as bytes, with its content encodings decoded.
 *
 * @param maxBytes limit of the decoded body.
 * @throws BodyError for an unknown encoding, and for a truncated, broken or too long body.
 */
export async function decodeBody({ fields, body }: HttpResponse, maxBytes: number): Promise<Uint8Array> {
  let bytes: Uint8Array = typeof body === 'string' ? Buffer.from(body) : body;
  const encodings =
    fieldValue(fields, 'content-encoding')
      ?.toLowerCase()
      .split(/[\s,]+/) ?? [];
  for (const encoding of encodings.reverse())
    if (encoding !== '' && encoding !== 'identity' && bytes.length > 0)
      bytes = await undo(encoding, bytes, maxBytes);
  if (bytes.length > maxBytes) throw tooLong(maxBytes);
  return bytes;
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
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLong(maxOutputLength);
    throw new BodyError(`the body is not valid ${encoding}: ${messageOf(error)}`);
  }
  throw new BodyError(
    `the body is encoded as ${encoding}, which was not asked for and which this program cannot read`,
  );
}

function tooLong(maxBytes: number): BodyError {
  return new BodyError(`the body is longer than ${describeBytes(maxBytes)}`);
}

export function describeBytes(bytes: number): string {
  return bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 10} KiB`;
}

function isJsonType(type: string | undefined): boolean {
  if (type === 'application/json') return true;
  return type !== undefined && /^application\/([\w.!#$&^-]+\+)?json$/i.test(mediaType(type));
}

/** A content type without its parameters. */
function mediaType(type: string): string {
  return type.split(';', 1)[0]?.trim() ?? '';
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
