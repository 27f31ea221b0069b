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
interface PetOrCategory {
  readonly id: bigint;
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly status?: string | null | undefined;
  readonly categoryId?: bigint | null | undefined;
}

/** The names of all pets or all categories, by id. */
interface NameList {
  readonly nameById: ReadonlyMap<bigint, string>;
  /** A note for the user if the names could not be read. */
  readonly note?: string;
}

/** Whether the value of a field is a name that stands for an id. */
export function isName(field: string, value: unknown): value is string {
  return typeof value === 'string' && Object.hasOwn(referenceFields, field);
}

/** The names of the pets and categories of a service. Each list is read once, and the user is asked about a name once. */
export class Names {
  private readonly context: Context;
  private readonly client: Client;
  private readonly lists = new Map<NamedNoun, Promise<PetOrCategory[]>>();
  /** The id of each name, by noun and name. */
  private readonly ids = new Map<string, Promise<bigint>>();

  constructor(context: Context, client: Client) {
    this.context = context;
    this.client = client;
  }

  /** Whether the service has a list of these records. */
  hasList(noun: NamedNoun): boolean {
    return this.client.contract.operations.has(nouns[noun].operations.list);
  }

  /** Returns all pets or all categories. */
  list(noun: NamedNoun): Promise<PetOrCategory[]> {
    const list = this.lists.get(noun) ?? readPetsOrCategories(this.client, noun);
    this.lists.set(noun, list);
    return list;
  }

  /** Forgets all lists and names, so that they are read again. */
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
    const id = this.ids.get(key) ?? this.findId(noun, idOrName);
    this.ids.set(key, id);
    return id;
  }

  /** Whether a record has this name, in any case. */
  async has(noun: NamedNoun | undefined, name: string): Promise<boolean> {
    return noun !== undefined && (await this.withName(noun, name)).length > 0;
  }

  /** Returns each id once, in the order of the arguments. @see idOf */
  async idsOf(noun: NamedNoun | undefined, idsOrNames: readonly IdOrName[]): Promise<bigint[]> {
    const ids = new Set<bigint>();
    for (const idOrName of idsOrNames) ids.add(await this.idOf(noun, idOrName));
    return [...ids];
  }

  /**
   * Replaces names by ids. The name of a pet becomes an id. The name of a category becomes `{id, name}`, because a bound
   * service may want both; `{name}` if the service has no list of categories.
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

  /** Reads the names of all pets or all categories. There are none if the service has no such list. Never rejects. */
  async namesOf(noun: NamedNoun): Promise<NameList> {
    if (!this.hasList(noun)) return { nameById: new Map() };
    try {
      const records = await this.list(noun);
      return { nameById: new Map(records.map(({ id, name }) => [id, name])) };
    } catch (error) {
      return { nameById: new Map(), note: unreadNamesNote(noun, error) };
    }
  }

  /**
   * Reads the name of a pet; undefined if there is no such pet. It requests a list of one pet that begins after the id
   * before, because the operation that reads one pet is deprecated. If the list cannot begin at an id, or if it was read
   * already, it uses the whole list. Never rejects.
   *
   * @returns the name, and a note for the user if it could not be read.
   */
  async nameOfPet(id: bigint): Promise<{ readonly name?: string | undefined; readonly note?: string }> {
    const { client } = this;
    const list = client.contract.operations.get('listPets');
    const canReadAlone = list !== undefined && canBeginAfterId(list) && id > 0n;
    if (!canReadAlone || this.lists.has('pets')) {
      const { nameById, ...rest } = await this.namesOf('pets');
      return { name: nameById.get(id), ...rest };
    }
    try {
      const pet = await readFromList<PetOrCategory>(client, 'pets', id, { limit: 1 });
      return { name: pet.value.name };
    } catch (error) {
      const isMissing = error instanceof CliError && error.kind === 'not-found';
      return isMissing ? {} : { note: unreadNamesNote('pets', error) };
    }
  }

  private async findId(noun: NamedNoun, name: string): Promise<bigint> {
    const matches = await this.withName(noun, name);
    const [match] = matches;
    if (!match) throw unknownName(this.context, noun, name, await this.list(noun));
    if (matches.length === 1) return match.id;
    const { nameById } = noun === 'pets' ? await this.namesOf('categories') : { nameById: new Map() };
    return chooseRecord(this.context, noun, name, matches, nameById);
  }

  private async withName(noun: NamedNoun, name: string): Promise<PetOrCategory[]> {
    const records = await this.list(noun);
    return records.filter((record) => caseless(record.name) === caseless(name));
  }

  private async categoryOf(name: string): Promise<{ readonly id?: bigint; readonly name: string }> {
    if (!this.hasList('categories')) return { name };
    const id = await this.idOf('categories', name);
    const { nameById } = await this.namesOf('categories');
    return { id, name: nameById.get(id) ?? name };
  }
}

