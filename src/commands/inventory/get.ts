import type { Context } from '../../context.ts';
import { idsArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import { getRecords } from '../get-records.ts';
import { inventory } from './noun.ts';

export function getInventory(context: Context) {
  return verb('get', {
    summary: 'Get the inventory entries of one or several pets',
    operation: 'getInventory',
    examples: ['petstore inventory get 3', 'petstore inventory get 3 4 5 -o json'],
  })
    .addArgument(idsArgument('pets', 'petId'))
    .action((ids) => getRecords(context, inventory, ids));
}
