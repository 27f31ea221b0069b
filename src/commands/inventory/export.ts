import { nouns } from '../../api/nouns.ts';
import type { ServiceRecord } from '../../api/record-values.ts';
import type { Context } from '../../context.ts';
import type { Column, View } from '../../output/columns.ts';
import type { Output } from '../../output/printer.ts';
import { Names } from '../../records/names.ts';
import { viewOf } from '../../records/record-fields.ts';

const expectedColumn: Column<ServiceRecord> = {
  name: 'expected',
  value: ({ fields }) => fields.quantity,
  align: 'right',
};

/**
 * Returns the columns of an export.
 *
 * @param withExpected adds the count as `expected`, so that `apply` writes a row only if the count has not changed since.
 * @param names the names of the pets by id.
 */
export function exportView(withExpected: boolean, names?: ReadonlyMap<bigint, string>): View<ServiceRecord> {
  const view = viewOf(nouns.inventory, undefined, names);
  if (!withExpected) return view;
  const index = view.columns.findIndex(({ name }) => name === 'quantity') + 1;
  return {
    ...view,
    columns: view.columns.toSpliced(index, 0, expectedColumn),
    data: ({ fields: { quantity = null }, original }) => ({ ...original, expected: quantity }),
  };
}

/** Reads the whole inventory, to be printed page by page. */
export async function exportInventory(context: Context, withExpected: boolean): Promise<Output> {
  const printer = context.printer();
  const names = new Map<bigint, string>();
  const view = exportView(withExpected, names);
  const client = await context.client();
  if (printer.shows(view, 'name'))
    for (const [id, name] of await new Names(context, client).namesOf('pets')) names.set(id, name);
  return { pages: client.list('listInventory', {}, { needsWhole: true }), view, defaultFormat: 'csv' };
}
