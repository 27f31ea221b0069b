import { offeredOperation, takesParameter } from '../api/contract.ts';
import type { Pet } from '../api/schemas.ts';
import type { CallOptions } from '../client/call.ts';
import type { Answer, Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { ApiError, CliError } from '../errors.ts';
import { wholeList } from './whole-list.ts';

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
  if (!client.contract.operations.has('getPet')) return findPet(context, client, id, 'is not offered');
  try {
    return await client.call('getPet', { petId: id }, options);
  } catch (error) {
    if (!(error instanceof ApiError) || !isEndpointGone(error)) throw error;
    return findPet(context, client, id, `answered ${error.status}`);
  }
}

function isEndpointGone({ status, details }: ApiError): boolean {
  return status === 410 || ((status === 404 || status === 405) && details.code === undefined);
}

const told = new WeakSet<Client>();

/** @param why getPet did not help, as the end of a sentence. */
async function findPet(context: Context, client: Client, id: bigint, why: string): Promise<Answer<Pet>> {
  if (!told.has(client)) await context.note(`note: getPet ${why}: looking through listPets instead`);
  told.add(client);
  const canSeek = id > 0n && takesParameter(offeredOperation(client.contract, 'listPets'), 'after');
  for (const pages of wholeList(client, 'listPets', canSeek ? { after: id - 1n } : {}))
    for await (const page of pages) {
      const value = page.find((pet) => pet.id === id);
      if (value) return { value, status: 200, fields: {}, etag: undefined, attempts: 1 };
      // The list began at the id, so that its later pages cannot hold it.
      if (canSeek && page.length > 0 && page.every((pet) => pet.id > id)) break;
    }
  throw new CliError('not-found', `get pet ${id}: listPets has no pet with this id`);
}
