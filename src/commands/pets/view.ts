import type { Pet } from '../../api/schemas.ts';
import { categoryOf } from '../../api/shapes.ts';
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
      { name: 'category', value: (pet) => categoryText(pet, names) },
      { name: 'status', value: (pet) => pet.status, status: true },
      { name: 'categoryId', value: (pet) => categoryOf(pet).id, align: 'right', extra: true },
    ],
  };
}

function categoryText(pet: Pet, names: CategoryNames): string | bigint | undefined {
  const { id, name } = categoryOf(pet);
  return name ?? (id === undefined ? undefined : (names.get(id) ?? id));
}
