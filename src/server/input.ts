import * as v from 'valibot';
import type { Operation } from '../api/contract.ts';
import type { HttpRequest } from '../api/http.ts';
import { IdText, type QueryName, querySchemas } from '../api/schemas.ts';
import { readBody } from './body.ts';
import { Refusal } from './refusal.ts';

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
  if (operation.body) input.body = readBody(operation.body.name, request);
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
