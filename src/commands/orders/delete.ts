import type { Context } from '../../context.ts';
import { deleteRecords } from '../../records/delete-records.ts';
import { idsArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { orders } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    write: true,
    examples: ['petstore orders delete 1', 'petstore orders rm 1 2 --yes'],
  })
    .addArgument(idsArgument('orders'))
    .action((ids) => deleteRecords(context, orders, ids));
}
