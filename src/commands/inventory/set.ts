import type { Context } from '../../context.ts';
import { openWrites, writeRecord } from '../../records/write-records.ts';
import { idArgument, quantityArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { countWrite } from './count-write.ts';
import { inventory } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    write: true,
    examples: ['petstore inventory set 42 10', 'petstore inventory set 42 0 --dry-run'],
  })
    .addArgument(idArgument('the pet', 'petId'))
    .addArgument(quantityArgument())
    .action(async (petId, quantity) => {
      const client = await openWrites(context, inventory, {
        operation: 'updateInventory',
        what: `set the stock of pet ${petId} to ${quantity}`,
      });
      await writeRecord(context, inventory, { client, write: countWrite(context, { petId, quantity }) });
    });
}
