import { NewPet, type Pet, petStatuses } from '../../api/schemas.ts';
import { askText } from '../../asking/ask-text.ts';
import { type EditableNoun, toWrite } from '../../records/noun.ts';
import { readPet } from '../../records/read-pet.ts';
import { categoryChoices, type NamedCategories, readCategoryNames } from './categories.ts';
import { petsView } from './view.ts';

const noNames: NamedCategories = { names: new Map() };

export const pets: EditableNoun<Pet, NewPet> = {
  one: 'pet',
  many: 'pets',
  title: ({ name }) => name,
  view: petsView(new Map()),
  async fillView(context, client) {
    const { shows } = await context.printer();
    const { names, note } = shows('category') ? await readCategoryNames(client) : noNames;
    return { view: petsView(names), note };
  },
  reading: ['getPet', 'listPets'],
  read: readPet,
  removal: 'deletePet',
  holders: (petId) => ['orders', 'list', '--pet', `${petId}`, '--open'],
  remove: (petId) => toWrite('deletePet', { petId }),
  creation: 'createPet',
  create: (body) => toWrite('createPet', { body }),
  replacement: 'updatePet',
  replace: (petId, body, options) => toWrite('updatePet', { petId, body }, options),
  schema: NewPet,
  fields: [
    { name: 'name', flag: '--name', ask: async (prompt) => ({ name: await askText(prompt, 'Name') }) },
    {
      name: 'categoryId',
      flag: '--category',
      ask: async (prompt, client) => ({
        categoryId: await prompt.search('Category', await categoryChoices(client)),
      }),
    },
    {
      name: 'status',
      flag: '--status',
      ask: async (prompt) => ({ status: await prompt.select('Status', petStatuses.map(toChoice)) }),
    },
  ],
};

function toChoice<Value extends string>(value: Value) {
  return { name: value, value };
}
