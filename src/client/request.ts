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

/** A parameter's value by the program's name for it, wherever the service takes it; or the one that is always sent. */
export function parameterValue(input: CallInput, { name, value }: Parameter): unknown {
  return value ?? input.query?.[name] ?? input[name];
}

function toPath({ path, parameters }: Operation, input: CallInput): string {
  let filled = path;
  for (const parameter of parameters)
    if (parameter.in === 'path')
      filled = filled.replace(`{${parameter.wireName}}`, () =>
        encodeURIComponent(toText(parameterValue(input, parameter))),
      );
  return filled;
}

function toQuery({ parameters }: Operation, input: CallInput): string {
  let query = '';
  for (const parameter of parameters) {
    if (parameter.in !== 'query') continue;
    const value = parameterValue(input, parameter);
    if (value === undefined) continue;
    query += `${query === '' ? '?' : '&'}${encodeURIComponent(parameter.wireName)}=${encodeURIComponent(toText(value))}`;
  }
  return query;
}

function headerFields({ parameters }: Operation, input: CallInput): HttpFields {
  const given = parameters
    .filter(isHeader)
    .map((parameter) => [parameter.wireName.toLowerCase(), parameterValue(input, parameter)] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, toText(value)]));
}

function isHeader({ in: place }: Parameter): boolean {
  return place === 'header';
}

function toText(value: unknown): string {
  return String(value);
}
