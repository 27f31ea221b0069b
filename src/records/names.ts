import { canSeek } from '../api/contract.ts';
import { type NamedNoun, nouns, referenceFields } from '../api/nouns.ts';
import type { Client } from '../client/client.ts';
import { readFromList } from '../client/read-record.ts';
import { collectRecords } from '../client/whole-list.ts';
import { type Context, commandLine } from '../context.ts';
import { CliError, messageOf, UsageError } from '../process/errors.ts';
import { caseless, groupDigits, letterDistance } from '../process/text.ts';
import type { IdOrName } from './parse-values.ts';

interface NamedRecord {
  readonly id: bigint;
  readonly name: string;
  /** A category may have one. */
  readonly description?: string | null | undefined;
  /** A pet may have one, and a category. */
  readonly status?: string | null | undefined;
  readonly categoryId?: bigint | null | undefined;
}

/** Whether a field has a name in place of the id that it refers to. */
export function isName(field: string, value: unknown): value is string {
  return typeof value === 'string' && Object.hasOwn(referenceFields, field);
}

/** How many records of one name an error lists. */
const maxIds = 10;

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
   * Resolves an id or the name of a record to the id; names ignore case. If several records have the name, the user
   * chooses.
   *
   * @throws CliError `not-found` for a name that no record has; UsageError for the name of several if questions are
   *   impossible.
   */
  async idOf(noun: NamedNoun, idOrName: IdOrName): Promise<bigint> {
    if (typeof idOrName === 'bigint') return idOrName;
    const key = `${noun} ${idOrName}`;
    const id = this.ids.get(key) ?? this.choose(noun, idOrName);
    this.ids.set(key, id);
    return id;
  }

  private async choose(noun: NamedNoun, name: string): Promise<bigint> {
    const records = await this.namesakes(noun, name);
    const [first, ...others] = records;
    if (others.length === 0) return first.id;
    const categories = new Map<bigint, string>();
    if (noun === 'pets') await this.addAll('categories', categories);
    const candidates = records.map(({ id, name, description, status, categoryId }) => {
      const category = categoryId && (categories.get(categoryId) ?? `category ${categoryId}`);
      return { id, name, about: description ?? [category, status].filter(Boolean).join(', ') };
    });
    const prompt = await this.context.prompt();
    if (prompt)
      return prompt.select(
        `Which ${nouns[noun].singular}?`,
        candidates.map(({ id, name, about }) => ({ name: `${name} (${id})`, value: id, description: about })),
      );
    const ids = candidates.slice(0, maxIds).map(({ id, about }) => (about ? `${id} (${about})` : `${id}`));
    const filter = noun === 'pets' ? ['--name', name] : [];
    const all = commandLine(this.context, [noun, 'list', ...filter]);
    throw new UsageError(
      `${nouns[noun].singular} '${name}': ${groupDigits(records.length)} ${noun} have this name`,
      `give its id: ${ids.join(', ')}${records.length > maxIds ? `, …; \`${all}\` has all` : ''}`,
    );
  }

  /** The records of a name. @throws CliError `not-found` if there are none. */
  async namesakes(noun: NamedNoun, name: string): Promise<[NamedRecord, ...NamedRecord[]]> {
    const records = await this.list(noun);
    const wantedName = caseless(name);
    const [first, ...others] = records.filter((record) => caseless(record.name) === wantedName);
    if (!first) throw unknownName(noun, name, records);
    return [first, ...others];
  }

  /**
   * Each id once, in the order of the arguments.
   *
   * @param noun of the records; undefined if they have no names.
   */
  async idsOf(noun: NamedNoun | undefined, idsOrNames: readonly IdOrName[]): Promise<bigint[]> {
    const ids = new Set<bigint>();
    for (const idOrName of idsOrNames) {
      if (typeof idOrName === 'bigint') ids.add(idOrName);
      else if (noun) ids.add(await this.idOf(noun, idOrName));
    }
    return [...ids];
  }

  /**
   * The same fields with names replaced by ids. A category that was named keeps its name beside its id, and has only its
   * name if the service has no list of categories: a bound service may want `{id, name}`.
   */
  async resolve(fields: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> {
    const resolved = new Map<string, unknown>();
    for (const [field, value] of Object.entries(fields)) {
      const noun = isName(field, value) ? referenceFields[field] : undefined;
      if (noun === undefined) resolved.set(field, value);
      else if (noun === 'pets') resolved.set(field, await this.idOf(noun, value as string));
      else resolved.set(field, await this.categoryOf(value as string));
    }
    return Object.fromEntries(resolved);
  }

  private async categoryOf(name: string): Promise<{ readonly id?: bigint; readonly name: string }> {
    if (!this.isListed('categories')) return { name };
    const id = await this.idOf('categories', name);
    const record = (await this.list('categories')).find((category) => category.id === id);
    return { id, name: record?.name ?? name };
  }

  /**
   * Adds the name of every pet or category by its id; none if the service has no such list. Never rejects.
   *
   * @returns a note for the user if they could not be read.
   */
  async addAll(noun: NamedNoun, names: Map<bigint, string>): Promise<string | undefined> {
    if (!this.isListed(noun)) return undefined;
    try {
      for (const { id, name } of await this.list(noun)) names.set(id, name);
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
  async addPet(id: bigint, names: Map<bigint, string>): Promise<string | undefined> {
    const { client } = this;
    const list = client.contract.operations.get('listPets');
    const isSought = list !== undefined && canSeek(list) && id > 0n;
    if (!isSought || this.lists.has('pets')) return this.addAll('pets', names);
    try {
      const pet = await readFromList<NamedRecord>(client, 'pets', id, { limit: 1 });
      names.set(id, pet.value.name);
      return undefined;
    } catch (error) {
      const isMissing = error instanceof CliError && error.kind === 'not-found';
      return isMissing ? undefined : unreadNames('pets', error);
    }
  }
}

async function readNamedRecords(client: Client, noun: NamedNoun): Promise<NamedRecord[]> {
  if (noun === 'categories') return collectRecords(client.list('listCategories', {}, { whole: true }));
  const pets = await collectRecords(client.list('listPets', {}, { whole: true }));
  return pets.map(({ id, name, status, categoryId }) => ({ id, name, status, categoryId }));
}

function unreadNames(noun: NamedNoun, error: unknown): string {
  const what =
    noun === 'pets'
      ? 'names of pets are left empty because they could not be read'
      : 'categories are shown by id because their names could not be read';
  return `note: ${what}: ${messageOf(error)}`;
}

function unknownName(noun: NamedNoun, name: string, records: readonly NamedRecord[]): CliError {
  const wantedName = caseless(name);
  const distance = (other: string) =>
    other.includes(wantedName) || wantedName.includes(other) ? 0 : letterDistance(wantedName, other);
  const ranked = [...new Set(records.map((record) => record.name))]
    .map((other) => ({ other, rank: distance(caseless(other)) }))
    .sort((a, b) => a.rank - b.rank);
  const nearest = ranked.slice(0, maxNearest).map(({ other }) => other);
  return new CliError(
    'not-found',
    `${nouns[noun].singular} '${name}': no ${nouns[noun].singular} has this name`,
    {
      hint: nearest.length === 0 ? `there are no ${noun}` : `the nearest names are ${nearest.join(', ')}`,
    },
  );
}

const maxNearest = 5;
