import type { Context } from '../../context.ts';
import { createCategory } from './create.ts';
import { deleteCategory } from './delete.ts';
import { getCategory } from './get.ts';
import { listCategories } from './list.ts';
import { updateCategory } from './update.ts';

export function commands(context: Context): readonly object[] {
  const verbs = [listCategories, getCategory, createCategory, updateCategory, deleteCategory];
  return verbs.map((declare) => declare(context));
}
