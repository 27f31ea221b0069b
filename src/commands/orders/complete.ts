import type { Context } from '../../context.ts';
import { given } from '../../records/noun.ts';
import { updateRecords } from '../../records/update-records.ts';
import { idsArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { orders } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description: 'Reads each order, sets complete to true and writes it back; all else stays as it is.',
    write: true,
    examples: ['petstore orders complete 1', 'petstore orders complete 1 2 3'],
  })
    .addArgument(idsArgument('orders'))
    .action((ids) => updateRecords(context, orders, { ids, given: given({ complete: true }) }));
}
