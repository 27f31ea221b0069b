import { largestPage, offeredOperation, takesParameter } from '../api/contract.ts';
import type { ListId, Query, Result } from '../api/operations.ts';
import { requiredValues, wholeQueries } from '../api/shapes.ts';
import type { CallOptions } from './call.ts';
import type { Client } from './client.ts';

/**
 * The lists that together hold all records, each as pages. There are several if the service requires a filter, or has a
 * default for one, and must be asked for each of its values.
 */
export function* wholeList<K extends ListId>(
  client: Client,
  id: K,
  query: object,
  options?: CallOptions,
): Generator<AsyncIterable<Result<K>[]>> {
  const operation = offeredOperation(client.contract, id);
  for (const part of wholeQueries(operation, requiredValues(operation)))
    yield client.list(id, { ...query, ...part } as Query<K>, options);
}

/** The pages of these lists, one list after the other. */
export async function* wholePages<K extends ListId>(
  client: Client,
  id: K,
  query: object = {},
  options?: CallOptions,
): AsyncGenerator<Result<K>[]> {
  for (const pages of wholeList(client, id, query, options)) yield* pages;
}

/** The query for as few pages as possible. */
export function largestPages(client: Client, id: ListId): { readonly limit?: number } {
  const operation = offeredOperation(client.contract, id);
  return takesParameter(operation, 'limit') ? { limit: largestPage(operation) } : {};
}

/** The records of some lists, read to their ends, or until there are `enough`. */
export async function collect<Entity>(
  lists: Iterable<AsyncIterable<readonly Entity[]>>,
  enough = Number.POSITIVE_INFINITY,
): Promise<Entity[]> {
  const records: Entity[] = [];
  for (const pages of lists)
    for await (const page of pages) {
      // Not `push(...page)`: a page of 120,000 would overflow the stack.
      for (const record of page) records.push(record);
      if (records.length >= enough) return records;
    }
  return records;
}
