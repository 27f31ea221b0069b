import { isUtf8 } from 'node:buffer';
import * as v from 'valibot';
import { statedResponse } from '../api/contract.ts';
import { type HttpResponse, withoutParameters } from '../api/http.ts';
import { totalsIn } from '../api/list-signs.ts';
import { nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import type { ServiceRecord } from '../api/record-values.ts';
import { boundResultSchemas, issueReason, resultSchemas } from '../api/schemas.ts';
import { messageOf, type Sender } from '../process/errors.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonIn,
  parseJson,
  printJson,
  printPointer,
} from '../process/exact-json.ts';
import type { Mask } from '../process/secrets.ts';
import { shorten, withArticle } from '../process/text.ts';
import type { OperationCall } from './call.ts';
import { encodingOf, invalidResponse } from './transport/response.ts';
import { translateRecord, withoutEnvelope } from './wire.ts';

export interface PageContent {
  readonly records: ServiceRecord[];
  /** The body, if it is an object that holds the list. */
  readonly envelope: JsonObject | undefined;
}

/**
 * Reads the record in the response to a reading. It keeps all its fields, even unknown ones, in the order of the service. Ids are
 * bigints.
 *
 * @throws CliError for another media type, text that is not UTF-8 or JSON, JSON of another shape, or a record
 *   with another id than the requested one.
 */
export function readRecordIn(
  { operation, recordId, service }: OperationCall,
  response: HttpResponse,
): ServiceRecord {
  const body = requireBody(response, service.secrets.mask);
  const content = withoutEnvelope(operation, body);
  const record = parseRecord(operation, content, recordId, pointerTo(operation, body));
  const fault = whyOtherRecord(operation, recordId, record.fields);
  if (fault !== undefined) throw invalidResponse(fault);
  return record;
}

/** Reads the page of a list in the response to a reading. @throws as `readRecordIn` */
export function readPageIn({ operation, service }: OperationCall, response: HttpResponse): PageContent {
  const body = requireBody(response, service.secrets.mask);
  const content = withoutEnvelope(operation, body);
  const list = isEmptyList(operation, content, body, response) ? [] : content;
  if (!Array.isArray(list))
    throw invalidResponse(`the body is not a list of ${operation.result}`, { hint: bindHint(operation) });
  const pointer = pointerTo(operation, body);
  const records = list.map((item, index) => parseRecord(operation, item, undefined, `${pointer}/${index}`));
  return { records, envelope: isJsonObject(body) ? body : undefined };
}

function requireBody(response: HttpResponse, mask: Mask): JsonValue {
  const body = readJson(response, mask);
  if (body === undefined) throw invalidResponse(`the answer is ${response.status} with no body`);
  return body;
}

/** Returns the JSON pointer to the record or the list in a body. */
function pointerTo({ recordForm }: Operation, body: JsonValue): string {
  return printPointer(Array.isArray(body) ? [] : recordForm.envelope);
}

/**
 * Returns true for null in place of an empty list, as Go services answer it. Within an object, null may also stand for a failure, so
 * the answer must state how many records there are.
 */
function isEmptyList(
  operation: Operation,
  content: JsonValue | undefined,
  body: JsonValue,
  response: HttpResponse,
): boolean {
  if (content !== null || operation.recordForm.isOurs || response.status !== 200) return false;
  return body === null || (isJsonObject(body) && totalsIn({ ...response, envelope: body }).length > 0);
}

/** Parses the JSON body of a response, which may be empty. @throws CliError if the body is not JSON. */
export function readJson({ status, headers, body }: HttpResponse, mask: Mask): JsonValue | undefined {
  if (body.length === 0) return undefined;
  const type = headers['content-type'];
  if (!isJsonType(type)) {
    const what = type ? mask(withoutParameters(type)) : 'no content type';
    throw invalidResponse(`the answer is ${status} with ${what}, not JSON: ${beginningOf(body, mask)}`);
  }
  if (typeof body !== 'string' && !isUtf8(body)) throw invalidResponse('the body is not UTF-8');
  try {
    return parseJson(bodyText(body));
  } catch (error) {
    throw invalidResponse(`the body is not valid JSON: ${messageOf(error)}`);
  }
}

/**
 * Translates a record into our names and checks it against its schema.
 *
 * @param id the requested id. The entry at `/pets/7/inventory` need not have it.
 * @param pointer JSON pointer to the record in the body.
 * @throws CliError if the record breaks the schema.
 */
export function parseRecord(
  operation: Operation,
  item: JsonValue | undefined,
  id: bigint | undefined,
  pointer = '',
): ServiceRecord {
  const { noun, result = nouns[noun].schema, recordForm, method } = operation;
  const { isCount, idField } = nouns[noun];
  const invalidRecord = (where: string, why: string) =>
    invalidResponse(`the body is not ${withArticle(result)}: ${where || 'it'} ${why}`, {
      hint: bindHint(operation),
    });
  if (!isJsonObject(item))
    throw invalidRecord(pointer, item === undefined ? 'is required' : 'must be an object');
  const translated = translateRecord(operation, item);
  const lacksId = isCount && !recordForm.isOurs && id !== undefined && translated[idField] === undefined;
  const value = lacksId ? { ...translated, [idField]: id } : translated;
  // The answer to a DELETE may have only a part of the record.
  const isWhole = recordForm.isOurs && method !== 'DELETE';
  const schema = (isWhole ? resultSchemas : boundResultSchemas)[result];
  const { success, output, issues } = v.safeParse(schema, value);
  if (!success) {
    const path = printPointer((issues[0].path ?? []).map(({ key }) => key));
    throw invalidRecord(`${pointer}${path}`, issueReason(issues[0]));
  }
  // Every field of an order is optional, so any object would pass, such as `{"ok":true}`.
  if (result === 'Order' && !Object.keys(schema.entries).some((name) => name in value))
    throw invalidRecord(pointer, 'has none of its fields');
  return { fields: Object.assign(value, output), original: item };
}

