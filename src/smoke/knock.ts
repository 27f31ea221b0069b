import type { Operation } from '../api/contract.ts';
import type { Client, RawRequest } from '../client/client.ts';
import { UsageError } from '../errors.ts';
import { idParameter, readsOf, toRaw } from './session.ts';

/** A request to find out whether anybody is there. */
export interface Knock {
  /** Undefined for the base URL itself. */
  readonly operation?: Operation | undefined;
  readonly request: RawRequest;
}

/** The operations that can be asked with no id, in the contract's order; the base URL where there is none. */
export function knocksOf(client: Client): readonly [Knock, ...Knock[]] {
  const lists = readsOf(client.contract).filter((operation) => idParameter(operation) === undefined);
  const [first, ...more] = lists.flatMap((operation) => knockWith(client, operation));
  return [first ?? { request: { method: 'GET', path: client.baseUrl } }, ...more];
}

/** None where the description wants a parameter that nobody has given. */
function knockWith(client: Client, operation: Operation): Knock[] {
  try {
    return [{ operation, request: toRaw(client, operation, {}) }];
  } catch (error) {
    if (error instanceof UsageError) return [];
    throw error;
  }
}
