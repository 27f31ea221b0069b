import { UsageError } from '../errors.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import {
  type ListId,
  type OperationId,
  operationIds,
  type Row,
  rowOf,
  type Stability,
} from './operations.ts';
import { type BodyName, bodySchemas } from './schemas.ts';

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
  /** What the service takes if it is left out: a list is then not of all records. */
  readonly fallback?: string | undefined;
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
  /**
   * A valid value of each field that a bound body offers. Absent in the built-in contract, and if the description does not
   * say which fields there are.
   */
  readonly fields?: Readonly<Record<string, JsonValue>> | undefined;
  /** Fields that are only ever answered. */
  readonly readOnly?: readonly string[] | undefined;
  /** Whether the body may have no other fields than `fields`. */
  readonly isClosed?: true | undefined;
  /** The field that carries the record's id: the path has none, or the description requires it in the body too. */
  readonly idField?: 'id' | 'petId' | undefined;
}

/** What a description says of an answer with one status. */
export interface DocumentedAnswer {
  /** Media types without parameters, in lower case; empty if the answer has no body. */
  readonly mediaTypes: readonly string[];
  /** A JSON Schema of draft 2020-12 that needs no other document: what it refers to lies in its own `$defs`. */
  readonly schema?: JsonObject | undefined;
}

/** An operation as a service offers it: a row of the table, or what the service's own description says of that row. */
export interface Operation extends Omit<Row, Marks | 'query' | 'body' | 'source' | 'example'> {
  readonly id: OperationId;
  readonly many: boolean;
  readonly parameters: readonly Parameter[];
  readonly body?: RequestBody | undefined;
  /**
   * The fields of a bound operation's records; a field of ours that is not among them is empty. Absent in the built-in
   * contract, whose records have them all, and if the description does not say.
   */
  readonly fields?: readonly string[] | undefined;
  /**
   * By status, or `4XX`, or `default`, as the service's own description has them; absent in the built-in contract, whose
   * OpenAPI document holds them.
   */
  readonly answers?: Readonly<Record<string, DocumentedAnswer>> | undefined;
  /** Whether the description asks for a credential; false if it says nothing of security. */
  readonly secured: boolean;
  readonly stability: Stability;
  readonly deprecated: boolean;
  readonly hideTryIt: boolean;
  readonly source: Row['source'] | 'bound';
}

type Marks = 'many' | 'stability' | 'deprecated' | 'hideTryIt';

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

/** @throws UsageError if the contract lacks the operation. Commands call this before they send anything. */
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

/**
 * Whether a description asks that an operation is not offered to try (`x-hideTryItPanel`).
 *
 * @param levels the document, the path item and the operation object.
 */
export function hidesTryIt(...levels: readonly JsonObject[]): boolean {
  return levels.some((level) => level['x-hideTryItPanel'] === true);
}

/** A row with what rows leave out: the usual marks, and parameters and bodies by more than their names. */
function toOperation(id: OperationId): Operation {
  const { query = [], body, example: _, ...row } = rowOf(id);
  return {
    many: false,
    stability: 'stable',
    deprecated: false,
    hideTryIt: false,
    secured: false,
    ...row,
    id,
    parameters: [...pathNames(row.path).map(toParameter('path')), ...query.map(toParameter('query'))],
    body: body && toRequestBody(body),
  };
}

function toRequestBody(name: BodyName): RequestBody {
  const entries = Object.entries(bodySchemas[name].entries);
  const required = entries.filter(([, schema]) => schema.type !== 'optional').map(([field]) => field);
  return { name, mediaType: 'application/json', required, bounds: {} };
}

function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
}

function toParameter(place: 'path' | 'query'): (name: string) => Parameter {
  return (name) => ({ name, wireName: name, in: place, required: place === 'path' });
}
