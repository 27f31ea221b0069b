import { Refusal } from '../refusal.ts';
import { type Store, type StoredCategory, toCategory } from '../store.ts';
import { done, found, type Handlers, paging } from './handler.ts';

export const categoryHandlers: Handlers<
  'listCategories' | 'createCategory' | 'getCategory' | 'updateCategory' | 'deleteCategory'
> = {
  listCategories: (store, { query }) => store.categories.page({ filters: {}, ...paging(query) }),

  createCategory(store, { body }) {
    const category = toCategory(store.categoryIds.take(), body);
    store.categories.put(category.id, category);
    return { status: 201, value: category, id: category.id };
  },

  getCategory: (store, { categoryId }) => ({
    status: 200,
    entry: found(store.categories.entry(categoryId), 'category', categoryId),
  }),

  updateCategory(store, { categoryId, body }) {
    findCategory(store, categoryId);
    const category = toCategory(categoryId, body);
    store.categories.put(categoryId, category);
    return { status: 200, value: category };
  },

  deleteCategory(store, { categoryId }) {
    findCategory(store, categoryId);
    if (store.pets.some({ categoryId })) throw new Refusal('in_use', `category ${categoryId} has pets`);
    store.categories.delete(categoryId);
    store.categoryIds.retire(categoryId);
    return done;
  },
};

function findCategory(store: Store, id: bigint): StoredCategory {
  return found(store.categories.get(id), 'category', id);
}
