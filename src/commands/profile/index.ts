import type { Entry } from '../entry.ts';

/** The verbs, as help lists them. */
export const entries: readonly Entry[] = [
  {
    name: 'list',
    aliases: ['ls'],
    summary: 'List the profiles and mark the active one',
    load: () => import('./list.ts'),
  },
  {
    name: 'create',
    summary: 'Make a profile for a service',
    load: () => import('./create.ts'),
  },
  {
    name: 'use',
    summary: 'Make a profile the active one',
    load: () => import('./use.ts'),
  },
  {
    name: 'show',
    summary: 'Show what a profile holds',
    load: () => import('./show.ts'),
  },
  {
    name: 'delete',
    aliases: ['rm'],
    summary: 'Delete a profile and the contract bound to it',
    load: () => import('./delete.ts'),
  },
];
