import type { Entry } from '../entry.ts';

/** The verbs, as help lists them. */
export const entries: readonly Entry[] = [
  {
    name: 'list',
    aliases: ['ls'],
    summary: 'List inventory entries',
    operation: 'listInventory',
    load: () => import('./list.ts'),
  },
  {
    name: 'get',
    summary: 'Get the inventory entries of one or several pets',
    operation: 'getInventory',
    load: () => import('./get.ts'),
  },
  {
    name: 'set',
    summary: 'Set the stock count of a pet',
    operation: 'updateInventory',
    load: () => import('./set.ts'),
  },
  {
    name: 'adjust',
    summary: 'Add to or take from the stock count of a pet',
    operation: 'updateInventory',
    load: () => import('./adjust.ts'),
  },
  {
    name: 'create',
    summary: 'Create the inventory entry of a pet',
    operation: 'createInventory',
    load: () => import('./create.ts'),
  },
  {
    name: 'delete',
    aliases: ['rm'],
    summary: 'Delete inventory entries, after asking',
    operation: 'deleteInventory',
    load: () => import('./delete.ts'),
  },
  {
    name: 'diff',
    summary: 'Show what apply would change',
    operation: 'listInventory',
    load: () => import('./diff.ts'),
  },
  {
    name: 'apply',
    summary: 'Set stock counts to those of a file',
    operation: 'updateInventory',
    load: () => import('./apply.ts'),
  },
  {
    name: 'export',
    summary: 'Print all counts as CSV, ready for apply',
    operation: 'listInventory',
    load: () => import('./export.ts'),
  },
  {
    name: 'runs',
    summary: 'List past runs, the newest first',
    load: () => import('./runs.ts'),
  },
  {
    name: 'resume',
    summary: 'Go on where a run stopped',
    operation: 'updateInventory',
    load: () => import('./resume.ts'),
  },
  {
    name: 'undo',
    summary: 'Set back what a run changed',
    operation: 'updateInventory',
    load: () => import('./undo.ts'),
  },
];
