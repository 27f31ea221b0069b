import type { Context } from '../../context.ts';
import { createRecords } from '../../records/create-records.ts';
import { fromFlag } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { givenOrder, petFlag, quantityFlag, shipDateFlag } from './flags.ts';
import { orders } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description:
      'Creates an order, or one for each record of a file. On a terminal it asks for what is missing.',
    write: true,
    examples: [
      'petstore orders create --pet 3 --quantity 2 --ship-date 2027-01-15',
      'petstore orders create --from orders.jsonl',
    ],
  })
    .addOption(petFlag('the pet that is ordered'))
    .addOption(quantityFlag())
    .addOption(shipDateFlag())
    .option('--complete', 'the order is fulfilled')
    .option('--no-complete', 'the order is not fulfilled yet')
    .addOption(fromFlag(['pet', 'quantity', 'shipDate', 'complete']))
    .action(({ from, ...flags }) => createRecords(context, orders, { from, given: givenOrder(flags) }));
}
