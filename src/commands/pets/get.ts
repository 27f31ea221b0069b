import type { Context } from '../../context.ts';
import { getRecords } from '../../records/get-records.ts';
import { idsArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { pets } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    examples: ['petstore pets get 3', 'petstore pets get 3 4 5 -o json'],
  })
    .addArgument(idsArgument('pets'))
    .action((ids) => getRecords(context, pets, ids));
}
