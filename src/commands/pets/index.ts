import type { Context } from '../../context.ts';
import { listPets } from './list.ts';

export function commands(context: Context): readonly object[] {
  return [listPets(context)];
}
