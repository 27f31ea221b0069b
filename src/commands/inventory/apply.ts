import { countLayout } from '../../bulk/count-layout.ts';
import type { RunParts } from '../../bulk/run.ts';
import type { RunFlags } from '../../bulk/run-flags.ts';
import type { Context } from '../../context.ts';
import { parseColumnMap } from '../../input/column-map.ts';
import type { InputRow, RowLayout } from '../../input/read-rows.ts';
import { openSource, type Source } from '../../input/source.ts';
import { type ApplyFlags, toRunFlags } from '../run-flags.ts';
import { partsOfInput, readIntents, runInput } from '../run-input.ts';

/** Applies a file of counts; or prints what that would change, and exits 8 if that is anything. */
export async function applyCounts(
  context: Context,
  path: string,
  commandFlags: ApplyFlags,
  kind: 'diff' | 'apply',
): Promise<void> {
  // Without a service to call, a large input need not be read first.
  await context.client('bulk');
  const settings = context.settings;
  const map = parseColumnMap(commandFlags.map ?? settings.get('import-map') ?? []);
  const thousands = commandFlags.thousands ?? settings.get('import-thousands');
  const runFlags = toRunFlags({ ...commandFlags, thousands }, map);
  const source = await openSource(context.io, path);
  try {
    await runInput(context, await readCounts(context, source, runFlags, commandFlags), commandFlags, kind);
  } finally {
    await source.close();
  }
}

/** The parts of a run of counts. The rows as they were read are not kept: a million of them take 60 MB. */
async function readCounts(
  context: Context,
  source: Source,
  runFlags: RunFlags,
  commandFlags: ApplyFlags,
): Promise<RunParts> {
  const layout = countLayout(runFlags);
  const input = await readIntents(context, source, layout, runFlags);
  return partsOfInput(context, 'inventory', input, input.rows, {
    layout: layout as unknown as RowLayout<InputRow>,
    ...{ runFlags, commandFlags },
  });
}
