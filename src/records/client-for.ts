import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';

/** From so many requests on, the transport that is slower to start and faster to run pays. */
const manyRequests = 20;

export function clientFor(context: Context, requests: number): Promise<Client> {
  return context.client(requests < manyRequests ? 'few' : 'many');
}
