import { isUtf8 } from 'node:buffer';
import * as v from 'valibot';
import { type HttpResponse, headerValue, withoutParameters } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import { issueReason, looseResultSchemas, resultSchemas } from '../api/schemas.ts';
import { messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../process/exact-json.ts';
import { shorten, withArticle } from '../process/text.ts';
import { isSafeMethod } from './attempt.ts';
import { invalidResponse } from './transport/transport-error.ts';
import { contentOf, translateRecord } from './wire.ts';

/** The records of a page of a list. */
export interface PageContent {
  readonly records: JsonObject[];
  /** The body, if it is an object around the records. */
  readonly envelope: JsonObject | undefined;
}

/**
 * The record in the answer to a reading, or the page of a list: all fields in the service's order, also unknown ones, ids
 * as bigints.
 *
 * @param id the requested one, if the operation is about one record.
 * @throws CliError for another media type, text that is not UTF-8 or JSON, JSON of another shape, or a record
 *   with another id than the requested one.
 */
export function readResult(
  operation: Operation,
  id: bigint | undefined,
  response: HttpResponse,
  mask: Mask,
): JsonObject | PageContent {
  const text = readJsonText(response, mask);
  if (text === undefined) throw invalidResponse(`the service answered ${response.status} with no body`);
  const answer = parse(text);
  const value = contentOf(operation, answer);
  const envelope = Array.isArray(answer) ? [] : operation.records.envelope;
  const pointer = envelope.map((field) => `/${field}`).join('');
  if (!operation.isList) {
    const record = parseRecord(operation, value, pointer);
    const fault = otherRecord(operation, id, record);
    if (fault !== undefined) throw invalidResponse(fault);
    return record;
  }
  if (!Array.isArray(value)) {
    const inside = envelope.length > 0 ? ` in ${envelope.join('.')}` : '';
    throw invalidResponse(`the body is not a list of ${operation.result}${inside}`);
  }
  const records = value.map((item, index) => parseRecord(operation, item, `${pointer}/${index}`));
  return { records, envelope: isJsonObject(answer) ? answer : undefined };
}

/** The JSON of an answer; undefined if the body is empty. @throws CliError if it is anything else. */
export function readJson(response: HttpResponse, mask: Mask): JsonValue | undefined {
  const text = readJsonText(response, mask);
  return text === undefined ? undefined : parse(text);
}

/**
 * The records or the record of an answer by our names, unchecked: an array for a list, undefined if the answer has
 * neither.
 *
 * @param answer the parsed body.
 */
export function fromWire(operation: Operation, answer: JsonValue): JsonValue | undefined {
  const content = contentOf(operation, answer);
  if (Array.isArray(content))
    return content.map((item) => (isJsonObject(item) ? translateRecord(operation, item) : item));
  return isJsonObject(content) ? translateRecord(operation, content) : undefined;
}

const successes: ReadonlySet<number> = new Set([200, 201, 203, 204, 205]);

/** Whether a status is known to mean success; 202 is one of a write. */
export function isSuccess(method: string, status: number): boolean {
  return successes.has(status) || (status === 202 && !isSafeMethod(method));
}

/** The text of a JSON answer; undefined if the body is empty. */
function readJsonText({ status, headers, body }: HttpResponse, mask: Mask): string | undefined {
  if (body.length === 0) return undefined;
  const type = headerValue(headers, 'content-type');
  if (!isJsonType(type)) {
    const what = type ? withoutParameters(type) : 'no content type';
    const hint =
      what === 'text/html' ? 'does the base URL lead to the service, and not to a web page?' : undefined;
    throw invalidResponse(
      `the service answered ${status} with ${what}, not JSON: ${beginningOf(body, mask)}`,
      {
        hint,
      },
    );
  }
  if (typeof body !== 'string' && !isUtf8(body)) throw invalidResponse('the body is not UTF-8');
  return toText(body);
}

function parse(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw invalidResponse(`the body is not valid JSON: ${messageOf(error)}`);
  }
}

/**
 * The record by our names, checked against its schema.
 *
 * @param pointer JSON pointer to the record in the body.
 * @throws CliError if it breaks the schema.
 */
export function parseRecord(operation: Operation, item: JsonValue | undefined, pointer = ''): JsonObject {
  const { noun, hasFullSchema, result = nouns[noun].schema } = operation;
  const fault = (where: string, why: string) =>
    invalidResponse(`the body is not ${withArticle(result)}: ${where || 'it'} ${why}`);
  if (!isJsonObject(item)) throw fault(pointer, item === undefined ? 'is required' : 'must be an object');
  const value = translateRecord(operation, item);
  // A service may answer a delete with a part of the record.
  const isWhole = hasFullSchema && operation.method !== 'DELETE';
  const schema = (isWhole ? resultSchemas : looseResultSchemas)[result];
  const { success, output, issues } = v.safeParse(schema, value);
  if (!success) {
    const path = (issues[0].path ?? []).map(({ key }) => `/${String(key)}`).join('');
    throw fault(`${pointer}${path}`, issueReason(issues[0]));
  }
  // Every field of an order is optional, so that any other object would do, such as `{"ok":true}`.
  if (result === 'Order' && !Object.keys(schema.entries).some((name) => name in value))
    throw fault(pointer, 'has none of its fields');
  return Object.assign(value, output);
}

/** A clause if a record has another id than the requested one; undefined if it has that id, or none. */
export function otherRecord(
  operation: Operation,
  id: bigint | undefined,
  record: JsonObject,
): string | undefined {
  const name = nouns[operation.noun].idField;
  const value = record[name];
  // In a body that no schema has read, a small id is a number.
  const isOther =
    id !== undefined && value !== undefined && value !== null && value !== id && String(value) !== String(id);
  return isOther
    ? `the answer is about another record: its ${name} is ${String(value)}, not ${id}`
    : undefined;
}

/** The error that a service describes in a body of any shape. */
interface ErrorBody {
  /** The service's message, or a sentence in its place. */
  readonly why: string;
  /** The service's own code. */
  readonly code?: string | undefined;
  /** The service's own message, if it sent one. */
  readonly message?: string | undefined;
}

/**
 * Reads the body of an error: the service's own `{code, message, status}`, problem details (RFC 9457), other JSON with
 * a message, text, nothing, or garbage. Never throws.
 *
 * @param mask masks secrets in the body before it is cut.
 */
export function readErrorBody({ status, headers, body }: HttpResponse, mask: Mask): ErrorBody {
  if (body.length === 0) return { why: `the service answered ${status}, with no reason given` };
  const type = headerValue(headers, 'content-type');
  const value = type === undefined || isJsonType(type) ? tryJson(body) : undefined;
  const words = messageIn(value);
  if (words !== undefined) {
    const message = oneLine(mask(words));
    const code = codeIn(value);
    return { why: message, code: code && oneLine(mask(code), 100), message };
  }
  const text = beginningOf(body, mask);
  const what = type === undefined ? 'no content type' : withoutParameters(type);
  if (what === 'text/plain') return { why: text, message: text };
  return { why: `the service answered ${status} with ${what}: ${text}` };
}

function tryJson(body: HttpResponse['body']): JsonValue | undefined {
  try {
    return parseJson(toText(body));
  } catch {
    return undefined;
  }
}

/** What a body of any shape says in words, such as the message of an error. */
export function messageIn(value: JsonValue | undefined): string | undefined {
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
  return type !== undefined && /^application\/([\w.!#$&^-]+\+)?json$/i.test(withoutParameters(type));
}

function toText(body: HttpResponse['body']): string {
  if (typeof body === 'string') return body;
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}
