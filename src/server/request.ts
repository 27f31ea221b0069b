import { isUtf8 } from 'node:buffer';
import * as v from 'valibot';
import { fieldValue, type HttpRequest } from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import {
  type BodyName,
  bodySchemas,
  IdText,
  type QueryName,
  querySchemas,
  reasonOf,
} from '../api/schemas.ts';
import { isJsonObject, type JsonValue, parseJson } from '../json.ts';
import { maxBodyBytes, payloadTooLarge, Refusal } from './refusal.ts';

/** The parts of a URL, still percent-encoded. */
export interface Target {
  readonly origin: string;
  readonly path: string;
  /** Without the question mark; empty if there is none. */
  readonly query: string;
}

export function toTarget(url: string): Target {
  const slash = url.indexOf('/', url.indexOf('://') + 3);
  const start = slash === -1 ? url.length : slash;
  const mark = url.indexOf('?', start);
  const end = mark === -1 ? url.length : mark;
  return { origin: url.slice(0, start), path: url.slice(start, end), query: url.slice(end + 1) };
}

/**
 * Gives what a handler takes: the id of the path by its name, the query, the body.
 *
 * @param id the last segment of the path, still percent-encoded.
 * @param query of the URL, without the question mark.
 * @throws Refusal if a part does not parse or breaks its schema.
 */
export type ReadInput = (request: HttpRequest, id: string, query: string) => Record<string, unknown>;

/** Looks up the parts of the operation once, so that requests need not. */
export function createReadInput({ parameters, many, body }: Operation): ReadInput {
  const idName = parameters.find((parameter) => parameter.in === 'path')?.name;
  const queryNames = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  return (request, id, query) => {
    const input: Record<string, unknown> = {};
    if (idName !== undefined) input[idName] = toId(idName, decode(idName, id));
    if (many) input.query = toQuery(queryNames, query);
    if (body) input.body = readBody(body.name, request);
    return input;
  };
}

/** Matches ids that are valid without their schema, which takes four times as long. */
const shortId = /^[1-9]\d{0,14}$/;

function toId(name: string, text: string): bigint {
  return shortId.test(text) ? BigInt(Number(text)) : parameterValue(name, IdText, text);
}

function decode(name: string, encoded: string): string {
  try {
    return encoded.includes('%') ? decodeURIComponent(encoded) : encoded;
  } catch {
    throw new Refusal('invalid_parameter', `${name}: is not percent-encoded UTF-8`);
  }
}

/** A parameter that the operation does not have is ignored, as servers do; one given twice is refused. */
function toQuery(known: readonly string[], text: string): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  if (text === '') return query;
  for (const part of text.split('&')) {
    const mark = part.indexOf('=');
    const end = mark === -1 ? part.length : mark;
    // The name is taken from the table: V8 would intern every piece of a URL that becomes a property name.
    const name = known.find((each) => each.length === end && part.startsWith(each));
    if (name === undefined) continue;
    if (query[name] !== undefined) throw new Refusal('invalid_parameter', `${name}: is given twice`);
    const value = decode(name, part.slice(end + 1));
    const schema = querySchemas[name as QueryName];
    query[name] = schema === IdText ? toId(name, value) : parameterValue(name, schema, value);
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

function readBody(name: BodyName, request: HttpRequest): unknown {
  const value = readJson(request);
  // To valibot an array is an object too, and it would pass a schema whose fields are all optional.
  if (!isJsonObject(value)) throw new Refusal('validation_failed', 'the body must be an object');
  const result = v.safeParse(bodySchemas[name], value);
  if (result.success) return result.output;
  throw new Refusal('validation_failed', describeIssues(result.issues));
}

const jsonMediaType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i;

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
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString();
  // Bytes that are not UTF-8 are decoded to U+FFFD, which hardly any text contains: only then are the bytes checked.
  if (text.includes('\ufffd') && !isUtf8(buffer)) throw new SyntaxError('it is not UTF-8');
  return text;
}

/** The faults of a value, each with its JSON pointer: `/name: is required; /status: must be …`. */
export function describeIssues(issues: readonly v.BaseIssue<unknown>[]): string {
  return issues
    .map((issue) => {
      const keys = (issue.path ?? []).map(({ key }) =>
        String(key).replaceAll('~', '~0').replaceAll('/', '~1'),
      );
      const why = reasonOf(issue);
      return keys.length === 0 ? `the body ${why}` : `/${keys.join('/')}: ${why}`;
    })
    .join('; ');
}
