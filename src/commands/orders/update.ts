import type { Context } from '../../context.ts';
import { updateRecords } from '../../records/update-records.ts';
import { idArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { givenOrder, petFlag, quantityFlag, shipDateFlag } from './flags.ts';
import { orders } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description: 'Reads an order, changes what the flags name and writes it back; all else stays as it is.',
    write: true,
    examples: [
      'petstore orders update 1 --quantity 3',
      'petstore orders update 1 --ship-date 2027-01-15T09:00:00Z --no-complete',
    ],
  })
    .addArgument(idArgument('the order'))
    .addOption(petFlag('the pet that is ordered'))
    .addOption(quantityFlag())
    .addOption(shipDateFlag())
    .option('--complete', 'the order is fulfilled')
    .option('--no-complete', 'the order is not fulfilled yet')
    .action((id, flags) => updateRecords(context, orders, { ids: [id], given: givenOrder(flags) }));
}
