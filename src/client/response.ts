import { isUtf8 } from 'node:buffer';
import * as v from 'valibot';
import { keepOriginal } from '../api/contract.ts';
import { fieldValue, type HttpResponse } from '../api/http.ts';
import { type Operation, operations } from '../api/operations.ts';
import { looseResultSchemas, reasonOf, resultSchemas } from '../api/schemas.ts';
import { isDateTime } from '../api/values.ts';
import { translationOf } from '../binding/adapt.ts';
import { withinTime } from '../process/deadline.ts';
import { messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../process/exact-json.ts';
import { shorten, withArticle } from '../process/text.ts';
import type { Call } from './call.ts';
import { mayHaveBeenApplied } from './retry.ts';
import { invalidAnswer } from './transport/answer.ts';

/**
 * The records of a successful answer: all fields in the service's order, also unknown ones, ids as bigints. Undefined
 * if the operation has no result, or if a write is answered without a body.
 *
 * @param asked the requested id, if the operation is about one record.
 * @throws UnavailableError for a status that is no success, another media type, text that is not UTF-8 or JSON, JSON
 *   of another shape, or a record with another id than the requested one.
 */
export function readResult(
  call: Call,
  operation: Operation,
  asked: bigint | undefined,
  response: HttpResponse,
): unknown {
  const { status } = response;
  const { method } = operations[operation.id];
  checkStatus(call.request.method, status);
  if (status === accepted) return undefined;
  if (!operation.result) {
    checkBareSuccess(operation, asked, response, call.client.secrets.mask);
    return undefined;
  }
  const text = readJsonText(response, call.client.secrets.mask);
  if (text === undefined) {
    if (method !== 'GET') return undefined;
    throw invalidAnswer(`answered ${status} with no body`);
  }
  const read = () => readRecords(operation, asked, parse(text));
  if (text.length < longText) return read();
  const late = () => {
    throw call.timedOut();
  };
  return withinTime(call.leftMs, read, late, { endsOnCtrlC: true });
}

/** A longer text, in UTF-16 units, may take so long to read that the deadline and Ctrl-C must be able to end it. */
const longText = 2 ** 20;

/** The record of an answer, or its records. */
function readRecords(operation: Operation, asked: bigint | undefined, answer: JsonValue): unknown {
  const { envelope = [] } = operation.wire ?? {};
  const value = translationOf(operation).contentOf(answer);
  const pointer = Array.isArray(answer) ? '' : envelope.map((field) => `/${field}`).join('');
  if (!operation.many) return checkId(operation, asked, toRecord(operation, value, pointer));
  if (!Array.isArray(value)) {
    const inside = envelope.length > 0 ? ` in ${envelope.join('.')}` : '';
    throw invalidAnswer(`the body is not a list of ${operation.result}${inside}`);
  }
  const records = value.map((item, index) => toRecord(operation, item, `${pointer}/${index}`));
  if (isJsonObject(answer)) keepOriginal(records, answer);
  return records;
}

/**
 * The records or the record of an answer by our names, unchecked: an array for a list, undefined if it has none.
 *
 * @param answer the parsed body.
 */
export function fromWire(operation: Operation, answer: JsonValue): JsonValue | undefined {
  const { contentOf, fromWire: translate } = translationOf(operation);
  const content = contentOf(answer);
  if (Array.isArray(content)) return content.map((item) => (isJsonObject(item) ? translate(item) : item));
  return isJsonObject(content) ? translate(content) : undefined;
}

/** The status of a write that the service will do later, or not. @see RFC 9110, 15.3.3 */
export const accepted = 202;
const successes: ReadonlySet<number> = new Set([200, 201, 203, 204, 205]);

/** @throws UnavailableError for a status that is not known to mean success. */
export function checkStatus(method: string, status: number): void {
  if (method === 'DELETE' ? status === 200 || status === 204 : successes.has(status)) return;
  if (status === accepted && mayHaveBeenApplied(method, { sent: true })) return;
  throw invalidAnswer(`answered ${status}, which is neither a success nor an error`);
}

/** An answer without a record has no body, or JSON that is neither an error nor about another record. */
function checkBareSuccess(
  operation: Operation,
  asked: bigint | undefined,
  response: HttpResponse,
  mask: Mask,
): void {
  const text = readJsonText(response, mask);
  const value = text === undefined ? undefined : parse(text);
  if (!isJsonObject(value)) return;
  const { code, message, status } = value;
  const isError = typeof code === 'string' && typeof message === 'string';
  if (isError || isErrorNumber(code) || isErrorNumber(status)) {
    const why = messageIn(value);
    const words = why === undefined ? '' : `: ${oneLine(mask(why))}`;
    throw invalidAnswer(`answered ${response.status} with an error${words}`, { answer: value });
  }
  checkId(operation, asked, value);
}

function isErrorNumber(value: JsonValue | undefined): boolean {
  return (typeof value === 'number' || typeof value === 'bigint') && value >= 400;
}

/** A field of a write that the service answered with another value than the one that was sent. */
export interface Difference {
  readonly field: string;
  readonly sent: JsonValue;
  readonly answered: JsonValue;
}

/**
 * The fields of a write whose values in the answer differ from those that were sent. Fields that the answer does not
 * have, and lists and objects, are not compared.
 */
export function differences(sent: unknown, answered: unknown): Difference[] {
  if (!isJsonObject(sent as JsonValue) || !isJsonObject(answered as JsonValue)) return [];
  const [before, after] = [sent as JsonObject, answered as JsonObject];
  return Object.keys(before).flatMap((field) => {
    const [one, other] = [before[field], after[field]];
    if (one === undefined || other === undefined || !Object.hasOwn(after, field) || isSameValue(one, other))
      return [];
    return [{ field, sent: one, answered: other }];
  });
}

function isSameValue(one: JsonValue, other: JsonValue): boolean {
  if (isCompound(one) || isCompound(other)) return true;
  // A service may leave out a value that is empty, or store it as null.
  if (one === null || other === null) return one === other || one === '' || other === '';
  if (typeof one !== 'string' || typeof other !== 'string') return String(one) === String(other);
  if (one.trim() === other.trim()) return true;
  return isDateTime(one) && isDateTime(other) && Date.parse(one) === Date.parse(other);
}

function isCompound(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null;
}

/** The text of a JSON answer; undefined if the body is empty. */
function readJsonText({ status, fields, body }: HttpResponse, mask: Mask): string | undefined {
  if (body.length === 0) return undefined;
  const type = fieldValue(fields, 'content-type');
  if (!isJsonType(type)) {
    const what = type ? mediaType(type) : 'no content type';
    const hint =
      what === 'text/html' ? 'does the base URL lead to the service, and not to a web page?' : undefined;
    throw invalidAnswer(`answered ${status} with ${what}, not JSON: ${beginningOf(body, mask)}`, { hint });
  }
  if (typeof body !== 'string' && !isUtf8(body)) throw invalidAnswer('the body is not UTF-8');
  return toText(body);
}

function parse(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw invalidAnswer(`the body is not valid JSON: ${messageOf(error)}`);
  }
}

