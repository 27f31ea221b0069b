import type { Context } from '../../context.ts';
import { listRecords } from '../../records/list-records.ts';
import { parseLimit } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { categories } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    examples: ['petstore categories list', 'petstore categories ls --sort name -o json'],
  })
    .option('--limit <n>', 'show at most n (default: all)', parseLimit)
    .action(({ limit }) =>
      listRecords(context, categories, { operation: 'listCategories', where: {}, limit }),
    );
}
