import type { Entry } from '../entry.ts';

/** The verbs, as help lists them. */
export const entries: readonly Entry[] = [
  {
    name: 'list',
    aliases: ['ls'],
    summary: 'List categories',
    operation: 'listCategories',
    load: () => import('./list.ts'),
  },
  {
    name: 'get',
    summary: 'Get one or several categories',
    operation: 'getCategory',
    load: () => import('./get.ts'),
  },
  {
    name: 'create',
    summary: 'Create a category, or many from a file',
    operation: 'createCategory',
    load: () => import('./create.ts'),
  },
  {
    name: 'update',
    summary: 'Change a category',
    operation: 'updateCategory',
    load: () => import('./update.ts'),
  },
  {
    name: 'delete',
    aliases: ['rm'],
    summary: 'Delete categories that have no pets, after asking',
    operation: 'deleteCategory',
    load: () => import('./delete.ts'),
  },
];
