import type { Category } from '../../api/schemas.ts';
import type { View } from '../../output/columns.ts';

export const categoriesView: View<Category> = {
  noun: 'categories',
  columns: [
    { name: 'id', value: (category) => category.id, align: 'right' },
    { name: 'name', value: (category) => category.name },
    { name: 'description', value: (category) => category.description },
  ],
};
