import type { InventoryItem } from '../../api/schemas.ts';
import { listInventory } from '../../bulk/counts.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/columns.ts';
import { inventory } from '../../records/inventory.ts';
import { viewOf } from '../../records/noun.ts';

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
  const list = listInventory(await context.client());
  const plain = viewOf(inventory);
  const at = plain.columns.findIndex(({ name }) => name === 'quantity') + 1;
  const view = withExpected ? { ...plain, columns: plain.columns.toSpliced(at, 0, expected) } : plain;
  async function* pages(): AsyncGenerator<InventoryItem[]> {
    for await (const page of list)
      yield withExpected ? page.map((item) => ({ ...item, expected: item.quantity })) : page;
  }
  await printer.check(view);
  await printer.records(pages(), view);
}
