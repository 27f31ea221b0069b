import { petStatuses } from '../../api/schemas.ts';
import type { Context } from '../../context.ts';
import { listRecords } from '../../records/list-records.ts';
import { parseLimit, parseQuantity } from '../arguments.ts';
import { Option, verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { inventory } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    examples: [
      'petstore inventory list --below 5 --sort quantity',
      'petstore inventory list --status available',
      'petstore inventory ls -o csv > stock.csv',
    ],
  })
    .addOption(new Option('--status <status>', 'only entries of pets of this status').choices(petStatuses))
    .option('--below <n>', 'only entries with a quantity under n', (text) => parseQuantity(text, '--below'))
    .option('--limit <n>', 'show at most n (default: all)', parseLimit)
    .action(({ status, below, limit }) =>
      listRecords<'listInventory'>(context, inventory, {
        operation: 'listInventory',
        where: { status },
        ...(below === undefined ? {} : { matches: ({ quantity }) => quantity < below }),
        limit,
      }),
    );
}
