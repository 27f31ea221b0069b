import { largestPage, offeredOperation, takesParameter } from '../api/contract.ts';
import { wholeQueries } from '../api/shapes.ts';
import type { CallOptions } from '../client/call.ts';
import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { CliError, messageOf, UsageError } from '../errors.ts';
import { letterDistance } from '../text.ts';
import type { IdOrName } from './values.ts';

/** The nouns whose records have names. */
export type Named = 'pets' | 'categories';

export interface NamedRecord {
  readonly id: bigint;
  readonly name: string;
  readonly description?: string | null | undefined;
}

/** The fields that refer to a record with a name. */
export const referenceFields: Readonly<Record<string, Named>> = { categoryId: 'categories', petId: 'pets' };

const one = { pets: 'pet', categories: 'category' } as const;
const lists = new WeakMap<Client, Partial<Record<Named, Promise<NamedRecord[]>>>>();

/** All pets or all categories, read once for each client. */
export function readNamed(client: Client, noun: Named, options?: CallOptions): Promise<NamedRecord[]> {
  const read = lists.get(client) ?? {};
  lists.set(client, read);
  read[noun] ??= collect(client, noun, options);
  return read[noun];
}

/** Drops the names read so far. */
export function forgetNames(client: Client): void {
  lists.delete(client);
}

async function collect(client: Client, noun: Named, options?: CallOptions): Promise<NamedRecord[]> {
  const records: NamedRecord[] = [];
  if (noun === 'categories') {
    // Not `push(...page)`: a page of 120,000 would overflow the stack.
    for await (const page of client.list('listCategories', {}, options))
      for (const record of page) records.push(record);
    return records;
  }
  const operation = offeredOperation(client.contract, 'listPets');
  const limit = takesParameter(operation, 'limit') ? { limit: largestPage(operation) } : {};
  for (const query of wholeQueries(operation))
    for await (const page of client.list('listPets', { ...limit, ...query }, options))
      for (const { id, name } of page) records.push({ id, name });
  return records;
}

/** Names by id, and a note if they could not be read. */
export interface Names {
  readonly names: Map<bigint, string>;
  readonly note?: string;
}

/** The name of every pet or category; none if the list cannot be read. Never rejects. */
export async function readNames(client: Client, noun: Named, options?: CallOptions): Promise<Names> {
  const list = noun === 'pets' ? 'listPets' : 'listCategories';
  if (!client.contract.operations.has(list)) return { names: new Map() };
  try {
    return { names: new Map((await readNamed(client, noun, options)).map(({ id, name }) => [id, name])) };
  } catch (error) {
    const why = messageOf(error);
    const note =
      noun === 'pets'
        ? `note: names of pets are left empty because they could not be read: ${why}`
        : `note: categories are shown by id because their names could not be read: ${why}`;
    return { names: new Map(), note };
  }
}

const fewIds = 8;

/**
 * The names of a few pets. Each is read as the first record of the list after the id before it, because the operation
 * that reads one pet is deprecated. Reads all pets if the list cannot begin at an id, or if it was read before.
 */
export async function readNamesOf(client: Client, ids: readonly bigint[]): Promise<Names> {
  const list = client.contract.operations.get('listPets');
  const canSeek = list && takesParameter(list, 'after') && takesParameter(list, 'limit');
  const seeks = ids.filter((id) => id > 0n);
  if (!canSeek || seeks.length > fewIds || lists.get(client)?.pets) return readNames(client, 'pets');
  const names = new Map<bigint, string>();
  const seek = async (id: bigint) => {
    for await (const page of client.list('listPets', { after: id - 1n, limit: 1 })) {
      if (page[0]?.id === id) names.set(id, page[0].name);
      return;
    }
  };
  try {
    await Promise.all(seeks.map(seek));
    return { names };
  } catch (error) {
    return {
      names,
      note: `note: names of pets are left empty because they could not be read: ${messageOf(error)}`,
    };
  }
}

/**
 * Resolves an id or the name of a record to the id; names ignore case. If several records have the name, the user
 * chooses.
 *
 * @throws CliError `not-found` for a name that no record has; UsageError for one of several if no question can be put.
 */
export async function resolveId(
  context: Context,
  client: Client,
  noun: Named,
  given: IdOrName,
): Promise<bigint> {
  if (typeof given === 'bigint') return given;
  const records = await readNamed(client, noun);
  const found = records.filter(({ name }) => name.toLowerCase() === given.toLowerCase());
  const [first, ...others] = found;
  if (!first) throw unknownName(noun, given, records);
  if (others.length === 0) return first.id;
  const prompt = await context.prompt();
  if (prompt)
    return prompt.select(
      `Which ${one[noun]}?`,
      found.map(({ id, name }) => ({ name: `${name} (${id})`, value: id })),
    );
  throw new UsageError(
    `${one[noun]} '${given}': ${found.length} ${noun} have this name`,
    `give its id: ${found.map(({ id }) => id).join(', ')}`,
  );
}

/** Each record once, in the order given. */
export async function resolveIds(
  context: Context,
  client: Client,
  noun: Named | undefined,
  given: readonly IdOrName[],
): Promise<bigint[]> {
  const ids = new Set<bigint>();
  for (const each of given) {
    if (typeof each === 'bigint') ids.add(each);
    else if (noun) ids.add(await resolveId(context, client, noun, each));
  }
  return [...ids];
}

/**
 * The same fields with names replaced by ids.
 *
 * @param keepsCategory keeps the name of a category.
 */
export async function resolveReferences(
  context: Context,
  client: Client,
  fields: Readonly<Record<string, unknown>>,
  keepsCategory = false,
): Promise<Record<string, unknown>> {
  const resolved: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fields)) {
    const noun = keepsCategory && field === 'categoryId' ? undefined : referenceFields[field];
    resolved[field] =
      noun && typeof value === 'string' ? await resolveId(context, client, noun, value) : value;
  }
  return resolved;
}

function unknownName(noun: Named, name: string, records: readonly NamedRecord[]): CliError {
  const wanted = name.toLowerCase();
  const distance = (other: string) =>
    other.includes(wanted) || wanted.includes(other) ? 0 : letterDistance(wanted, other);
  const ranked = [...new Set(records.map((record) => record.name))]
    .map((other) => ({ other, rank: distance(other.toLowerCase()) }))
    .sort((a, b) => a.rank - b.rank);
  const nearest = ranked.slice(0, mostNearest).map(({ other }) => other);
  return new CliError('not-found', `${one[noun]} '${name}': no ${one[noun]} has this name`, {
    hint: nearest.length === 0 ? `there are no ${noun}` : `the nearest names are ${nearest.join(', ')}`,
  });
}

const mostNearest = 5;
