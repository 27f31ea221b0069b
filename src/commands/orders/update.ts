import type { Context } from '../../context.ts';
import { idArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import { updateRecords } from '../update-records.ts';
import { givenOrder, petFlag, quantityFlag, shipDateFlag } from './flags.ts';
import { orders } from './noun.ts';

export function updateOrder(context: Context) {
  return verb('update', {
    summary: 'Change an order',
    description: 'Reads an order, changes what the flags name and writes it back; all else stays as it is.',
    operation: 'updateOrder',
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
    .option('--complete', 'it is fulfilled')
    .option('--no-complete', 'it is not yet')
    .action((id, flags) => updateRecords(context, orders, { ids: [id], given: givenOrder(flags) }));
}
