import * as v from 'valibot';
import type { Operation } from '../api/contract.ts';
import { IdText, type QueryName, querySchemas } from '../api/schemas.ts';
import { readBody } from './body.ts';
import { Refusal } from './refusal.ts';
import type { TargetedRequest } from './target.ts';

/**
 * Gives what a handler takes: the ids of the path by name, the query, the body.
 *
 * @param values of the path's parameters in its order, still percent-encoded.
 * @throws Refusal where a part does not parse or breaks its schema.
 */
export type ReadInput = (request: TargetedRequest, values: readonly string[]) => Record<string, unknown>;

/** Looks once at what the operation takes, so that a request does not. */
export function createReadInput({ parameters, many, body }: Operation): ReadInput {
  const pathNames = namesIn('path', parameters);
  const queryNames = namesIn('query', parameters);
  return (request, values) => {
    const input: Record<string, unknown> = {};
    pathNames.forEach((name, at) => {
      input[name] = toId(name, decode(name, values[at] ?? ''));
    });
    if (many) input.query = toQuery(queryNames, request.target.query);
    if (body) input.body = readBody(body.name, request);
    return input;
  };
}

function namesIn(place: 'path' | 'query', parameters: Operation['parameters']): string[] {
  return parameters.filter((parameter) => parameter.in === place).map(({ name }) => name);
}

/** An id that needs no schema to be told from anything else: a schema takes four times as long. */
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
    // The name as the table has it: V8 would look up every piece of a URL that is to be a field's name.
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
