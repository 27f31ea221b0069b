import { largestPage, offeredOperation } from '../../api/contract.ts';
import type { Context } from '../../context.ts';
import type { Printer } from '../../output/print.ts';
import { inventoryView } from './view.ts';

/** Prints every entry of the inventory, page by page. */
export async function exportInventory(context: Context): Promise<void> {
  const printer = await openCsvPrinter(context);
  await printer.check(inventoryView);
  const client = await context.client();
  const limit = largestPage(offeredOperation(client.contract, 'listInventory'));
  await printer.records(client.list('listInventory', { limit }), inventoryView);
}

/** CSV unless a flag says otherwise: a table that somebody has chosen for lists would not be a stock file. */
async function openCsvPrinter(context: Context): Promise<Printer> {
  if (context.flags.output !== undefined) return context.printer();
  return context.printer('csv');
}
