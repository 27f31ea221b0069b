import { canBeginAfterId } from '../api/contract.ts';
import { type NamedNoun, nouns, referenceFields } from '../api/nouns.ts';
import type { Client } from '../client/client.ts';
import { readFromList } from '../client/read-record.ts';
import { collectRecords } from '../client/whole-list.ts';
import { type Context, followUpCommand } from '../context.ts';
import { CliError, messageOf, UsageError } from '../process/errors.ts';
import { caseless, groupDigits, letterDistance } from '../process/text.ts';
import type { IdOrName } from './parse-values.ts';
import type { Body } from './record-nouns.ts';

/** A pet or a category. */
interface NamedRecord {
  readonly id: bigint;
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly status?: string | null | undefined;
  readonly categoryId?: bigint | null | undefined;
}

/** The names of all pets or all categories by their ids, and a note for the user if they could not be read. */
interface NameList {
  readonly nameById: ReadonlyMap<bigint, string>;
  readonly note?: string;
}

/** Whether a field has a name in place of the id that it refers to. */
export function isName(field: string, value: unknown): value is string {
  return typeof value === 'string' && Object.hasOwn(referenceFields, field);
}

/** The names of the pets and categories of a service. It reads each list once, and asks the user about each name once. */
export class Names {
  private readonly context: Context;
  private readonly client: Client;
  private readonly lists = new Map<NamedNoun, Promise<NamedRecord[]>>();
  /** The id of each name, by noun and name. */
  private readonly ids = new Map<string, Promise<bigint>>();

  constructor(context: Context, client: Client) {
    this.context = context;
    this.client = client;
  }

  /** Whether the service has a list of them. */
  isListed(noun: NamedNoun): boolean {
    return this.client.contract.operations.has(nouns[noun].operations.list);
  }

  /** All pets or all categories. */
  list(noun: NamedNoun): Promise<NamedRecord[]> {
    const list = this.lists.get(noun) ?? readNamedRecords(this.client, noun);
    this.lists.set(noun, list);
    return list;
  }

  /** Drops what was read so far. */
  forget(): void {
    this.lists.clear();
    this.ids.clear();
  }

  /**
   * Returns an id, or the id of the record with a name, in any case. If several records have the name, the user chooses.
   *
   * @param noun undefined if its records have no names.
   * @throws CliError `not-found` for a name that no record has; UsageError for the name of several records if questions
   *   are impossible.
   */
  async idOf(noun: NamedNoun | undefined, idOrName: IdOrName): Promise<bigint> {
    if (typeof idOrName === 'bigint') return idOrName;
    if (!noun) throw new Error(`${idOrName}: these records have no names`);
    const key = `${noun} ${idOrName}`;
    const id = this.ids.get(key) ?? this.find(noun, idOrName);
    this.ids.set(key, id);
    return id;
  }

  /** Returns each id once, in the order of the arguments. @see idOf */
  async idsOf(noun: NamedNoun | undefined, idsOrNames: readonly IdOrName[]): Promise<bigint[]> {
    const ids = new Set<bigint>();
    for (const idOrName of idsOrNames) ids.add(await this.idOf(noun, idOrName));
    return [...ids];
  }

  /**
   * The same fields with names replaced by ids. A category that was named keeps its name beside its id, and has only its
   * name if the service has no list of categories: a bound service may want `{id, name}`.
   */
  async resolve(fields: Body): Promise<Body> {
    const resolved = new Map(Object.entries(fields));
    for (const [field, value] of resolved) {
      if (!isName(field, value)) continue;
      const isCategory = referenceFields[field] === 'categories';
      resolved.set(field, await (isCategory ? this.categoryOf(value) : this.idOf('pets', value)));
    }
    return Object.fromEntries(resolved);
  }

  /** The names of all pets or all categories. Empty if the service has no such list. Never rejects. */
  async namesOf(noun: NamedNoun): Promise<NameList> {
    if (!this.isListed(noun)) return { nameById: new Map() };
    try {
      const records = await this.list(noun);
      return { nameById: new Map(records.map(({ id, name }) => [id, name])) };
    } catch (error) {
      return { nameById: new Map(), note: unreadNames(noun, error) };
    }
  }

