import type { Context } from '../../context.ts';
import { adjustInventory } from './adjust.ts';
import { applyInventory } from './apply.ts';
import { createInventory } from './create.ts';
import { deleteInventory } from './delete.ts';
import { diffInventory } from './diff.ts';
import { exportInventory } from './export.ts';
import { getInventory } from './get.ts';
import { listInventory } from './list.ts';
import { resumeInventory } from './resume.ts';
import { listRuns } from './runs.ts';
import { setInventory } from './set.ts';
import { undoInventory } from './undo.ts';

export function commands(context: Context): readonly object[] {
  const verbs = [
    listInventory,
    getInventory,
    setInventory,
    adjustInventory,
    createInventory,
    deleteInventory,
    diffInventory,
    applyInventory,
    exportInventory,
    listRuns,
    resumeInventory,
    undoInventory,
  ];
  return verbs.map((declare) => declare(context));
}
