import type { Context } from '../../context.ts';
import { listRecords } from '../../records/list-records.ts';
import { parseLimit } from '../arguments.ts';
import { Option, verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { petFlag } from './flags.ts';
import { orders } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    examples: [
      'petstore orders list --open',
      'petstore orders list --pet 3 -o json',
      'petstore orders ls --sort -quantity',
    ],
  })
    .addOption(petFlag('only orders of this pet'))
    .option('--complete', 'only orders that are complete')
    .addOption(new Option('--open', 'only orders that are not complete').conflicts('complete'))
    .option('--limit <n>', 'show at most n (default: all)', parseLimit)
    .action(({ pet, complete, open, limit }) => {
      const where = { petId: pet, complete: open ? false : complete };
      return listRecords(context, orders, { operation: 'listOrders', where, limit });
    });
}