  /**
   * The name of one pet; undefined if there is no such pet. Reads it as the first record of the list after the id before
   * it, because the operation that reads one pet is deprecated. Reads all pets if the list cannot begin at an id, or if it
   * was read before. Never rejects.
   *
   * @returns a note for the user if it could not be read.
   */
  async nameOfPet(id: bigint): Promise<{ readonly name?: string | undefined; readonly note?: string }> {
    const { client } = this;
    const list = client.contract.operations.get('listPets');
    const isSought = list !== undefined && canBeginAfterId(list) && id > 0n;
    if (!isSought || this.lists.has('pets')) {
      const { nameById, ...rest } = await this.namesOf('pets');
      return { name: nameById.get(id), ...rest };
    }
    try {
      const pet = await readFromList<NamedRecord>(client, 'pets', id, { limit: 1 });
      return { name: pet.value.name };
    } catch (error) {
      const isMissing = error instanceof CliError && error.kind === 'not-found';
      return isMissing ? {} : { note: unreadNames('pets', error) };
    }
  }

  private async find(noun: NamedNoun, name: string): Promise<bigint> {
    const all = await this.list(noun);
    const records = all.filter((record) => caseless(record.name) === caseless(name));
    const [first, ...others] = records;
    if (!first) throw unknownName(noun, name, all);
    if (others.length === 0) return first.id;
    const { nameById } = noun === 'pets' ? await this.namesOf('categories') : { nameById: new Map() };
    return choose(this.context, noun, name, records, nameById);
  }

  private async categoryOf(name: string): Promise<{ readonly id?: bigint; readonly name: string }> {
    if (!this.isListed('categories')) return { name };
    const id = await this.idOf('categories', name);
    const { nameById } = await this.namesOf('categories');
    return { id, name: nameById.get(id) ?? name };
  }
}

async function readNamedRecords(client: Client, noun: NamedNoun): Promise<NamedRecord[]> {
  if (noun === 'categories') return collectRecords(client.list('listCategories', {}, { whole: true }));
  const pets = await collectRecords(client.list('listPets', {}, { whole: true }));
  return pets.map(({ id, name, status, categoryId }) => ({ id, name, status, categoryId }));
}

/** How many records of one name an error lists. */
const maxIds = 10;

/** Lets the user choose one of the records that share a name. @throws UsageError with their ids if questions are impossible */
async function choose(
  context: Context,
  noun: NamedNoun,
  name: string,
  records: readonly NamedRecord[],
  categories: ReadonlyMap<bigint, string>,
): Promise<bigint> {
  const candidates = records.map(({ id, name, description, status, categoryId }) => {
    const category = categoryId && (categories.get(categoryId) ?? `category ${categoryId}`);
    return { id, name, about: description ?? [category, status].filter(Boolean).join(', ') };
  });
  const prompt = await context.prompt();
  if (prompt)
    return prompt.select(
      `Which ${nouns[noun].singular}?`,
      candidates.map(({ id, name, about }) => ({ name: `${name} (${id})`, value: id, description: about })),
    );
  const ids = candidates.slice(0, maxIds).map(({ id, about }) => (about ? `${id} (${about})` : `${id}`));
  const all = followUpCommand(context, [noun, 'list', ...(noun === 'pets' ? ['--name', name] : [])]);
  throw new UsageError(
    `${nouns[noun].singular} '${name}': ${groupDigits(records.length)} ${noun} have this name`,
    `give its id: ${ids.join(', ')}${records.length > maxIds ? `, …; \`${all}\` has all` : ''}`,
  );
}

function unreadNames(noun: NamedNoun, error: unknown): string {
  const what =
    noun === 'pets'
      ? 'names of pets are left empty because they could not be read'
      : 'categories are shown by id because their names could not be read';
  return `note: ${what}: ${messageOf(error)}`;
}

const maxNearest = 5;

function unknownName(noun: NamedNoun, name: string, records: readonly NamedRecord[]): CliError {
  const plainName = caseless(name);
  const distance = (other: string) =>
    other.includes(plainName) || plainName.includes(other) ? 0 : letterDistance(plainName, other);
  const ranked = [...new Set(records.map((record) => record.name))]
    .map((other) => ({ other, rank: distance(caseless(other)) }))
    .sort((a, b) => a.rank - b.rank);
  const nearest = ranked.slice(0, maxNearest).map(({ other }) => other);
  const { singular } = nouns[noun];
  return new CliError('not-found', `${singular} '${name}': no ${singular} has this name`, {
    hint: nearest.length === 0 ? `there are no ${noun}` : `the nearest names are ${nearest.join(', ')}`,
  });
}
