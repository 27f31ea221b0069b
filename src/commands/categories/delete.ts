import type { Context } from '../../context.ts';
import { idsArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import { deleteRecords } from '../delete-records.ts';
import { categories } from './noun.ts';

export function deleteCategory(context: Context) {
  return verb('delete', {
    summary: 'Delete categories that have no pets, after asking',
    operation: 'deleteCategory',
    write: true,
    aliases: ['rm'],
    examples: ['petstore categories delete 6', 'petstore categories rm 6 7 --yes'],
  })
    .addArgument(idsArgument('categories'))
    .action((ids) => deleteRecords(context, categories, ids));
}
