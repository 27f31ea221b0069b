// The folder says what the service is, as data. Its specification states two operations and the schemas; this project chose
// the other operations. operations.ts is the table of them all, schemas.ts and values.ts say what their records may hold,
// and openapi.ts prints the table as a document. This file has what one service offers of the table. lifecycle.ts reads
// notices about operations; http.ts has the requests and responses that client and server exchange.

import { UsageError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { lowerFirst } from '../process/text.ts';
import { nouns } from './nouns.ts';
import { type Operation, type OperationId, operations } from './operations.ts';

/** A place for a credential in a request. */
export interface CredentialPlace {
  readonly in: 'header' | 'query' | 'cookie';
  /** The name of a header is in lower case. */
  readonly name: string;
  /** The scheme of HTTP authentication, if the description asks for another than Bearer. */
  readonly scheme?: 'Basic' | undefined;
}

/** The operations that a service offers, and the reasons why it lacks the others of the table. */
export interface Contract {
  readonly operations: ReadonlyMap<OperationId, Operation>;
  /** Why an operation is missing, a clause without a full stop. */
  readonly missing: ReadonlyMap<OperationId, string>;
  /** The places for a credential, from the description's security schemes. */
  readonly credentialPlaces: readonly CredentialPlace[];
  /** The path below which the operations of a bound service lie if the base URL has none: `/v1`; empty for none. */
  readonly basePath: string;
  /** The schemas that those of the answers refer to as `#/$defs/<name>`. */
  readonly definitions: JsonObject;
}

/** The contract of the table, which applies to a profile without a binding. */
export const builtInContract: Contract = {
  operations: new Map(Object.values(operations).map((operation) => [operation.id, operation])),
  missing: new Map(),
  credentialPlaces: [],
  basePath: '',
  definitions: {},
};

/** @throws UsageError if the contract lacks the operation. Commands call this before they send anything. */
export function offeredOperation(contract: Contract, id: OperationId): Operation {
  const operation = contract.operations.get(id);
  if (operation) return operation;
  const what = lowerFirst(operations[id].summary);
  throw new UsageError(
    `the service offers no way to ${what}: ${contract.missing.get(id) ?? 'its description has none'} (${id})`,
    'see `petstore api operations`',
    'unbound',
  );
}

/** Whether an operation takes a parameter with this name of the table. */
export function takesParameter({ parameters }: Operation, name: string): boolean {
  return parameters.some((parameter) => parameter.name === name);
}

/** Whether a list is ordered by id and can begin after an id. */
export function canBeginAfterId(list: Operation): boolean {
  return takesParameter(list, 'after');
}

/** Whether the body of an operation takes a field. */
export function takesField({ body }: Operation, name: string): boolean {
  return body !== undefined && Object.hasOwn(body.fields, name);
}

/** Lists the required fields that values lack. The id of an update is not among them, because each request adds it. */
export function lackingFields(
  { body, noun }: Operation,
  values: Readonly<Record<string, unknown>>,
): string[] {
  return Object.entries(body?.fields ?? {}).flatMap(([name, { required }]) => {
    const isAdded = body?.hasId && name === nouns[noun].idField;
    return required && !isAdded && values[name] === undefined ? [name] : [];
  });
}

/**
 * Whether a description asks tools not to offer an operation interactively (`x-hideTryItPanel`).
 *
 * @param levels the document, the path item and the operation object.
 */
export function hidesTryIt(...levels: readonly object[]): boolean {
  return levels.some((level) => 'x-hideTryItPanel' in level && level['x-hideTryItPanel'] === true);
}

/** The key of the original inside a record by our names. It is not enumerable, so it is never printed, sent or copied. */
const original = Symbol('original');

/** A record by our names. If the service has other names, it also holds the object that the service sent. */
export interface NamedRecord {
  readonly [original]?: JsonObject;
}

/** Joins the fields of a record by our names with the record that the service sent. */
export function toNamedRecord(fields: JsonObject, record: JsonObject): JsonObject & NamedRecord {
  return Object.defineProperty(fields, original, { value: record });
}

/** Returns the record as the service sent it. */
export function originalOf<Record extends object>(record: Record & NamedRecord): Record | JsonObject {
  return record[original] ?? record;
}
