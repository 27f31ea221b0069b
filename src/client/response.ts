import * as v from 'valibot';
import type { Operation } from '../api/contract.ts';
import { fieldValue, type HttpResponse } from '../api/http.ts';
import { reasonOf } from '../api/issue.ts';
import { rowOf } from '../api/operations.ts';
import { boundResultSchemas, type ResultName, resultSchemas } from '../api/schemas.ts';
import { messageOf } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../json.ts';
import { decodeText, excerpt, isJsonType, mediaType } from './body.ts';

/** Why an answer of success is no valid one, a clause. */
export class InvalidAnswerError extends Error {
  /** The body, where it is JSON of another shape. */
  readonly answer: JsonValue | undefined;

  constructor(message: string, answer?: JsonValue) {
    super(message);
    this.answer = answer;
  }
}

/**
 * The records of a successful answer: the service's own fields and their order, those that the schema does not know too,
 * ids as bigints. Undefined where the operation promises none, or a write answered without a body.
 *
 * @param response its content encodings undone.
 * @throws InvalidAnswerError for another media type, text that is no JSON, or JSON of another shape; BodyError for bytes
 *   that are no UTF-8.
 */
export function readResult(operation: Operation, response: HttpResponse): unknown {
  const { result, many, id, source } = operation;
  if (!result) return undefined;
  const text = readJsonText(response);
  if (text === undefined) {
    if (rowOf(id).method !== 'GET') return undefined;
    throw new InvalidAnswerError(`answered ${response.status} with no body`);
  }
  const value = parse(text);
  const schema = (source === 'bound' ? boundResultSchemas : resultSchemas)[result];
  if (!many) return toRecord(value, { result, schema, pointer: '' });
  if (!Array.isArray(value)) throw new InvalidAnswerError(`the body is no list of ${result}`);
  return value.map((item, index) => toRecord(item, { result, schema, pointer: `/${index}` }));
}

/** The text of a JSON answer; undefined where the body is empty. */
function readJsonText({ status, fields, body }: HttpResponse): string | undefined {
  if (body.length === 0) return undefined;
  const type = fieldValue(fields, 'content-type');
  if (isJsonType(type)) return typeof body === 'string' ? body : decodeText(body);
  const shown = excerpt(typeof body === 'string' ? Buffer.from(body) : body);
  throw new InvalidAnswerError(
    `answered ${status} with ${type ? mediaType(type) : 'no content type'}, no JSON: ${shown}`,
  );
}

function parse(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw new InvalidAnswerError(`the body is no valid JSON: ${messageOf(error)}`);
  }
}

interface Expected {
  readonly result: ResultName;
  readonly schema: v.GenericSchema;
  /** JSON pointer to the record. */
  readonly pointer: string;
}

function toRecord(value: JsonValue, { result, schema, pointer }: Expected): JsonObject {
  const checked = v.safeParse(schema, value);
  if (checked.success && isJsonObject(value)) return Object.assign(value, checked.output);
  const [issue] = checked.issues ?? [];
  const path = (issue?.path ?? []).map(({ key }) => `/${String(key)}`).join('');
  const where = `${pointer}${path}` || 'it';
  throw new InvalidAnswerError(`the body is no ${result}: ${where} ${issue ? reasonOf(issue) : ''}`, value);
}
