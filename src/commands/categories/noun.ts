import { type Category, NewCategory } from '../../api/schemas.ts';
import { askParsed, askText } from '../../asking/ask-text.ts';
import { type EditableNoun, toWrite } from '../../records/noun.ts';
import { categoriesView } from './view.ts';

export const categories: EditableNoun<Category, NewCategory> = {
  one: 'category',
  many: 'categories',
  title: ({ name }) => name,
  view: categoriesView,
  fillView: async () => ({ view: categoriesView }),
  reading: ['getCategory'],
  read: (_, client, categoryId) => client.call('getCategory', { categoryId }),
  removal: 'deleteCategory',
  holders: (categoryId) => ['pets', 'list', '--category', `${categoryId}`],
  remove: (categoryId) => toWrite('deleteCategory', { categoryId }),
  creation: 'createCategory',
  create: (body) => toWrite('createCategory', { body }),
  replacement: 'updateCategory',
  replace: (categoryId, body, options) => toWrite('updateCategory', { categoryId, body }, options),
  schema: NewCategory,
  fields: [
    { name: 'name', flag: '--name', ask: async (prompt) => ({ name: await askText(prompt, 'Name') }) },
    {
      name: 'description',
      flag: '--description',
      ask: (prompt) => askParsed(prompt, 'Description (Enter for none)', (description) => ({ description })),
    },
  ],
};
