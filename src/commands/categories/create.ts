import type { Context } from '../../context.ts';
import { fromFlag, parseText } from '../arguments.ts';
import { verb } from '../command.ts';
import { createRecords } from '../create-records.ts';
import { given } from '../noun.ts';
import { categories } from './noun.ts';

export function createCategory(context: Context) {
  return verb('create', {
    summary: 'Create a category, or many from a file',
    description:
      'Creates a category, or one for each record of a file. On a terminal it asks for what is missing.',
    operation: 'createCategory',
    write: true,
    examples: [
      'petstore categories create --name Amphibians --description "Frogs, toads and newts"',
      'petstore categories create --from categories.json',
    ],
  })
    .option('--name <name>', 'what it is called', parseText('--name'))
    .option('--description <text>', 'what it is')
    .addOption(fromFlag(['name', 'description']))
    .action(({ from, name, description }) =>
      createRecords(context, categories, { from, given: given({ name, description }) }),
    );
}
