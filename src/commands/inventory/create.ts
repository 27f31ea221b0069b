import type { Context } from '../../context.ts';
import { idArgument, quantityArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import { toWrite } from '../noun.ts';
import { readPet } from '../read-pet.ts';
import { openWrites, writeRecord } from '../write-records.ts';
import { inventory } from './noun.ts';

export function createInventory(context: Context) {
  return verb('create', {
    summary: 'Create the inventory entry of a pet',
    description: 'Creates the inventory entry of a pet, with the status that the pet has.',
    operation: 'createInventory',
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
