import type { Context } from '../../context.ts';
import { completeOrders } from './complete.ts';
import { createOrder } from './create.ts';
import { deleteOrder } from './delete.ts';
import { getOrder } from './get.ts';
import { listOrders } from './list.ts';
import { updateOrder } from './update.ts';

export function commands(context: Context): readonly object[] {
  const verbs = [listOrders, getOrder, createOrder, updateOrder, completeOrders, deleteOrder];
  return verbs.map((declare) => declare(context));
}
