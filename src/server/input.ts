import { isUtf8 } from 'node:buffer';
import * as v from 'valibot';
import type { Operation } from '../api/contract.ts';
import { fieldValue, type HttpRequest } from '../api/http.ts';
import { type BodyName, bodySchemas, IdText, type QueryName, querySchemas } from '../api/schemas.ts';
import { isJsonObject, type JsonValue, parseJson } from '../json.ts';
import { maxBodyBytes, payloadTooLarge, Refusal } from './refusal.ts';

const jsonMediaType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i;

/**
 * What a handler takes: the ids of the path by name, the query, the body.
 *
 * @param parameters of the path, still percent-encoded.
 * @param query the text after `?`.
 * @throws Refusal where a part does not parse or breaks its schema.
 */
export function toInput(
  operation: Operation,
  request: HttpRequest,
  { parameters, query }: { readonly parameters: Readonly<Record<string, string>>; readonly query: string },
): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const name in parameters) input[name] = toId(name, parameters[name] ?? '');
  if (operation.many) input.query = toQuery(operation, query);
  if (operation.body) input.body = toBody(operation.body.name, readJson(request));
  return input;
}

function toId(name: string, encoded: string): bigint {
  return parameterValue(name, IdText, decode(name, encoded));
}

function decode(name: string, encoded: string): string {
  try {
    return encoded.includes('%') ? decodeURIComponent(encoded) : encoded;
  } catch {
    throw new Refusal('invalid_parameter', `${name}: is not percent-encoded UTF-8`);
  }
}

/** A parameter that the operation does not have is ignored, as servers do; one given twice is refused. */
function toQuery({ parameters }: Operation, text: string): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  if (text === '') return query;
  for (const part of text.split('&')) {
    const mark = part.indexOf('=');
    const name = mark === -1 ? part : part.slice(0, mark);
    if (!parameters.some((parameter) => parameter.in === 'query' && parameter.name === name)) continue;
    if (query[name] !== undefined) throw new Refusal('invalid_parameter', `${name}: is given twice`);
    const value = mark === -1 ? '' : part.slice(mark + 1);
    query[name] = parameterValue(name, querySchemas[name as QueryName], decode(name, value));
  }
  return query;
}

function parameterValue<Schema extends v.GenericSchema>(
  name: string,
  schema: Schema,
  text: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, text);
  if (result.success) return result.output;
  throw new Refusal('invalid_parameter', `${name}: ${result.issues[0].message}`);
}

function readJson({ fields, body = '' }: HttpRequest): JsonValue {
  const mediaType = fieldValue(fields, 'content-type') ?? '';
  if (mediaType !== 'application/json' && !jsonMediaType.test(mediaType))
    throw new Refusal('unsupported_media_type', 'a body must be sent as application/json, in UTF-8');
  if (fields['content-encoding'] !== undefined)
    throw new Refusal('unsupported_media_type', 'a body must be sent without a content encoding');
  if (Buffer.byteLength(body) > maxBodyBytes) throw payloadTooLarge();
  try {
    return parseJson(typeof body === 'string' ? body : decodeUtf8(body));
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : String(error);
    throw new Refusal('invalid_json', `the body is not JSON: ${why}`);
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new SyntaxError('it is not UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

function toBody(name: BodyName, value: JsonValue): unknown {
  // To valibot an array is an object too, and one whose fields are all optional would let it through.
  if (!isJsonObject(value)) throw new Refusal('validation_failed', 'the body must be an object');
  const result = v.safeParse(bodySchemas[name], value);
  if (result.success) return result.output;
  throw new Refusal('validation_failed', describeIssues(result.issues));
}

type Issues = readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]];

/** What is wrong with a value, each field by its JSON pointer: `/name: is required; /status: must be …`. */
export function describeIssues(issues: Issues): string {
  return issues.map(describeIssue).join('; ');
}

function describeIssue(issue: v.BaseIssue<unknown>): string {
  const keys = (issue.path ?? []).map(({ key }) => String(key).replaceAll('~', '~0').replaceAll('/', '~1'));
  const isMissingKey = issue.type === 'object' && issue.received === 'undefined';
  const isNoObject = issue.type === 'object' && !isMissingKey;
  const why = isMissingKey ? 'is required' : isNoObject ? 'must be an object' : issue.message;
  return keys.length === 0 ? `the body ${why}` : `/${keys.join('/')}: ${why}`;
}