/** @param pointer JSON pointer to the record in the body. */
function toRecord(operation: Operation, item: JsonValue | undefined, pointer: string): JsonObject {
  const { result = 'Pet', strict } = operation;
  const value = isJsonObject(item) ? translationOf(operation).fromWire(item) : item;
  const schema = (strict ? resultSchemas : looseResultSchemas)[result];
  const checked = v.safeParse(schema, value);
  if (checked.success && isJsonObject(value)) {
    // Every field of an order is optional, so that any other object would do, such as `{"ok":true}`.
    if (result !== 'Order' || Object.keys(schema.entries).some((name) => name in value))
      return Object.assign(value, checked.output);
    throw invalidAnswer(`the body is not an Order: ${pointer || 'it'} has none of its fields`, {
      answer: value,
    });
  }
  const [issue] = checked.issues ?? [];
  const path = (issue?.path ?? []).map(({ key }) => `/${String(key)}`).join('');
  const where = `${pointer}${path}` || 'it';
  const why = issue ? reasonOf(issue) : '';
  throw invalidAnswer(`the body is not ${withArticle(result)}: ${where} ${why}`, { answer: item ?? null });
}

function checkId(operation: Operation, asked: bigint | undefined, record: JsonObject): JsonObject {
  const other = otherId(operation, asked, record);
  if (!other) return record;
  const { name, id } = other;
  throw invalidAnswer(`the answer is about another record: its ${name} is ${String(id)}, not ${asked}`);
}

