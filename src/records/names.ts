import { takesParameter } from '../api/contract.ts';
import type { CallOptions } from '../client/call.ts';
import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { CliError, messageOf, UsageError } from '../errors.ts';
import { caseless, letterDistance } from '../text.ts';
import type { Access, Body, Named } from './noun.ts';
import type { IdOrName } from './values.ts';
import { collect, largestPages, wholeList } from './whole-list.ts';

interface NamedRecord {
  readonly id: bigint;
  readonly name: string;
  readonly description?: string | null | undefined;
}

/** The fields that refer to a record with a name. */
const referenceFields: Readonly<Record<string, Named>> = { categoryId: 'categories', petId: 'pets' };

/** Whether a field has a name in place of the id that it refers to. */
export function isName(field: string, value: unknown): value is string {
  return typeof value === 'string' && Object.hasOwn(referenceFields, field);
}

const one = { pets: 'pet', categories: 'category' } as const;

/** By client: the lists by their noun, and the ids by noun and name. */
const known = new WeakMap<Client, Map<string, Promise<unknown>>>();

function once<Value>(client: Client, key: string, read: () => Promise<Value>): Promise<Value> {
  const before = known.get(client) ?? new Map<string, Promise<unknown>>();
  known.set(client, before);
  const value = (before.get(key) as Promise<Value> | undefined) ?? read();
  before.set(key, value);
  return value;
}

/** All pets or all categories, read once for each client. */
export function readNamed(client: Client, noun: Named, options?: CallOptions): Promise<NamedRecord[]> {
  return once(client, noun, () => readList(client, noun, options));
}

/** Drops the names read so far. */
export function forgetNames(client: Client): void {
  known.delete(client);
}

async function readList(client: Client, noun: Named, options?: CallOptions): Promise<NamedRecord[]> {
  if (noun === 'categories') return collect([client.list('listCategories', {}, options)]);
  const pets = await collect(wholeList(client, 'listPets', largestPages(client, 'listPets'), options));
  return pets.map(({ id, name }) => ({ id, name }));
}

/**
 * Adds the name of every pet or category by its id; none if the service has no such list. Never rejects.
 *
 * @returns a note for the user if they could not be read.
 */
export async function addNames(
  client: Client,
  noun: Named,
  names: Map<bigint, string>,
  options?: CallOptions,
): Promise<string | undefined> {
  if (!client.contract.operations.has(noun === 'pets' ? 'listPets' : 'listCategories')) return undefined;
  try {
    for (const { id, name } of await readNamed(client, noun, options)) names.set(id, name);
    return undefined;
  } catch (error) {
    return unreadNames(noun, error);
  }
}

/**
 * Adds the name of one pet, if there is such a pet. Reads it as the first record of the list after the id before it,
 * because the operation that reads one pet is deprecated. Reads all pets if the list cannot begin at an id, or if it
 * was read before. Never rejects.
 *
 * @returns a note as above.
 */
export async function addNameOf(
  client: Client,
  id: bigint,
  names: Map<bigint, string>,
): Promise<string | undefined> {
  const list = client.contract.operations.get('listPets');
  const canSeek = list && takesParameter(list, 'after') && takesParameter(list, 'limit');
  if (!canSeek || id <= 0n || known.get(client)?.has('pets')) return addNames(client, 'pets', names);
  try {
    for await (const [pet, another] of client.list('listPets', { after: id - 1n, limit: 1 })) {
      // A service that does not page answers with its whole list.
      if (another) return await addNames(client, 'pets', names);
      if (pet?.id === id) names.set(id, pet.name);
      break;
    }
    return undefined;
  } catch (error) {
    return unreadNames('pets', error);
  }
}

function unreadNames(noun: Named, error: unknown): string {
  const what =
    noun === 'pets'
      ? 'names of pets are left empty because they could not be read'
      : 'categories are shown by id because their names could not be read';
  return `note: ${what}: ${messageOf(error)}`;
}

/**
 * Resolves an id or the name of a record to the id; names ignore case. If several records have the name, the user
 * chooses, once for each name.
 *
 * @throws CliError `not-found` for a name that no record has; UsageError for the name of
 *   several if questions are impossible.
 */
export async function resolveId(
  context: Context,
  client: Client,
  noun: Named,
  given: IdOrName,
): Promise<bigint> {
  return typeof given === 'bigint'
    ? given
    : once(client, `${noun} ${given}`, () => findByName(context, client, noun, given));
}

async function findByName(context: Context, client: Client, noun: Named, name: string): Promise<bigint> {
  const found = await readNamesakes(client, noun, name);
  const [first, ...others] = found;
  if (others.length === 0) return first.id;
  const prompt = await context.prompt();
  if (prompt)
    return prompt.select(
      `Which ${one[noun]}?`,
      found.map((record) => ({ name: `${record.name} (${record.id})`, value: record.id })),
    );
  throw new UsageError(
    `${one[noun]} '${name}': ${found.length} ${noun} have this name`,
    `give its id: ${found.map(({ id }) => id).join(', ')}`,
  );
}

/** The records of a name. @throws CliError `not-found` if there are none. */
export async function readNamesakes(
  client: Client,
  noun: Named,
  name: string,
): Promise<[NamedRecord, ...NamedRecord[]]> {
  const records = await readNamed(client, noun);
  const wanted = caseless(name);
  const [first, ...others] = records.filter((record) => caseless(record.name) === wanted);
  if (!first) throw unknownName(noun, name, records);
  return [first, ...others];
}

/** Each record once, in the order given. */
export async function resolveIds<Entity>(
  { context, client, noun: { named } }: Access<Entity>,
  given: readonly IdOrName[],
): Promise<bigint[]> {
  const ids = new Set<bigint>();
  for (const each of given) {
    if (typeof each === 'bigint') ids.add(each);
    else if (named) ids.add(await resolveId(context, client, named, each));
  }
  return [...ids];
}

/**
 * The same fields with names replaced by ids.
 *
 * @param keepsCategory keeps the name of a category.
 */
export async function resolveReferences<Entity>(
  { context, client }: Access<Entity>,
  fields: Body,
  keepsCategory = false,
): Promise<Body> {
  const resolved = new Map<string, unknown>();
  for (const [field, value] of Object.entries(fields)) {
    const noun = isName(field, value) ? referenceFields[field] : undefined;
    const keeps = keepsCategory && field === 'categoryId';
    resolved.set(field, noun && !keeps ? await resolveId(context, client, noun, value as string) : value);
  }
  return Object.fromEntries(resolved);
}

function unknownName(noun: Named, name: string, records: readonly NamedRecord[]): CliError {
  const wanted = caseless(name);
  const distance = (other: string) =>
    other.includes(wanted) || wanted.includes(other) ? 0 : letterDistance(wanted, other);
  const ranked = [...new Set(records.map((record) => record.name))]
    .map((other) => ({ other, rank: distance(caseless(other)) }))
    .sort((a, b) => a.rank - b.rank);
  const nearest = ranked.slice(0, mostNearest).map(({ other }) => other);
  return new CliError('not-found', `${one[noun]} '${name}': no ${one[noun]} has this name`, {
    hint: nearest.length === 0 ? `there are no ${noun}` : `the nearest names are ${nearest.join(', ')}`,
  });
}

const mostNearest = 5;
