import { UsageError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { type ListId, type Operation, type OperationId, operations } from './operations.ts';

/** A place for a credential in a request. */
export interface CredentialPlace {
  readonly in: 'header' | 'query' | 'cookie';
  /** In lower case for a header. */
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
}

/** The contract of the table, used by a profile that is not bound. */
export const builtInContract: Contract = {
  operations: new Map(Object.values(operations).map((operation) => [operation.id, operation])),
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
    'unbound',
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

/**
 * Whether a list that came in one page may have more records, which nothing leads to.
 *
 * @param asked the page size that was asked for.
 */
export function mayHaveMore({ unlinkedPage }: Operation, count: number, asked?: number): boolean {
  const size = asked ?? unlinkedPage ?? 0;
  return unlinkedPage !== undefined && size > 0 && count >= size;
}

export function isListId(id: OperationId): id is ListId {
  return operations[id].many;
}

/**
 * Whether a description asks tools not to offer an operation interactively (`x-hideTryItPanel`).
 *
 * @param levels the document, the path item and the operation object.
 */
export function hidesTryIt(...levels: readonly JsonObject[]): boolean {
  return levels.some((level) => level['x-hideTryItPanel'] === true);
}
