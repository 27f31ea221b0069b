import { NewPet, type Pet } from '../api/schemas.ts';
import { categoryOf } from '../api/shapes.ts';
import { petStatuses } from '../api/values.ts';
import type { Client } from '../client/client.ts';
import { UsageError } from '../errors.ts';
import type { Choice } from '../input/prompt.ts';
import { askText } from '../input/question.ts';
import type { View } from '../output/columns.ts';
import { readNamed, readNames } from './names.ts';
import { type EditableNoun, toWrite } from './noun.ts';
import { readPet } from './read-pet.ts';
import { parseIdOrName } from './values.ts';

export const pets: EditableNoun<Pet> = {
  one: 'pet',
  many: 'pets',
  list: 'listPets',
  named: 'pets',
  title: ({ name }) => name,
  view: petsView(new Map()),
  async fillView(context, client) {
    const { shows } = await context.printer();
    if (!shows('category')) return { view: petsView(new Map()) };
    const { names, note } = await readNames(client, 'categories');
    return { view: petsView(names), note };
  },
  reading: ['getPet', 'listPets'],
  read: readPet,
  holders: (petId) => ['orders', 'list', '--pet', `${petId}`, '--open'],
  async goesWith({ call, contract }, petId) {
    if (!contract.operations.has('getInventory')) return undefined;
    const entry = await call('getInventory', { petId }).catch(() => undefined);
    return entry && `its inventory entry (${entry.value.quantity} in stock)`;
  },
  remove: (petId) => toWrite('deletePet', { petId }),
  create: (body) => toWrite('createPet', { body: body as NewPet }),
  replace: (petId, body, options) => toWrite('updatePet', { petId, body: body as NewPet }, options),
  schema: NewPet,
  fields: [
    {
      name: 'name',
      flag: '--name',
      own: true,
      parse: (text) => text,
      ask: (prompt) => askText(prompt, 'Name'),
    },
    {
      name: 'categoryId',
      column: 'category',
      flag: '--category',
      parse: parseIdOrName,
      ask: async (prompt, client) => prompt.search('Category', await categoryChoices(client)),
    },
    {
      name: 'status',
      flag: '--status',
      parse: (text) => text,
      ask: (prompt) =>
        prompt.select(
          'Status',
          petStatuses.map((status) => ({ name: status, value: status })),
        ),
    },
  ],
};

/** A view of pets with the category by its name, or by its id if the name is unknown. */
function petsView(categories: ReadonlyMap<bigint, string>): View<Pet> {
  return {
    noun: 'pets',
    columns: [
      { name: 'id', value: (pet) => pet.id, align: 'right' },
      { name: 'name', value: (pet) => pet.name },
      { name: 'category', value: (pet) => categoryText(pet, categories) },
      { name: 'status', value: (pet) => pet.status, status: true },
      { name: 'categoryId', value: (pet) => categoryOf(pet).id, align: 'right', extra: true },
    ],
  };
}

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
