import type { Context } from '../../context.ts';
import { idsArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import { deleteRecords } from '../delete-records.ts';
import { orders } from './noun.ts';

export function deleteOrder(context: Context) {
  return verb('delete', {
    summary: 'Delete orders, after asking',
    operation: 'deleteOrder',
    write: true,
    aliases: ['rm'],
    examples: ['petstore orders delete 1', 'petstore orders rm 1 2 --yes'],
  })
    .addArgument(idsArgument('orders'))
    .action((ids) => deleteRecords(context, orders, ids));
}
