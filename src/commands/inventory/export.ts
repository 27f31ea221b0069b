import { nouns } from '../../api/nouns.ts';
import type { Context } from '../../context.ts';
import type { Column, View } from '../../output/columns.ts';
import type { Output } from '../../output/print.ts';
import type { JsonObject } from '../../process/exact-json.ts';
import { Names } from '../../records/names.ts';
import { viewOf } from '../../records/record-nouns.ts';

const expectedColumn: Column<JsonObject> = {
  name: 'expected',
  value: ({ quantity }) => quantity,
  align: 'right',
};

/**
 * Returns the columns of an export.
 *
 * @param withExpected adds the count as `expected`, so that `apply` writes a row only if the count has not changed since.
 * @param names the names of the pets by id.
 */
export function exportView(withExpected: boolean, names?: ReadonlyMap<bigint, string>): View<JsonObject> {
  const { plural, columns } = viewOf(nouns.inventory, undefined, names);
  const index = columns.findIndex(({ name }) => name === 'quantity') + 1;
  return { plural, columns: withExpected ? columns.toSpliced(index, 0, expectedColumn) : columns };
}

/** Reads the whole inventory, to be printed page by page. */
export async function exportInventory(context: Context, withExpected: boolean): Promise<Output> {
  const printer = await context.printer();
  const names = new Map<bigint, string>();
  const view = exportView(withExpected, names);
  const client = await context.client();
  if (printer.shows(view, 'name'))
    for (const [id, name] of await new Names(context, client).namesOf('pets')) names.set(id, name);
  const list: AsyncIterable<JsonObject[]> = client.list('listInventory', {}, { whole: true });
  async function* pages(): AsyncGenerator<JsonObject[]> {
    for await (const page of list)
      yield withExpected ? page.map((item) => ({ ...item, expected: item.quantity ?? null })) : page;
  }
  return { pages: pages(), view, defaultFormat: 'csv' };
}
