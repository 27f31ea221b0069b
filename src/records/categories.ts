import { nouns } from '../api/nouns.ts';
import { type Category, NewCategory } from '../api/schemas.ts';
import { askOptional, askText } from '../input/question.ts';
import type { EditableNoun } from './noun.ts';

export const categories: EditableNoun<Category> = {
  ...nouns.categories,
  named: 'categories',
  title: ({ name }) => name,
  columns: () => [
    { name: 'id', value: (category) => category.id, align: 'right' },
    { name: 'name', value: (category) => category.name },
    { name: 'description', value: (category) => category.description },
  ],
  holders: (categoryId) => ['pets', 'list', '--category', `${categoryId}`],
  schema: NewCategory,
  fields: [
    { name: 'name', isUnique: true, ask: (prompt) => askText(prompt, 'Name') },
    {
      name: 'description',
      ask: (prompt) => askOptional(prompt, 'Description (Enter for none)', (text) => text),
    },
  ],
};
