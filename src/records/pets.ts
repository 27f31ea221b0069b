import { nouns } from '../api/nouns.ts';
import { type InventoryItem, NewPet, type Pet } from '../api/schemas.ts';
import { petStatuses } from '../api/values.ts';
import { readRecord } from '../client/read-record.ts';
import { askOptional, askText, type Choice } from '../input/question.ts';
import { UsageError } from '../process/errors.ts';
import type { Names } from './names.ts';
import type { EditableNoun } from './noun.ts';
import { parseIdOrName } from './parse-values.ts';

export const pets: EditableNoun<Pet> = {
  ...nouns.pets,
  named: 'pets',
  title: ({ name }) => name,
  columns: (categories) => [
    { name: 'id', value: (pet) => pet.id, align: 'right' },
    { name: 'name', value: (pet) => pet.name },
    { name: 'category', value: (pet) => categoryText(pet, categories) },
    { name: 'status', value: (pet) => pet.status, status: true },
    { name: 'categoryId', value: ({ categoryId }) => categoryId, align: 'right', extra: true },
  ],
  lookup: { column: 'category', noun: 'categories', idOf: ({ categoryId }) => categoryId },
  holders: (petId) => ['orders', 'list', '--pet', `${petId}`, '--open'],
  async goesWith(client, petId) {
    if (!client.contract.operations.has('getInventory')) return undefined;
    const entry = await readRecord<InventoryItem>(client, 'inventory', petId).catch(() => undefined);
    return entry && `its inventory entry (${entry.value.quantity} in stock)`;
  },
  schema: NewPet,
  fields: [
    { name: 'name', isUnique: true, ask: (prompt) => askText(prompt, 'Name') },
    {
      name: 'categoryId',
      column: 'category',
      parse: parseIdOrName,
      ask: async (prompt, names) =>
        names.isListed('categories')
          ? prompt.search('Category', await categoryChoices(names))
          : askOptional(prompt, 'Category', (text) => parseIdOrName(text, 'category')),
    },
    {
      name: 'status',
      ask: (prompt) =>
        prompt.select(
          'Status',
          petStatuses.map((status) => ({ name: status, value: status })),
        ),
    },
  ],
};

/** The category by its name, or by its id if the name is unknown. */
function categoryText(
  { categoryId, category }: Pet,
  categories: ReadonlyMap<bigint, string>,
): string | bigint | undefined {
  if (typeof category === 'string') return category;
  return typeof categoryId === 'bigint' ? (categories.get(categoryId) ?? categoryId) : undefined;
}

async function categoryChoices(names: Names): Promise<Choice<bigint>[]> {
  const categories = await names.list('categories');
  if (categories.length === 0)
    throw new UsageError('there are no categories', 'make one with `petstore categories create`');
  return categories.map(({ id, name, description }) => ({
    name: `${name} (${id})`,
    value: id,
    description: description ?? undefined,
  }));
}
