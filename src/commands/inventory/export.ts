import type { InventoryItem } from '../../api/schemas.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/columns.ts';
import { inventory } from '../../records/inventory.ts';
import { Names } from '../../records/names.ts';

const expected: Column<InventoryItem> = {
  name: 'expected',
  value: ({ quantity }) => quantity,
  align: 'right',
};

/**
 * Prints the whole inventory, page by page; as CSV by default, because it is meant to be edited and applied.
 *
 * @param withExpected adds the exported count as `expected`: the row then applies only if the count is still the same.
 */
export async function exportInventory(context: Context, withExpected: boolean): Promise<void> {
  const printer = await (context.flags.output === undefined ? context.printer('csv') : context.printer());
  const names = new Map<bigint, string>();
  const columns = inventory.columns(names);
  const at = columns.findIndex(({ name }) => name === 'quantity') + 1;
  const view = {
    noun: inventory.plural,
    columns: withExpected ? columns.toSpliced(at, 0, expected) : columns,
  };
  await printer.check(view);
  const client = await context.client();
  const note = printer.shows(view, 'name')
    ? await new Names(context, client).addAll('pets', names)
    : undefined;
  if (note) await context.warn(note);
  async function* pages(): AsyncGenerator<InventoryItem[]> {
    for await (const page of client.list('listInventory', {}, { whole: true }))
      yield withExpected ? page.map((item) => ({ ...item, expected: item.quantity })) : page;
  }
  await printer.records(pages(), view);
}
