import type { Context } from '../../context.ts';
import { idsArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import { deleteRecords } from '../delete-records.ts';
import { pets } from './noun.ts';

export function deletePet(context: Context) {
  return verb('delete', {
    summary: 'Delete pets, after asking',
    operation: 'deletePet',
    write: true,
    aliases: ['rm'],
    examples: ['petstore pets delete 3', 'petstore pets rm 3 4 5 --yes'],
  })
    .addArgument(idsArgument('pets'))
    .action((ids) => deleteRecords(context, pets, ids));
}
