import { type Category, NewCategory } from '../api/schemas.ts';
import { askParsed, askText } from '../input/question.ts';
import type { View } from '../output/columns.ts';
import { type EditableNoun, toWrite } from './noun.ts';

const view: View<Category> = {
  noun: 'categories',
  columns: [
    { name: 'id', value: (category) => category.id, align: 'right' },
    { name: 'name', value: (category) => category.name },
    { name: 'description', value: (category) => category.description },
  ],
};

export const categories: EditableNoun<Category> = {
  one: 'category',
  many: 'categories',
  list: 'listCategories',
  named: 'categories',
  title: ({ name }) => name,
  view,
  fillView: async () => ({ view }),
  reading: ['getCategory'],
  read: (_, client, categoryId, options) => client.call('getCategory', { categoryId }, options),
  holders: (categoryId) => ['pets', 'list', '--category', `${categoryId}`],
  remove: (categoryId) => toWrite('deleteCategory', { categoryId }),
  create: (body) => toWrite('createCategory', { body: body as NewCategory }),
  replace: (categoryId, body, options) =>
    toWrite('updateCategory', { categoryId, body: body as NewCategory }, options),
  schema: NewCategory,
  fields: [
    {
      name: 'name',
      flag: '--name',
      own: true,
      parse: (text) => text,
      ask: (prompt) => askText(prompt, 'Name'),
    },
    {
      name: 'description',
      flag: '--description',
      parse: (text) => text,
      ask: (prompt) => askParsed(prompt, 'Description (Enter for none)', (text) => text),
    },
  ],
};
