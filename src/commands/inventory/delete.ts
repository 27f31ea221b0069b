import type { Context } from '../../context.ts';
import { deleteRecords } from '../../records/delete-records.ts';
import { idsArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { inventory } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    write: true,
    examples: ['petstore inventory delete 3', 'petstore inventory rm 3 4 5 --yes'],
  })
    .addArgument(idsArgument('pets', 'petId'))
    .action((ids) => deleteRecords(context, inventory, ids));
}
