import type { Context } from '../../context.ts';
import { toWrite } from '../../records/noun.ts';
import { readPet } from '../../records/read-pet.ts';
import { openWrites, writeRecord } from '../../records/write-records.ts';
import { idArgument, quantityArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { inventory } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description: 'Creates the inventory entry of a pet, with the status that the pet has.',
    write: true,
    examples: ['petstore inventory create 42 10'],
  })
    .addArgument(idArgument('the pet', 'petId'))
    .addArgument(quantityArgument())
    .action(async (petId, quantity) => {
      const client = await openWrites(context, inventory, {
        operation: 'createInventory',
        what: `create the inventory entry of pet ${petId}`,
      });
      const pet = (await readPet(context, client, petId)).value;
      const write = toWrite('createInventory', {
        body: { petId, quantity, status: pet.status ?? 'available' },
      });
      await writeRecord(context, inventory, { client, write });
    });
}
