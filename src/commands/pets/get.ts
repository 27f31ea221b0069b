import type { Context } from '../../context.ts';
import { idsArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import { getRecords } from '../get-records.ts';
import { pets } from './noun.ts';

export function getPet(context: Context) {
  return verb('get', {
    summary: 'Get one or several pets',
    operation: 'getPet',
    examples: ['petstore pets get 3', 'petstore pets get 3 4 5 -o json'],
  })
    .addArgument(idsArgument('pets'))
    .action((ids) => getRecords(context, pets, ids));
}
