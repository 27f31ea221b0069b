import type { Entry } from '../entry.ts';

/** The verbs, as help lists them. */
export const entries: readonly Entry[] = [
  {
    name: 'init',
    summary: 'Set up: ask for a service, make a profile for it and use it',
    load: () => import('./init.ts'),
  },
  {
    name: 'list',
    aliases: ['ls'],
    summary: 'List what the config file holds',
    load: () => import('./list.ts'),
  },
  {
    name: 'get',
    summary: 'Print one value of the config',
    load: () => import('./get.ts'),
  },
  {
    name: 'set',
    summary: 'Set a value in the config file',
    load: () => import('./set.ts'),
  },
  {
    name: 'unset',
    summary: 'Take a value out of the config file',
    load: () => import('./unset.ts'),
  },
  {
    name: 'path',
    summary: 'Show where config, state and the embedded store lie',
    load: () => import('./path.ts'),
  },
  {
    name: 'explain',
    summary: 'Show every setting, its value and where it came from',
    load: () => import('./explain.ts'),
  },
];
