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

/** Bounds of a value in a description, in the terms of JSON Schema. */
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
  /** The program's name for it, as in the table. */
  readonly name: string;
  /** Its name on the wire, and in the path's template. */
  readonly wireName: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly bounds?: Bounds | undefined;
  /** The service's default; without a value the list does then not hold all records. */
  readonly fallback?: string | undefined;
  /** A constant that is always sent: the only allowed value of a parameter that the program does not know. */
  readonly value?: string | undefined;
}

export interface RequestBody {
  readonly name: BodyName;
  readonly mediaType: string;
  /** Required fields. */
  readonly required: readonly string[];
  /** Bounds by field, checked before a request. */
  readonly bounds: Readonly<Record<string, Bounds>>;
  /**
   * A valid value for each field of a bound body. Undefined in the built-in contract, and if the description does not
   * list the fields.
   */
  readonly fields?: Readonly<Record<string, JsonValue>> | undefined;
  /** Fields that occur only in answers. */
  readonly readOnly?: readonly string[] | undefined;
  /** True if the body must not have fields other than `fields`. */
  readonly isClosed?: true | undefined;
  /** The field with the record's id, if the path has none or the description requires it in the body too. */
  readonly idField?: 'id' | 'petId' | undefined;
}

/** The documented answer for one status. */
export interface DocumentedAnswer {
  /** Media types without parameters, in lower case; empty if the answer has no body. */
  readonly mediaTypes: readonly string[];
  /** A self-contained JSON Schema of draft 2020-12: everything that it refers to is in its own `$defs`. */
  readonly schema?: JsonObject | undefined;
}

/** An operation as a service offers it: a row of the table, or that row as the service's own description defines it. */
export interface Operation extends Omit<Row, Marks | 'query' | 'body' | 'source' | 'example'> {
  readonly id: OperationId;
  readonly many: boolean;
  readonly parameters: readonly Parameter[];
  readonly body?: RequestBody | undefined;
  /**
   * The fields of a bound operation's records. Other fields of the table are empty. Undefined in the built-in contract,
   * whose records have all fields, and if the description does not list them.
   */
  readonly fields?: readonly string[] | undefined;
  /**
   * By status, `4XX` or `default`, from the service's own description; undefined in the built-in contract, whose
   * OpenAPI document has them.
   */
  readonly answers?: Readonly<Record<string, DocumentedAnswer>> | undefined;
  /** True if the description requires a credential; false if it does not mention security. */
  readonly secured: boolean;
  readonly stability: Stability;
  readonly deprecated: boolean;
  readonly hideTryIt: boolean;
  readonly source: Row['source'] | 'bound';
}

type Marks = 'many' | 'stability' | 'deprecated' | 'hideTryIt';

/** A place for a credential in a request. */
export interface CredentialPlace {
  readonly in: 'header' | 'query' | 'cookie';
  /** In lower case for a header. */
  readonly name: string;
}

/** The operations that a service offers; for the others of the table, the reason why it does not. */
export interface Contract {
  readonly operations: ReadonlyMap<OperationId, Operation>;
  /** Why an operation is missing, a clause without a full stop. */
  readonly missing: ReadonlyMap<OperationId, string>;
  /** The places for a credential, from the description's security schemes. */
  readonly credentialPlaces: readonly CredentialPlace[];
}

/** The contract of the table, used by a profile that is not bound. */
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
 * Whether a description asks tools not to offer an operation interactively (`x-hideTryItPanel`).
 *
 * @param levels the document, the path item and the operation object.
 */
export function hidesTryIt(...levels: readonly JsonObject[]): boolean {
  return levels.some((level) => level['x-hideTryItPanel'] === true);
}

/** A row with its defaults filled in, and with full parameters and bodies. */
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
