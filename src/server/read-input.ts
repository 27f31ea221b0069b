import * as v from 'valibot';
import { type HttpRequest, withoutParameters } from '../api/http.ts';
import type { BodyName } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import {
  bodySchemas,
  idParameterValue,
  issueReason,
  type QueryName,
  queryParameters,
} from '../api/schemas.ts';
import { messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonValue, parseJson, printPointer } from '../process/exact-json.ts';
import { decodePercent } from '../process/text.ts';
import { maxBodyBytes, Refusal } from './refusal.ts';

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

/** The input of an operation. Its query and body have the types of its handler. */
export interface RequestInput {
  readonly id?: bigint;
  readonly query?: object;
  readonly body?: unknown;
}

/**
 * Reads the input of a handler: the id at the end of the path, the query and the body.
 *
 * @param id the last segment of the path, still percent-encoded.
 * @param query the query of the URL, without the question mark.
 * @throws Refusal if a part does not parse or breaks its schema.
 */
export function readInput(
  { parameters, body }: Operation,
  request: HttpRequest,
  id: string,
  query: string,
): RequestInput {
  const values = query === '' ? undefined : new URLSearchParams(query);
  const input: { -readonly [Part in keyof RequestInput]: RequestInput[Part] } = {};
  for (const { name, wireName, in: location } of parameters) {
    if (location === 'path')
      input.id = parseParameter(wireName, idParameterValue, decodePercent(id)) as bigint;
    const [text, ...repeats] = (location === 'query' && values?.getAll(name)) || [];
    if (repeats.length > 0) throw new Refusal('invalid_parameter', `${name}: is given twice`);
    if (text !== undefined)
      input.query = {
        ...input.query,
        [name]: parseParameter(name, queryParameters[name as QueryName].check, text),
      };
  }
  if (body) input.body = parseBody(body.name, request);
  return input;
}

function parseParameter(name: string, schema: v.GenericSchema, text: string): unknown {
  const result = v.safeParse(schema, text);
  if (result.success) return result.output;
  throw new Refusal('invalid_parameter', `${name}: ${result.issues[0].message}`);
}

function parseBody(name: BodyName, request: HttpRequest): unknown {
  const value = jsonBody(request);
  // To valibot an array is an object too, and it would pass a schema whose fields are all optional.
  if (!isJsonObject(value)) throw new Refusal('validation_failed', 'the body must be an object');
  const result = v.safeParse(bodySchemas[name], value);
  if (result.success) return result.output;
  throw new Refusal('validation_failed', issuesText(result.issues));
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function jsonBody({ headers, body = '' }: HttpRequest): JsonValue {
  const mediaType = withoutParameters(headers['content-type'] ?? '');
  if (mediaType.toLowerCase() !== 'application/json')
    throw new Refusal('unsupported_media_type', 'a body must be sent as application/json');
  if (Buffer.byteLength(body) > maxBodyBytes)
    throw new Refusal('payload_too_large', `the body is larger than ${maxBodyBytes} bytes`);
  try {
    return parseJson(typeof body === 'string' ? body : utf8.decode(body));
  } catch (error) {
    throw new Refusal('invalid_json', `the body is not JSON: ${messageOf(error)}`);
  }
}

/** The faults of a value, each with its JSON pointer: `/name: is required; /status: must be …`. */
export function issuesText(issues: readonly v.BaseIssue<unknown>[]): string {
  return issues
    .map((issue) => {
      const pointer = printPointer((issue.path ?? []).map(({ key }) => key));
      const why = issueReason(issue);
      return pointer === '' ? `the body ${why}` : `${pointer}: ${why}`;
    })
    .join('; ');
}
