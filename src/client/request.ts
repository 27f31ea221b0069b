import type { Operation, Parameter } from '../api/contract.ts';
import type { HttpFields, HttpRequest } from '../api/http.ts';
import { printJson } from '../json.ts';

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
export function toRequest(operation: Operation, input: CallInput, target: Target): HttpRequest {
  const url = target.baseUrl + toPath(operation, input) + toQuery(operation, input);
  const fields = operation.parameters.some(isHeader)
    ? { ...target.fields, ...headerFields(operation, input) }
    : target.fields;
  if (!operation.body) return { method: operation.method, url, fields };
  return {
    method: operation.method,
    url,
    fields: { ...fields, 'content-type': operation.body.mediaType },
    body: printJson(input.body),
  };
}

/** A parameter's value by the program's name for it, wherever the service takes it. */
export function parameterValue(input: CallInput, name: string): unknown {
  return input.query?.[name] ?? input[name];
}

function toPath({ path, parameters }: Operation, input: CallInput): string {
  let filled = path;
  for (const { in: place, name, wireName } of parameters)
    if (place === 'path')
      filled = filled.replace(`{${wireName}}`, () => encodeURIComponent(toText(parameterValue(input, name))));
  return filled;
}

function toQuery({ parameters }: Operation, input: CallInput): string {
  let query = '';
  for (const { in: place, name, wireName } of parameters) {
    if (place !== 'query') continue;
    const value = parameterValue(input, name);
    if (value === undefined) continue;
    query += `${query === '' ? '?' : '&'}${encodeURIComponent(wireName)}=${encodeURIComponent(toText(value))}`;
  }
  return query;
}

function headerFields({ parameters }: Operation, input: CallInput): HttpFields {
  const given = parameters
    .filter(isHeader)
    .map(({ name, wireName }) => [wireName.toLowerCase(), parameterValue(input, name)] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, toText(value)]));
}

function isHeader({ in: place }: Parameter): boolean {
  return place === 'header';
}

function toText(value: unknown): string {
  return String(value);
}
