import type { Context } from '../../context.ts';
import { createRecords } from '../../records/create-records.ts';
import { given } from '../../records/noun.ts';
import { fromFlag, parseText } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { categories } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description:
      'Creates a category, or one for each record of a file. On a terminal it asks for what is missing.',
    write: true,
    examples: [
      'petstore categories create --name Amphibians --description "Frogs, toads and newts"',
      'petstore categories create --from categories.json',
    ],
  })
    .option('--name <name>', 'its name', parseText('--name'))
    .option('--description <text>', 'its description')
    .addOption(fromFlag(['name', 'description']))
    .action(({ from, name, description }) =>
      createRecords(context, categories, { from, given: given({ name, description }) }),
    );
}
