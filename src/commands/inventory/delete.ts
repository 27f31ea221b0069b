import type { Context } from '../../context.ts';
import { idsArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import { deleteRecords } from '../delete-records.ts';
import { inventory } from './noun.ts';

export function deleteInventory(context: Context) {
  return verb('delete', {
    summary: 'Delete inventory entries, after asking',
    operation: 'deleteInventory',
    write: true,
    aliases: ['rm'],
    examples: ['petstore inventory delete 3', 'petstore inventory rm 3 4 5 --yes'],
  })
    .addArgument(idsArgument('pets', 'petId'))
    .action((ids) => deleteRecords(context, inventory, ids));
}
