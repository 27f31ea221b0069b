import type { Context } from '../../context.ts';
import { listRecords } from '../../records/list-records.ts';
import { parseLimit } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { resolveCategory } from './categories.ts';
import { categoryFlag, statusFlag } from './flags.ts';
import { pets } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    examples: [
      'petstore pets list',
      'petstore pets list --status available --category Dogs',
      'petstore pets list --sort -id --limit 10',
      'petstore pets ls -o csv > pets.csv',
    ],
  })
    .addOption(statusFlag('only pets of this status'))
    .addOption(categoryFlag('only pets of this category'))
    .option('--limit <n>', 'show at most n (default: all)', parseLimit)
    .action(async ({ status, category, limit }) => {
      const categoryId =
        category === undefined ? undefined : await resolveCategory(await context.client(), category);
      await listRecords(context, pets, { operation: 'listPets', where: { status, categoryId }, limit });
    });
}
