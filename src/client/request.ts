import type { Operation, Parameter } from '../api/contract.ts';
import type { HttpFields, HttpRequest } from '../api/http.ts';
import { idName } from '../api/operations.ts';
import { isJsonObject, printJson } from '../json.ts';

/** The input of any operation: ids by name, a query, a body. */
export interface CallInput {
  readonly [name: string]: unknown;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}

/** Where requests go, and what each of them carries. */
export interface Target {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly fields: HttpFields;
}

/** The request of an operation; every parameter goes where the contract puts it, ids with all their digits. */
export function toRequest(operation: Operation, input: CallInput, { baseUrl, fields }: Target): HttpRequest {
  const { method, body } = operation;
  const places = placesOf(operation);
  const url = baseUrl + toPath(places, input) + toQuery(places.query, input);
  const all =
    places.header.length === 0
      ? commonFields(operation, fields)
      : { ...commonFields(operation, fields), ...headerFields(places.header, input) };
  return body ? { method, url, fields: all, body: printJson(input.body) } : { method, url, fields: all };
}

/** The fields of each request of an operation, put together once. */
function commonFields(operation: Operation, carried: HttpFields): HttpFields {
  if (!operation.body) return carried;
  const kept = commonFieldsOf.get(operation);
  if (kept?.carried === carried) return kept.fields;
  const fields = { ...carried, 'content-type': operation.body.mediaType };
  commonFieldsOf.set(operation, { carried, fields });
  return fields;
}

const commonFieldsOf = new WeakMap<
  Operation,
  { readonly carried: HttpFields; readonly fields: HttpFields }
>();

/** The input with the record's id in its body too, if the service wants it there and the caller left it out. */
export function withId({ id: operation, body: contract }: Operation, input: CallInput): CallInput {
  const { body } = input;
  const { idField } = contract ?? {};
  if (idField === undefined || !isJsonObject(body) || body[idField] !== undefined) return input;
  const id = input[idName(operation) ?? ''];
  return typeof id === 'bigint' ? { ...input, body: { [idField]: id, ...body } } : input;
}

/** A parameter's value by the program's name for it, wherever the service takes it; or the one that is always sent. */
export function parameterValue(input: CallInput, { name, value }: Parameter): unknown {
  return value ?? input.query?.[name] ?? input[name];
}

/** An operation's parameters by their place. */
interface Places {
  /** The path's text and its parameters in turn. */
  readonly path: readonly (string | Parameter)[];
  readonly query: readonly Parameter[];
  readonly header: readonly Parameter[];
}

const known = new WeakMap<Operation, Places>();

/** Worked out once for each operation: bulk work calls the same one a million times. */
function placesOf(operation: Operation): Places {
  const places = known.get(operation) ?? findPlaces(operation);
  known.set(operation, places);
  return places;
}

function findPlaces({ path, parameters }: Operation): Places {
  const inPath = parameters.filter((each) => each.in === 'path');
  return {
    path: path
      .split(/(\{[^{}]*\})/)
      .map((part) => inPath.find(({ wireName }) => part === `{${wireName}}`) ?? part),
    query: parameters.filter((each) => each.in === 'query'),
    header: parameters.filter((each) => each.in === 'header'),
  };
}

function toPath({ path }: Places, input: CallInput): string {
  let filled = '';
  for (const part of path)
    filled += typeof part === 'string' ? part : encodeURIComponent(String(parameterValue(input, part)));
  return filled;
}

function toQuery(parameters: readonly Parameter[], input: CallInput): string {
  let query = '';
  for (const parameter of parameters) {
    const value = parameterValue(input, parameter);
    if (value === undefined) continue;
    const pair = `${encodeURIComponent(parameter.wireName)}=${encodeURIComponent(String(value))}`;
    query += `${query === '' ? '?' : '&'}${pair}`;
  }
  return query;
}

function headerFields(parameters: readonly Parameter[], input: CallInput): HttpFields {
  const given = parameters
    .map((parameter) => [parameter.wireName.toLowerCase(), parameterValue(input, parameter)] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
