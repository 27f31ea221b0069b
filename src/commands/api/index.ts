import type { Entry } from '../entry.ts';

/** The verbs, as help lists them. */
export const entries: readonly Entry[] = [
  {
    name: 'operations',
    aliases: ['ls'],
    summary: 'List the operations of the service and where each comes from',
    load: () => import('./operations.ts'),
  },
  {
    name: 'spec',
    summary: 'Print the OpenAPI 3.0.3 document of the service',
    load: () => import('./spec.ts'),
  },
  {
    name: 'bind',
    summary: "Follow a service's own OpenAPI description",
    load: () => import('./bind.ts'),
  },
  {
    name: 'unbind',
    summary: 'Go back to the built-in contract',
    load: () => import('./unbind.ts'),
  },
  {
    name: 'request',
    summary: 'Send a request of your own making',
    load: () => import('./request.ts'),
  },
  {
    name: 'try',
    summary: 'Try an operation: answer questions, look at the request, send it',
    load: () => import('./try.ts'),
  },
];
