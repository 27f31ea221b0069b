import { largestPage, offeredOperation } from '../../api/contract.ts';
import type { InventoryItem } from '../../api/schemas.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/columns.ts';
import { inventory } from '../../records/inventory.ts';
import { viewOf } from '../../records/noun.ts';

interface ExportedItem extends InventoryItem {
  /** The exported count; the row applies only if the count is still the same. */
  readonly expected: InventoryItem['quantity'];
}

/** Prints the whole inventory, page by page; as CSV by default, because it is meant to be edited and applied. */
export async function exportInventory(context: Context, withExpected: boolean): Promise<void> {
  const printer = await (context.flags.output === undefined ? context.printer('csv') : context.printer());
  const client = await context.client();
  const limit = largestPage(offeredOperation(client.contract, 'listInventory'));
  const plain = viewOf(inventory);
  if (!withExpected) {
    await printer.check(plain);
    return printer.records(client.list('listInventory', { limit }), plain);
  }
  const columns = plain.columns as View<ExportedItem>['columns'];
  const at = columns.findIndex(({ name }) => name === 'quantity') + 1;
  const expected = {
    name: 'expected',
    value: (item: ExportedItem) => item.expected,
    align: 'right',
  } as const;
  const view: View<ExportedItem> = {
    ...(plain as View<ExportedItem>),
    columns: [...columns.slice(0, at), expected, ...columns.slice(at)],
  };
  async function* items(): AsyncGenerator<ExportedItem[]> {
    for await (const page of client.list('listInventory', { limit }))
      yield page.map((item) => ({ ...item, expected: item.quantity }));
  }
  await printer.check(view);
  await printer.records(items(), view);
}
