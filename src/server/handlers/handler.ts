import type { Input, ListId, OperationId, Query, Result } from '../../api/operations.ts';
import type { Entry, Page } from '../collection.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store.ts';

/** What a handler answers: a record as it is kept, one that was changed, a new one with the id that it is found by, or nothing. */
export type Reply<Value> =
  | { readonly status: 200; readonly entry: Entry<Value> }
  | { readonly status: 200; readonly value: Value }
  | { readonly status: 201; readonly value: Value; readonly id: bigint }
  | { readonly status: 204 };

/** Does one operation on the store, or throws a Refusal before it has changed anything. */
type Handler<K extends OperationId> = (
  store: Store,
  input: Input<K>,
) => K extends ListId ? Page<Result<K>> : Reply<Result<K>>;

export type Handlers<K extends OperationId = OperationId> = { readonly [Id in K]: Handler<Id> };

const defaultLimit = 100;

export const done: { readonly status: 204 } = { status: 204 };

/** The page that a list's query asks for. */
export function paging(query: Query<ListId> = {}): {
  readonly limit: number;
  readonly after: bigint | undefined;
} {
  return { limit: query.limit ?? defaultLimit, after: query.after };
}

/** @throws Refusal `not_found` where there is no record. */
export function found<Record>(record: Record | undefined, what: string, id: bigint): Record {
  if (record === undefined) throw new Refusal('not_found', `${what} ${id} does not exist`);
  return record;
}

/** The record that a field of the body refers to is missing. */
export function unknownReference(pointer: string, what: string): Refusal {
  return new Refusal('unknown_reference', `${pointer}: ${what} does not exist`);
}
