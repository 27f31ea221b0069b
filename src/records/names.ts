import { type NamedNoun, nouns, referenceFields } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import { categoryName, type Fields } from '../api/record-values.ts';
import type { Client } from '../client/client.ts';
import { collectFields } from '../client/lists/read-list.ts';
import { type Context, followUpCommand } from '../context.ts';
import { CliError, isInterruption, messageOf } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { foldCase, groupDigits, joinFirst } from '../process/text.ts';
import { type IdOrName, maxListedIds } from './record-fields.ts';

interface PetOrCategory {
  readonly id: bigint;
  readonly name: string;
}

/** Returns true if the value of a field is a name in place of an id. */
export function isName(field: string, value: unknown): value is string {
  return typeof value === 'string' && Object.hasOwn(referenceFields, field);
}

/** No record has a name, or several have it. */
export class NameError extends CliError {}

/** The names of the pets and categories of a service. Each list is read once. */
export class Names {
  private readonly context: Context;
  private readonly client: Client;
  private readonly lists = new Map<NamedNoun, Promise<PetOrCategory[]>>();

  constructor(context: Context, client: Client) {
    this.context = context;
    this.client = client;
  }

  hasList(noun: NamedNoun): boolean {
    return this.client.contract.operations.has(nouns[noun].operations.list);
  }

  /** Reads the list, or begins to: a failure is reported where the promise is awaited. */
  readList(noun: NamedNoun): Promise<PetOrCategory[]> {
    const list = this.lists.get(noun) ?? readPetsOrCategories(this.client, noun);
    this.lists.set(noun, list);
    // The next reading tries again, as in --watch.
    list.catch(() => this.lists.delete(noun));
    return list;
  }

  /**
   * Returns an id, or the id of the record with a name, in any case.
   *
   * @param field the name of such an id in records: `petId`.
   * @throws NameError `not-found` for a name that no record has, `usage` with the ids for a name that several have.
   */
  async requireId(field: string, idOrName: IdOrName): Promise<bigint> {
    return typeof idOrName === 'bigint' ? idOrName : (await this.requireByName(field, idOrName)).id;
  }

  private async requireByName(field: string, name: string): Promise<PetOrCategory> {
    const noun = referenceFields[field];
    if (!noun) throw new Error(`${name}: these records have no names`);
    const { singular } = nouns[noun];
    const records = await this.readList(noun);
    const matches = records.filter((record) => foldCase(record.name) === foldCase(name));
    const [match] = matches;
    if (!match) {
      const list = followUpCommand(this.context, [noun, 'list']);
      throw new NameError('not-found', `${singular} '${name}': no ${singular} has this name`, {
        hint: `see \`${list}\``,
      });
    }
    // A list that changes while it is read may show a record twice.
    const ids = [...new Set(matches.map(({ id }) => `${id}`))];
    if (ids.length > 1) {
      throw new NameError(
        'usage',
        `${singular} '${name}': ${groupDigits(ids.length)} ${noun} have this name`,
        {
          hint: `give its id: ${joinFirst(ids, maxListedIds)}`,
          code: 'invalid_flag',
        },
      );
    }
    return match;
  }

  /** Returns each id once, in the order of the arguments. @see requireId */
  async requireIds(field: string, idsOrNames: readonly IdOrName[]): Promise<bigint[]> {
    const ids = new Set<bigint>();
    for (const idOrName of idsOrNames) ids.add(await this.requireId(field, idOrName));
    return [...ids];
  }

  /**
   * Replaces names by ids.
   *
   * @param operation gets the fields. If its body takes the name of a category, the name stays beside the id.
   */
  async resolve({ [categoryName]: given, ...fields }: Fields, { body }: Operation): Promise<Fields> {
    const resolved: Record<string, JsonValue | undefined> = { ...fields };
    let name = given;
    for (const [field, value] of Object.entries(fields)) {
      if (!isName(field, value)) continue;
      const record = await this.requireByName(field, value);
      resolved[field] = record.id;
      if (field === 'categoryId') name = record.name;
    }
    const takesName = body?.fields.categoryId?.categoryParts?.includes('name');
    return takesName && name !== undefined ? { ...resolved, [categoryName]: name } : resolved;
  }

  /** Reads the names of all pets or all categories, by id. If they cannot be read, it prints a note. It never rejects. */
  async readNamesById(noun: NamedNoun): Promise<ReadonlyMap<bigint, string>> {
    if (!this.hasList(noun)) return new Map();
    try {
      const records = await this.readList(noun);
      return new Map(records.map(({ id, name }) => [id, name]));
    } catch (error) {
      if (!isInterruption(error))
        await this.context.notice('note', `names of ${noun} could not be read: ${messageOf(error)}`);
      return new Map();
    }
  }
}

async function readPetsOrCategories(client: Client, noun: NamedNoun): Promise<PetOrCategory[]> {
  const list = nouns[noun].operations.list as 'listPets' | 'listCategories';
  const records = await collectFields<PetOrCategory>(client.list(list, {}, { needsWhole: true }));
  return records.map(({ id, name }) => ({ id, name }));
}
