import * as v from 'valibot';
import type { Operation } from '../api/contract.ts';
import { fieldValue, type HttpResponse } from '../api/http.ts';
import { type ResultName, resultSchemas } from '../api/schemas.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../json.ts';
import { BodyError, decodeBody, decodeText, excerpt, isJsonType, maxAnswerBytes, mediaType } from './body.ts';

/** Why an answer of success is no valid one, a clause. */
export class InvalidAnswerError extends Error {}

/**
 * The records of a successful answer: the service's own fields and their order, those that the schema does not know too,
 * ids as bigints. Undefined where the operation promises none, or a write answered without a body.
 *
 * @throws InvalidAnswerError for another media type, text that is no JSON, or JSON of another shape.
 */
export async function readResult(operation: Operation, response: HttpResponse): Promise<unknown> {
  const { result, many, method } = operation;
  if (!result) return undefined;
  const text = await readJsonText(response);
  if (text === undefined) {
    if (method !== 'GET') return undefined;
    throw new InvalidAnswerError(`answered ${response.status} with no body`);
  }
  const value = parse(text);
  if (!many) return toRecord(value, result, '');
  if (!Array.isArray(value)) throw new InvalidAnswerError(`the body is no list of ${result}`);
  return value.map((item, index) => toRecord(item, result, `/${index}`));
}

/** The text of a JSON answer; undefined where the body is empty. */
async function readJsonText(response: HttpResponse): Promise<string | undefined> {
  try {
    const bytes = await decodeBody(response, maxAnswerBytes);
    if (bytes.length === 0) return undefined;
    const type = fieldValue(response.fields, 'content-type');
    if (!isJsonType(type)) throw new InvalidAnswerError(describeForeign(response.status, type, bytes));
    return decodeText(bytes);
  } catch (error) {
    throw error instanceof BodyError ? new InvalidAnswerError(error.message) : error;
  }
}

function describeForeign(status: number, type: string | undefined, bytes: Uint8Array): string {
  return `answered ${status} with ${type ? mediaType(type) : 'no content type'}, no JSON: ${excerpt(bytes)}`;
}

function parse(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw new InvalidAnswerError(`the body is no valid JSON: ${(error as Error).message}`);
  }
}

function toRecord(value: JsonValue, result: ResultName, pointer: string): JsonObject {
  const checked = v.safeParse(resultSchemas[result], value);
  if (checked.success && isJsonObject(value)) return Object.assign(value, checked.output);
  const [issue] = checked.issues ?? [];
  const path = (issue?.path ?? []).map(({ key }) => `/${String(key)}`).join('');
  throw new InvalidAnswerError(`the body is no ${result}: ${pointer}${path} ${issue?.message ?? ''}`);
}
