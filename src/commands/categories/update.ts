import type { Context } from '../../context.ts';
import { given } from '../../records/noun.ts';
import { updateRecords } from '../../records/update-records.ts';
import { idArgument, parseText } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { categories } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description: 'Reads a category, changes what the flags name and writes it back; all else stays as it is.',
    write: true,
    examples: ['petstore categories update 1 --description "Large and small"'],
  })
    .addArgument(idArgument('the category'))
    .option('--name <name>', 'its name', parseText('--name'))
    .option('--description <text>', 'its description')
    .action((id, { name, description }) =>
      updateRecords(context, categories, { ids: [id], given: given({ name, description }) }),
    );
}
