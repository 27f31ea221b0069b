import { NewPet, type Pet } from '../api/schemas.ts';
import { categoryOf } from '../api/shapes.ts';
import { petStatuses } from '../api/values.ts';
import type { Client } from '../client/client.ts';
import { UsageError } from '../errors.ts';
import { askText, type Choice } from '../input/question.ts';
import { readNamed } from './names.ts';
import type { EditableNoun } from './noun.ts';
import { readPet } from './read-pet.ts';
import { parseIdOrName } from './values.ts';

export const pets: EditableNoun<Pet> = {
  one: 'pet',
  many: 'pets',
  operations: {
    list: 'listPets',
    get: 'getPet',
    create: 'createPet',
    update: 'updatePet',
    delete: 'deletePet',
  },
  named: 'pets',
  title: ({ name }) => name,
  columns: (categories) => [
    { name: 'id', value: (pet) => pet.id, align: 'right' },
    { name: 'name', value: (pet) => pet.name },
    { name: 'category', value: (pet) => categoryText(pet, categories) },
    { name: 'status', value: (pet) => pet.status, status: true },
    { name: 'categoryId', value: (pet) => categoryOf(pet).id, align: 'right', extra: true },
  ],
  lookup: { column: 'category', noun: 'categories', idOf: (pet) => categoryOf(pet).id },
  read: readPet,
  holders: (petId) => ['orders', 'list', '--pet', `${petId}`, '--open'],
  async goesWith({ call, contract }, petId) {
    if (!contract.operations.has('getInventory')) return undefined;
    const entry = await call('getInventory', { petId }).catch(() => undefined);
    return entry && `its inventory entry (${entry.value.quantity} in stock)`;
  },
  schema: NewPet,
  fields: [
    { name: 'name', own: true, ask: (prompt) => askText(prompt, 'Name') },
    {
      name: 'categoryId',
      column: 'category',
      parse: parseIdOrName,
      ask: async (prompt, client) => prompt.search('Category', await categoryChoices(client)),
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
function categoryText(pet: Pet, categories: ReadonlyMap<bigint, string>): string | bigint | undefined {
  const { id, name } = categoryOf(pet);
  return name ?? (id === undefined ? undefined : (categories.get(id) ?? id));
}

async function categoryChoices(client: Client): Promise<Choice<bigint>[]> {
  const categories = await readNamed(client, 'categories');
  if (categories.length === 0)
    throw new UsageError('there are no categories', 'make one with `petstore categories create`');
  return categories.map(({ id, name, description }) => ({
    name: `${name} (${id})`,
    value: id,
    description: description ?? undefined,
  }));
}
