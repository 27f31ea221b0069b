import { largestPage, offeredOperation } from '../../api/contract.ts';
import type { Context } from '../../context.ts';
import type { Printer } from '../../output/print.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { inventoryView } from './view.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description:
      'Prints the whole inventory as CSV, or as -o says, page by page. What it prints can be edited and applied.',
    examples: ['petstore inventory export > stock.csv', 'petstore inventory export -o jsonl > stock.jsonl'],
  }).action(async () => {
    const printer = await openCsvPrinter(context);
    await printer.check(inventoryView);
    const client = await context.client();
    const limit = largestPage(offeredOperation(client.contract, 'listInventory'));
    await printer.records(client.list('listInventory', { limit }), inventoryView);
  });
}

/** CSV unless a flag says otherwise: a table that somebody has chosen for lists would not be a stock file. */
async function openCsvPrinter(context: Context): Promise<Printer> {
  if (context.flags.output !== undefined) return context.printer();
  return context.printer('csv');
}