async function readPetsOrCategories(client: Client, noun: NamedNoun): Promise<PetOrCategory[]> {
  if (noun === 'categories') return collectRecords(client.list('listCategories', {}, { whole: true }));
  const pets = await collectRecords(client.list('listPets', {}, { whole: true }));
  return pets.map(({ id, name, status, categoryId }) => ({ id, name, status, categoryId }));
}

/** The most records of a name that an error lists. */
const maxCandidates = 10;

/**
 * Lets the user choose among the records that share a name.
 *
 * @throws UsageError that lists their ids if questions are impossible.
 */
async function chooseRecord(
  context: Context,
  noun: NamedNoun,
  name: string,
  records: readonly PetOrCategory[],
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
  const ids = candidates
    .slice(0, maxCandidates)
    .map(({ id, about }) => (about ? `${id} (${about})` : `${id}`));
  const all = followUpCommand(context, [noun, 'list', ...(noun === 'pets' ? ['--name', name] : [])]);
  throw new UsageError(
    `${nouns[noun].singular} '${name}': ${groupDigits(records.length)} ${noun} have this name`,
    `give its id: ${ids.join(', ')}${records.length > maxCandidates ? `, …; \`${all}\` has all` : ''}`,
  );
}

function unreadNamesNote(noun: NamedNoun, error: unknown): string {
  const consequence =
    noun === 'pets'
      ? 'names of pets are left empty because they could not be read'
      : 'categories are shown by id because their names could not be read';
  return `note: ${consequence}: ${messageOf(error)}`;
}

const maxSimilar = 5;

/** The error for a name that no record has. Its hint lists the similar names, and the command that lists more. */
function unknownName(
  context: Context,
  noun: NamedNoun,
  name: string,
  records: readonly PetOrCategory[],
): CliError {
  const similar = findSimilar(name, [...new Set(records.map((record) => record.name))]);
  const { singular } = nouns[noun];
  const isPart = similar.some((other) => caseless(other).includes(caseless(name)));
  const filter = noun === 'pets' && isPart ? ['--name', name] : [];
  const list = `\`${followUpCommand(context, [noun, 'list', ...filter])}\``;
  const hints = similar.length > 0 ? [`similar names: ${similar.join(', ')}`] : [];
  return new CliError('not-found', `${singular} '${name}': no ${singular} has this name`, {
    hint: records.length === 0 ? `there are no ${noun}` : [...hints, `see ${list}`].join('; '),
  });
}

/** Finds the names that contain the text or are at most two letters away from it, the most similar first. */
function findSimilar(text: string, names: readonly string[]): string[] {
  const plainText = caseless(text);
  // Any two-letter name is within two letters of a one-letter name.
  const maxDistance = Math.min(2, Math.floor(plainText.length / 2));
  return names
    .map((name) => ({ name, plainName: caseless(name) }))
    .map(({ name, plainName }) => ({
      name,
      rank: plainName.includes(plainText) ? 0 : letterDistance(plainText, plainName),
    }))
    .filter(({ rank }) => rank <= maxDistance)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, maxSimilar)
    .map(({ name }) => name);
}
