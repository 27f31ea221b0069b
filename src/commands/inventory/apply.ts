import { countLayout } from '../../bulk/count-layout.ts';
import type { Context } from '../../context.ts';
import { parseColumnMap } from '../../input/column-map.ts';
import { openSource } from '../../input/source.ts';
import { type ApplyFlags, toRunFlags } from '../runs/run-flags.ts';
import { applyInput, readIntents } from '../runs/run-input.ts';

/** Applies a file of counts; or prints what that would change, and exits 8 if that is anything. */
export async function applyCounts(
  context: Context,
  path: string,
  flags: ApplyFlags,
  kind: 'diff' | 'apply',
): Promise<void> {
  // Without a service to call, a large input need not be read first.
  await context.client('bulk');
  const { settings } = context;
  const map = parseColumnMap(flags.map ?? settings.get('import-map') ?? []);
  const thousands = flags.thousands ?? settings.get('import-thousands');
  const runFlags = toRunFlags({ ...flags, thousands }, map);
  const layout = countLayout(runFlags);
  const source = await openSource(context.io, path);
  try {
    const input = await readIntents(context, source, layout, runFlags);
    await applyInput(context, { noun: 'inventory', input, rows: input.rows, layout, runFlags }, flags, kind);
  } finally {
    await source.close();
  }
}
