import type { Context } from '../../context.ts';
import { createPet } from './create.ts';
import { deletePet } from './delete.ts';
import { getPet } from './get.ts';
import { listPets } from './list.ts';
import { updatePet } from './update.ts';

export function commands(context: Context): readonly object[] {
  return [listPets, getPet, createPet, updatePet, deletePet].map((declare) => declare(context));
}