/** The field that identifies a record: an inventory entry has the id of its pet. */
export function idFieldOf({ noun }: Operation): 'id' | 'petId' {
  return noun === 'inventory' ? 'petId' : 'id';
}

/** The id of a record, and the name of its field, if it is another id than the requested one. */
export function otherId(
  operation: Operation,
  asked: bigint | undefined,
  record: JsonObject,
): { readonly name: string; readonly id: JsonValue } | undefined {
  const name = idFieldOf(operation);
  const id = record[name];
  if (asked === undefined || id === undefined || id === null || id === asked) return undefined;
  // In a body that no schema has read, a small id is a number.
  return String(id) === String(asked) ? undefined : { name, id };
}

/** The error that a service describes in a body of any shape. */
interface ErrorBody {
  /** Its message with the status, or a replacement for it. */
  readonly why: string;
  /** The service's own code. */
  readonly code?: string | undefined;
  /** The service's own message, without the status. */
  readonly message?: string | undefined;
}

/**
 * Reads the body of an error: the service's own `{code, message, status}`, problem details (RFC 9457), other JSON with
 * a message, text, nothing, or garbage. Never throws.
 *
 * @param mask masks secrets in the body before it is cut.
 */
export function readErrorBody({ status, fields, body }: HttpResponse, mask: Mask): ErrorBody {
  if (body.length === 0) return { why: `answered ${status}, with no reason given` };
  const type = fieldValue(fields, 'content-type');
  const value = type === undefined || isJsonType(type) ? tryJson(body) : undefined;
  const words = messageIn(value);
  if (words !== undefined) {
    const message = oneLine(mask(words));
    const code = codeIn(value);
    if (code === undefined) return { why: `${message} (${status})`, message };
    const shownCode = oneLine(mask(code), 100);
    return { why: `${message} (${status} ${shownCode})`, code: shownCode, message };
  }
  const text = beginningOf(body, mask);
  const what = type === undefined ? 'no content type' : mediaType(type);
  if (what === 'text/plain') return { why: `${text} (${status})`, message: text };
  return { why: `answered ${status} with ${what}: ${text}` };
}

function tryJson(body: HttpResponse['body']): JsonValue | undefined {
  try {
    return parseJson(toText(body));
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
  return shorten(text.replace(/\s+/g, ' ').trim(), most);
}

type Mask = (text: string) => string;

/** The beginning of a body for people: one line, with replacement characters for bytes that are not text. */
function beginningOf(body: HttpResponse['body'], mask: Mask): string {
  return oneLine(mask(toText(body.slice(0, 64 * 1024))), 200);
}

function isJsonType(type: string | undefined): boolean {
  if (type === 'application/json') return true;
  return type !== undefined && /^application\/([\w.!#$&^-]+\+)?json$/i.test(mediaType(type));
}

/** A content type without its parameters. */
function mediaType(type: string): string {
  return type.split(';', 1)[0]?.trim() ?? '';
}

function toText(body: HttpResponse['body']): string {
  if (typeof body === 'string') return body;
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}
