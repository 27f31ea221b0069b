import type { Entry } from '../entry.ts';

/** The verbs, as help lists them. */
export const entries: readonly Entry[] = [
  {
    name: 'list',
    aliases: ['ls'],
    summary: 'List pets',
    operation: 'listPets',
    load: () => import('./list.ts'),
  },
  {
    name: 'get',
    summary: 'Get one or several pets',
    operation: 'getPet',
    load: () => import('./get.ts'),
  },
  {
    name: 'create',
    summary: 'Create a pet, or many from a file',
    operation: 'createPet',
    load: () => import('./create.ts'),
  },
  {
    name: 'update',
    summary: 'Change a pet',
    operation: 'updatePet',
    load: () => import('./update.ts'),
  },
  {
    name: 'delete',
    aliases: ['rm'],
    summary: 'Delete pets, after asking',
    operation: 'deletePet',
    load: () => import('./delete.ts'),
  },
];
