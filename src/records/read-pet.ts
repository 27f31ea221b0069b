import { offeredOperation, takesParameter } from '../api/contract.ts';
import type { Pet } from '../api/schemas.ts';
import { wholeQueries } from '../api/shapes.ts';
import type { CallOptions } from '../client/call.ts';
import type { Answer, Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { ApiError, CliError } from '../errors.ts';

/**
 * Reads a pet with getPet. If that operation is gone (410, or 404 or 405 without an Error body, or not in the
 * contract), it finds the pet through listPets and notes that on stderr.
 */
export async function readPet(
  context: Context,
  client: Client,
  id: bigint,
  options?: CallOptions,
): Promise<Answer<Pet>> {
  if (!client.contract.operations.has('getPet'))
    return findPet(context, client, { id, why: 'is not offered' });
  try {
    return await client.call('getPet', { petId: id }, options);
  } catch (error) {
    if (!(error instanceof ApiError) || !isEndpointGone(error)) throw error;
    return findPet(context, client, { id, why: `answered ${error.status}` });
  }
}

interface Search {
  readonly id: bigint;
  /** Why getPet did not help, as the end of a sentence. */
  readonly why: string;
}

const told = new WeakSet<Client>();

function isEndpointGone({ status, details }: ApiError): boolean {
  return status === 410 || ((status === 404 || status === 405) && details.code === undefined);
}

async function findPet(context: Context, client: Client, { id, why }: Search): Promise<Answer<Pet>> {
  if (!told.has(client)) await context.note(`note: getPet ${why}: looking through listPets instead`);
  told.add(client);
  const isInParts = wholeQueries(offeredOperation(client.contract, 'listPets')).length > 1;
  for await (const page of pagesFrom(client, id)) {
    const value = page.find((pet) => pet.id === id);
    if (value) return { value, status: 200, fields: {}, etag: undefined, attempts: 1 };
    if (isPast(page, id) && !isInParts) break;
  }
  throw new CliError('not-found', `get pet ${id}: listPets has no pet with this id`);
}

/** The list from the id on if the service can start there, else all of it. */
async function* pagesFrom(client: Client, id: bigint): AsyncGenerator<Pet[]> {
  if (id > 0n && takesParameter(offeredOperation(client.contract, 'listPets'), 'after')) {
    try {
      return yield* client.list('listPets', { after: id - 1n });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  for (const query of wholeQueries(offeredOperation(client.contract, 'listPets')))
    yield* client.list('listPets', query);
}

/** Whether an ascending list has passed the id, so that later pages cannot hold it. */
function isPast(page: readonly Pet[], id: bigint): boolean {
  const goesUp =
    page.length > 1 && page.every((pet, at) => at === 0 || pet.id > (page[at - 1]?.id ?? pet.id));
  return goesUp && page.some((pet) => pet.id > id);
}
