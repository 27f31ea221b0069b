import type { Category } from '../../api/schemas.ts';
import type { Client } from '../../client/client.ts';
import { CliError, messageOf, UsageError } from '../../errors.ts';
import type { Choice } from '../../input/prompt.ts';
import { parseId } from '../arguments.ts';
import type { CategoryNames } from './view.ts';

const lists = new WeakMap<Client, Promise<Category[]>>();

/** All categories as choices for a person. */
export async function categoryChoices(client: Client): Promise<Choice<bigint>[]> {
  const categories = await readCategories(client);
  if (categories.length === 0)
    throw new UsageError('there are no categories', 'make one with `petstore categories create`');
  return categories.map(({ id, name, description }) => ({
    name: `${name} (${id})`,
    value: id,
    description: description ?? undefined,
  }));
}

export interface NamedCategories {
  readonly names: CategoryNames;
  /** Why there are none. */
  readonly note?: string;
}

/** Category names by id; none where categories cannot be read. */
export async function readCategoryNames(client: Client): Promise<NamedCategories> {
  if (!client.contract.operations.has('listCategories')) return { names: new Map() };
  try {
    return { names: new Map((await readCategories(client)).map(({ id, name }) => [id, name])) };
  } catch (error) {
    const why = messageOf(error);
    return {
      names: new Map(),
      note: `note: categories are shown by id, for their names could not be read: ${why}`,
    };
  }
}

/**
 * The id that `--category` means: digits are an id, anything else is the name of a category, with or without its capitals.
 *
 * @throws CliError `not-found` for a name that no category bears, UsageError for one that several do.
 */
export async function resolveCategory(client: Client, text: string): Promise<bigint> {
  if (/^\d+$/.test(text)) return parseId(text, '--category');
  const categories = await readCategories(client);
  const exact = categories.filter(({ name }) => name === text);
  const found = exact.length > 0 ? exact : categories.filter(({ name }) => isSameWord(name, text));
  const [category, ...others] = found;
  if (!category) throw noSuchCategory(text, categories);
  if (others.length > 0) {
    const ids = found.map(({ id }) => id).join(', ');
    throw new UsageError(
      `category '${text}': ${found.length} categories have this name`,
      `give its id: ${ids}`,
    );
  }
  return category.id;
}

/** Read once a run. */
function readCategories(client: Client): Promise<Category[]> {
  const list = lists.get(client) ?? collect(client);
  lists.set(client, list);
  return list;
}

async function collect(client: Client): Promise<Category[]> {
  const categories: Category[] = [];
  for await (const page of client.list('listCategories')) categories.push(...page);
  return categories;
}

function isSameWord(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function noSuchCategory(text: string, categories: readonly Category[]): CliError {
  const names = categories.slice(0, 10).map(({ name }) => name);
  const more = categories.length > names.length ? ', ...' : '';
  return new CliError('not-found', `category '${text}': no category has this name`, {
    hint: names.length === 0 ? 'there are no categories' : `there are ${names.join(', ')}${more}`,
  });
}