/** Returns the hint for an answer of another form than ours. */
function bindHint({ recordForm }: Operation): string | undefined {
  return recordForm.isOurs
    ? 'if the service has a description of its own, use `petstore api bind`'
    : undefined;
}

/** Returns a clause if a record has another id than the requested one. A record without an id passes. */
export function whyOtherRecord(
  operation: Operation,
  id: bigint | undefined,
  record: JsonObject,
): string | undefined {
  const name = nouns[operation.noun].idField;
  const value = record[name];
  // In an answer that was read without a schema, a small id is a number, not a bigint.
  const isOther =
    id !== undefined && value !== undefined && value !== null && value !== id && String(value) !== String(id);
  return isOther
    ? `the answer is about another record: its ${name} is ${String(value)}, not ${id}`
    : undefined;
}

/** Returns who sent an error response, by its body. @param operation undefined for a raw request. */
export function senderOf({ status, headers, body }: HttpResponse, operation?: Operation): Sender {
  if (body.length === 0) return 'unknown';
  const contentType = headers['content-type'];
  const type = withoutParameters(contentType ?? '').toLowerCase();
  const stated = operation && statedResponse(operation, status);
  if (!isJsonType(type) && stated?.mediaTypes.includes(type)) return 'service';
  const value = jsonIn(bodyText(body));
  // A text such as `404` is JSON by chance, unless the content type says that it is JSON.
  const isJson = isJsonType(contentType) || (typeof value === 'object' && value !== null);
  return value !== undefined && isJson ? 'service' : 'gateway';
}

interface ErrorBody {
  /** The message of the service, or else a description of the answer. */
  readonly why: string;
  /** The code and the message of the service. */
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

/** Reads the body of an error of any shape. Never throws. @param mask masks the secrets in the body before the body is cut. */
export function readErrorBody(
  { status, headers, body }: HttpResponse,
  sender: Sender,
  mask: Mask,
): ErrorBody {
  const encoding = encodingOf(headers);
  if (encoding !== undefined) return { why: `the answer is ${status}, with a body encoded as ${encoding}` };
  if (body.length === 0) return { why: `the answer is ${status}, with no reason given` };
  const value = sender === 'service' ? jsonIn(bodyText(body)) : undefined;
  const [code, message] = [codeIn(value), messageIn(value)].map((text) => text && oneLine(mask(text), 1000));
  const type = mask(withoutParameters(headers['content-type'] ?? 'no content type'));
  const why = message ?? `the answer is ${status} with ${type}: ${beginningOf(body, mask)}`;
  return { why, code, message };
}

/** The fields that may have a message, in the order in which they are preferred. */
const messageFields = ['message', 'detail', 'error_description', 'msg', 'reason', 'title', 'error'];
/** The fields in which frameworks list the faults of a request, beside a title that says nothing. */
const faultFields = ['message', 'detail', 'details', 'errors', 'violations', 'invalid-params', 'issues'];

/** Returns the message in a body: `{code, message, status}`, problem details (RFC 9457), or what frameworks send. */
function messageIn(value: JsonValue | undefined): string | undefined {
  if (isText(value)) return value;
  if (!isJsonObject(value)) return undefined;
  const lists = faultFields.map((name) => value[name]).filter((each) => typeof each === 'object' && each);
  const faults = lists.map((list) => printJson(list));
  const message = firstText(value, messageFields) ?? messageIn(value.error);
  return [message ?? [], faults].flat().join(': ') || undefined;
}

function codeIn(value: JsonValue | undefined): string | undefined {
  return isJsonObject(value) ? (firstText(value, ['code', 'error']) ?? codeIn(value.error)) : undefined;
}

function firstText(value: JsonObject, names: readonly string[]): string | undefined {
  return names.map((name) => value[name]).find(isText);
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function oneLine(text: string, most: number): string {
  return shorten(text.replace(/\s+/g, ' ').trim(), most);
}

/**
 * Returns the title of a page, or the beginning of any other body without its tags, as one line. Bytes that are not UTF-8 become
 * replacement characters.
 */
function beginningOf(body: HttpResponse['body'], mask: Mask): string {
  return oneLine(mask(titleOrText(bodyText(body.slice(0, 64 * 1024)))), 200);
}

/** Returns the title of a page or else its heading, the text of other tags, or any other text as it is. */
export function titleOrText(text: string): string {
  if (!/^\s*</.test(text)) return text;
  const title = /<(?:title|h1)\b[^<>]*>([^<]*[^<\s][^<]*)/i.exec(text)?.[1];
  return title ?? (text.replace(/<[^<>]*>/g, ' ').trim() || text);
}

/** Returns true if a content type says that a body is JSON. */
export function isJsonType(type: string | undefined): boolean {
  if (type === 'application/json') return true;
  return type !== undefined && /^(?:application|text)\/([\w.!#$&^-]+\+)?json$/i.test(withoutParameters(type));
}

function bodyText(body: HttpResponse['body']): string {
  if (typeof body === 'string') return body;
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return bytes.toString('utf8');
}
