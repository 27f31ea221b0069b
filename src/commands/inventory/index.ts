import type { Context } from '../../context.ts';
import { adjustInventory } from './adjust.ts';
import { createInventory } from './create.ts';
import { deleteInventory } from './delete.ts';
import { getInventory } from './get.ts';
import { listInventory } from './list.ts';
import { setInventory } from './set.ts';

export function commands(context: Context): readonly object[] {
  const verbs = [
    listInventory,
    getInventory,
    setInventory,
    adjustInventory,
    createInventory,
    deleteInventory,
  ];
  return verbs.map((declare) => declare(context));
}
