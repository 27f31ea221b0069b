import type { Context } from '../../context.ts';
import { deleteRecords } from '../../records/delete-records.ts';
import { idsArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { categories } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    write: true,
    examples: ['petstore categories delete 6', 'petstore categories rm 6 7 --yes'],
  })
    .addArgument(idsArgument('categories'))
    .action((ids) => deleteRecords(context, categories, ids));
}
