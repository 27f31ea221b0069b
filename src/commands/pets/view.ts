import type { Pet } from '../../api/schemas.ts';
import type { View } from '../../output/columns.ts';

/** Category names by id; empty where categories cannot be read. */
export type CategoryNames = ReadonlyMap<bigint, string>;

/** Pets as people see them: the category by its name, or by its id where the name is not known. */
export function petsView(names: CategoryNames): View<Pet> {
  return {
    noun: 'pets',
    columns: [
      { name: 'id', value: (pet) => pet.id, align: 'right' },
      { name: 'name', value: (pet) => pet.name },
      { name: 'category', value: (pet) => names.get(pet.categoryId) ?? pet.categoryId },
      { name: 'status', value: (pet) => pet.status, status: true },
      { name: 'categoryId', value: (pet) => pet.categoryId, align: 'right', extra: true },
    ],
  };
}
