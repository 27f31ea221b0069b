import type { Context } from '../../context.ts';
import { getRecords } from '../../records/get-records.ts';
import { idsArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { orders } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    examples: ['petstore orders get 1', 'petstore orders get 1 2 -o json'],
  })
    .addArgument(idsArgument('orders'))
    .action((ids) => getRecords(context, orders, ids));
}
