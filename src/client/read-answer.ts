import { isUtf8 } from 'node:buffer';
import * as v from 'valibot';
import { type HttpResponse, headerValue, withoutParameters } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import { isBound, type Operation } from '../api/operations.ts';
import type { ServiceRecord } from '../api/record-values.ts';
import { issueReason, looseResultSchemas, resultSchemas } from '../api/schemas.ts';
import { messageOf } from '../process/errors.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  printPointer,
} from '../process/exact-json.ts';
import type { Mask } from '../process/secrets.ts';
import { withArticle } from '../process/text.ts';
import { beginningOf, bodyText, isJsonType } from './error-body.ts';
import { invalidResponse } from './transport/response.ts';
import { contentOf, translateRecord } from './wire.ts';

/** The content of a page of a list. */
export interface PageContent {
  readonly records: ServiceRecord[];
  /** The body, if it is an object that holds the list. */
  readonly envelope: JsonObject | undefined;
}

/**
 * Reads the record, or the page of a list, in the response to a reading. A record keeps all its fields, even unknown ones, in the
 * order of the service. Ids are bigints.
 *
 * @param id the requested id, if the operation is about one record.
 * @throws CliError for another media type, text that is not UTF-8 or JSON, JSON of another shape, or a record
 *   with another id than the requested one.
 */
export function readResult(
  operation: Operation,
  id: bigint | undefined,
  response: HttpResponse,
  mask: Mask,
): ServiceRecord | PageContent {
  const body = readJson(response, mask);
  if (body === undefined) throw invalidResponse(`the answer is ${response.status} with no body`);
  const value = contentOf(operation, body);
  const envelope = Array.isArray(body) ? [] : operation.records.envelope;
  const pointer = printPointer(envelope);
  if (!operation.isList) {
    const record = parseRecord(operation, value, pointer);
    const fault = otherRecord(operation, id, record.fields);
    if (fault !== undefined) throw invalidResponse(fault);
    return record;
  }
  if (!Array.isArray(value)) {
    const inside = envelope.length > 0 ? ` in ${envelope.join('.')}` : '';
    throw invalidResponse(`the body is not a list of ${operation.result}${inside}`);
  }
  const records = value.map((item, index) => parseRecord(operation, item, `${pointer}/${index}`));
  return { records, envelope: isJsonObject(body) ? body : undefined };
}

/** Parses the JSON body of a response, which may be empty. @throws CliError if the body is not JSON. */
export function readJson({ status, headers, body }: HttpResponse, mask: Mask): JsonValue | undefined {
  if (body.length === 0) return undefined;
  const type = headerValue(headers, 'content-type');
  if (!isJsonType(type)) {
    const what = type ? withoutParameters(type) : 'no content type';
    const isPage = what.toLowerCase() === 'text/html';
    const hint = isPage ? 'does the base URL lead to the service, and not to a web page?' : undefined;
    const beginning = beginningOf(body, mask);
    throw invalidResponse(`the answer is ${status} with ${what}, not JSON: ${beginning}`, { hint });
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
 * @param pointer JSON pointer to the record in the body.
 * @throws CliError if the record breaks the schema.
 */
export function parseRecord(operation: Operation, item: JsonValue | undefined, pointer = ''): ServiceRecord {
  const { noun, result = nouns[noun].schema } = operation;
  const fault = (where: string, why: string) =>
    invalidResponse(`the body is not ${withArticle(result)}: ${where || 'it'} ${why}`);
  if (!isJsonObject(item)) throw fault(pointer, item === undefined ? 'is required' : 'must be an object');
  const value = translateRecord(operation, item);
  // The answer to a DELETE may have only a part of the record.
  const isWhole = !isBound(operation) && operation.method !== 'DELETE';
  const schema = (isWhole ? resultSchemas : looseResultSchemas)[result];
  const { success, output, issues } = v.safeParse(schema, value);
  if (!success) {
    const path = printPointer((issues[0].path ?? []).map(({ key }) => key));
    throw fault(`${pointer}${path}`, issueReason(issues[0]));
  }
  // Every field of an order is optional, so any object would pass, such as `{"ok":true}`.
  if (result === 'Order' && !Object.keys(schema.entries).some((name) => name in value))
    throw fault(pointer, 'has none of its fields');
  return { fields: Object.assign(value, output), original: item };
}

/** Returns a clause if a record has another id than the requested one. A record without an id passes. */
export function otherRecord(
  operation: Operation,
  id: bigint | undefined,
  record: JsonObject,
): string | undefined {
  const name = nouns[operation.noun].idField;
  const value = record[name];
  // Where no schema was applied, a small id is a number.
  const isOther =
    id !== undefined && value !== undefined && value !== null && value !== id && String(value) !== String(id);
  return isOther
    ? `the answer is about another record: its ${name} is ${String(value)}, not ${id}`
    : undefined;
}
