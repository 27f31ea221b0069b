import { UsageError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import {
  type ListId,
  type Method,
  type Noun,
  type OperationId,
  operationIds,
  rowOf,
  type Stability,
} from './operations.ts';
import { type BodyName, bodySchemas, type ResultName } from './schemas.ts';

/** Bounds that a description puts on a value, in the words of JSON Schema. */
export interface Bounds {
  readonly type?: 'integer' | 'number' | 'string' | 'boolean' | undefined;
  readonly enum?: readonly string[] | undefined;
  readonly minimum?: number | bigint | undefined;
  readonly maximum?: number | bigint | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly pattern?: string | undefined;
}

export interface Parameter {
  /** The program's name for it: that of the table. */
  readonly name: string;
  /** Its name on the wire, and in the path's template. */
  readonly wireName: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly bounds?: Bounds | undefined;
  /** Sent always: a parameter that the program does not know, with the one value that the description gives. */
  readonly value?: string | undefined;
}

export interface RequestBody {
  readonly name: BodyName;
  readonly mediaType: string;
  /** Fields that must be there. */
  readonly required: readonly string[];
  /** Bounds by field, checked before a request. */
  readonly bounds: Readonly<Record<string, Bounds>>;
}

/** What a description says of an answer with one status. */
export interface DocumentedAnswer {
  /** Media types without parameters, in lower case; empty where the answer has no body. */
  readonly mediaTypes: readonly string[];
  /** A JSON Schema of draft 2020-12 that needs no other document: what it refers to lies in its own `$defs`. */
  readonly schema?: JsonObject | undefined;
}

/** An operation as a service offers it: a row of the table, or what the service's own description says of that row. */
export interface Operation {
  readonly id: OperationId;
  readonly noun: Noun;
  readonly tag: string;
  readonly summary: string;
  readonly method: Method;
  /** Template below the base URL, as `/pets/{petId}`. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body?: RequestBody | undefined;
  readonly result?: ResultName | undefined;
  readonly many: boolean;
  /** Documented statuses of success, the usual one first. */
  readonly success: readonly number[];
  readonly errors: readonly number[];
  /**
   * By status, or `4XX`, or `default`, as the service's own description has them; absent in the built-in contract, whose
   * OpenAPI document holds them.
   */
  readonly answers?: Readonly<Record<string, DocumentedAnswer>> | undefined;
  /** Whether the description asks for a credential; false where it says nothing of security. */
  readonly secured: boolean;
  readonly stability: Stability;
  readonly deprecated: boolean;
  /** YYYY-MM-DD, where the description gives one. */
  readonly sunset?: string | undefined;
  readonly hideTryIt: boolean;
  readonly source: 'stated' | 'chosen' | 'bound';
}

/** Where a request carries a credential. */
export interface CredentialPlace {
  readonly in: 'header' | 'query' | 'cookie';
  /** A header's in lower case. */
  readonly name: string;
}

/** What a service offers: each operation of the table, or the reason why there is none. */
export interface Contract {
  readonly operations: ReadonlyMap<OperationId, Operation>;
  /** Why an operation is missing, a clause without a full stop. */
  readonly missing: ReadonlyMap<OperationId, string>;
  /** Where requests may carry a credential, as the description's security schemes have it. */
  readonly credentialPlaces: readonly CredentialPlace[];
}

/** The contract of the table itself: what a profile that is bound to nothing talks to. */
export const builtInContract: Contract = {
  operations: new Map(operationIds.map((id) => [id, toOperation(id)])),
  missing: new Map(),
  credentialPlaces: [],
};

/** @throws UsageError where the contract lacks the operation: a command asks before it sends anything. */
export function offeredOperation({ operations, missing }: Contract, id: OperationId): Operation {
  const operation = operations.get(id);
  if (operation) return operation;
  throw new UsageError(
    `${id}: the service offers no such operation: ${missing.get(id) ?? 'its description has none'}`,
    'see `petstore api operations`; `petstore api bind --map` settles what was not found',
  );
}

/** Whether an operation takes a parameter with this name of the table. */
export function takesParameter({ parameters }: Operation, name: string): boolean {
  return parameters.some((parameter) => parameter.name === name);
}

/** The most records that one page of a list may be asked for: 1000, as in the table, unless a description says less. */
export function largestPage({ parameters }: Operation): number {
  const maximum = parameters.find(({ name }) => name === 'limit')?.bounds?.maximum;
  return Math.min(1000, Number(maximum ?? 1000));
}

export function isListId(id: OperationId): id is ListId {
  return rowOf(id).many === true;
}

function toOperation(id: OperationId): Operation {
  const row = rowOf(id);
  return {
    id,
    noun: row.noun,
    tag: row.tag,
    summary: row.summary,
    method: row.method,
    path: row.path,
    parameters: [...pathParameters(row.path), ...queryParameters(row.query ?? [])],
    body: row.body && toRequestBody(row.body),
    result: row.result,
    many: row.many === true,
    success: row.success,
    errors: row.errors,
    secured: false,
    stability: row.stability ?? 'stable',
    deprecated: row.deprecated === true,
    sunset: row.sunset,
    hideTryIt: row.hideTryIt === true,
    source: row.source,
  };
}

function toRequestBody(name: BodyName): RequestBody {
  const entries = Object.entries(bodySchemas[name].entries);
  const required = entries.filter(([, schema]) => schema.type !== 'optional').map(([field]) => field);
  return { name, mediaType: 'application/json', required, bounds: {} };
}

function pathParameters(path: string): Parameter[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  return names.map((name) => ({
    name,
    wireName: name,
    in: 'path',
    required: true,
  }));
}

function queryParameters(names: readonly string[]): Parameter[] {
  return names.map((name) => ({
    name,
    wireName: name,
    in: 'query',
    required: false,
  }));
}
