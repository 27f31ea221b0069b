import type { Client } from '../../../client/client.ts';

/** How many pets are asked for at a time. */
const atOnce = 8;

/**
 * The names of a few pets, for people: what cannot be read is left out. Each is the first of the list behind the id
 * before it, for the operation that reads one pet is deprecated.
 */
export async function readPetNames(
  client: Client,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, string>> {
  const names = new Map<bigint, string>();
  if (!canSeek(client)) return names;
  const waiting = [...ids];
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const [pet] = await firstPage(client, id);
      if (pet?.id === id) names.set(id, pet.name);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, ids.length) }, work)).catch(() => {});
  return names;
}

function canSeek({ contract }: Client): boolean {
  const offered = contract.operations.get('listPets')?.parameters.map(({ name }) => name) ?? [];
  return offered.includes('after') && offered.includes('limit');
}

async function firstPage(client: Client, id: bigint) {
  for await (const page of client.list('listPets', { after: id - 1n, limit: 1 }, { retries: 0 })) return page;
  return [];
}
