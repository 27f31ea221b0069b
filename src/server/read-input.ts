import { isUtf8 } from 'node:buffer';
import * as v from 'valibot';
import { fieldValue, type HttpRequest } from '../api/http.ts';
import { type Input, type OperationId, operations } from '../api/operations.ts';
import {
  type BodyName,
  bodySchemas,
  IdText,
  issueReason,
  type QueryName,
  querySchemas,
} from '../api/schemas.ts';
import { toId } from '../api/values.ts';
import { messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonValue, parseJson } from '../process/exact-json.ts';
import { maxBodyBytes, payloadTooLarge, Refusal } from './refusal.ts';

/** The parts of a URL, still percent-encoded. */
export interface UrlParts {
  readonly origin: string;
  readonly path: string;
  /** Without the question mark; empty if there is none. */
  readonly query: string;
}

export function splitUrl(url: string): UrlParts {
  const slash = url.indexOf('/', url.indexOf('://') + 3);
  const start = slash === -1 ? url.length : slash;
  const mark = url.indexOf('?', start);
  const end = mark === -1 ? url.length : mark;
  return { origin: url.slice(0, start), path: url.slice(start, end), query: url.slice(end + 1) };
}

/**
 * Reads the input of a handler: the id in the path, the query, the body.
 *
 * @param id the last segment of the path, still percent-encoded.
 * @param query of the URL, without the question mark.
 * @throws Refusal if a part does not parse or breaks its schema.
 */
type ReadInput<K extends OperationId> = (request: HttpRequest, id: string, query: string) => Input<K>;

/** Creates the reader of an operation's input, so that its parts are looked up once and not for each request. */
export function createReadInput<K extends OperationId>(operation: K): ReadInput<K> {
  const { parameters, many, body } = operations[operation];
  const idName = parameters.find((parameter) => parameter.in === 'path')?.wireName;
  const queryNames = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  return (request, id, query) => {
    const input: { [part: string]: unknown } = {};
    if (idName !== undefined) input.id = readId(idName, decodeParameter(idName, id));
    if (many) input.query = toQuery(queryNames, query);
    if (body) input.body = parseBody(body.name, request);
    // The type is derived from the same table.
    return input as Input<K>;
  };
}

/** Reads a valid id without the schema, which is slower. */
function readId(name: string, text: string): bigint {
  return toId(text) ?? parameterValue(name, IdText, text);
}

function decodeParameter(name: string, encoded: string): string {
  try {
    return encoded.includes('%') ? decodeURIComponent(encoded) : encoded;
  } catch {
    throw new Refusal('invalid_parameter', `${name}: is not percent-encoded UTF-8`);
  }
}

/** An unknown parameter is ignored, as servers do; one that occurs twice is an error. */
function toQuery(names: readonly string[], text: string): { [name: string]: unknown } {
  const query: { [name: string]: unknown } = {};
  if (text === '') return query;
  for (const part of text.split('&')) {
    const mark = part.indexOf('=');
    const end = mark === -1 ? part.length : mark;
    // The name comes from the table and not from the URL, because V8 keeps every property name.
    const name = names.find((candidate) => candidate.length === end && part.startsWith(candidate));
    if (name === undefined) continue;
    if (query[name] !== undefined) throw new Refusal('invalid_parameter', `${name}: is given twice`);
    const value = decodeParameter(name, part.slice(end + 1));
    const schema = querySchemas[name as QueryName];
    query[name] = schema === IdText ? readId(name, value) : parameterValue(name, schema, value);
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

function parseBody(name: BodyName, request: HttpRequest): unknown {
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
  if (typeof body !== 'string' && !isUtf8(body))
    throw new Refusal('invalid_json', 'the body is not JSON: it is not UTF-8');
  try {
    return parseJson(typeof body === 'string' ? body : Buffer.from(body).toString());
  } catch (error) {
    throw new Refusal('invalid_json', `the body is not JSON: ${messageOf(error)}`);
  }
}

/** The faults of a value, each with its JSON pointer: `/name: is required; /status: must be …`. */
export function describeIssues(issues: readonly v.BaseIssue<unknown>[]): string {
  return issues
    .map((issue) => {
      const keys = (issue.path ?? []).map(({ key }) =>
        String(key).replaceAll('~', '~0').replaceAll('/', '~1'),
      );
      const why = issueReason(issue);
      return keys.length === 0 ? `the body ${why}` : `/${keys.join('/')}: ${why}`;
    })
    .join('; ');
}
