import type { Entry } from '../entry.ts';

/** The verbs, as help lists them. */
export const entries: readonly Entry[] = [
  {
    name: 'list',
    aliases: ['ls'],
    summary: 'List orders',
    operation: 'listOrders',
    load: () => import('./list.ts'),
  },
  {
    name: 'get',
    summary: 'Get one or several orders',
    operation: 'getOrder',
    load: () => import('./get.ts'),
  },
  {
    name: 'create',
    summary: 'Create an order, or many from a file',
    operation: 'createOrder',
    load: () => import('./create.ts'),
  },
  {
    name: 'update',
    summary: 'Change an order',
    operation: 'updateOrder',
    load: () => import('./update.ts'),
  },
  {
    name: 'complete',
    summary: 'Mark orders as complete',
    operation: 'updateOrder',
    load: () => import('./complete.ts'),
  },
  {
    name: 'delete',
    aliases: ['rm'],
    summary: 'Delete orders, after asking',
    operation: 'deleteOrder',
    load: () => import('./delete.ts'),
  },
];
