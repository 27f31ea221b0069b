import { countLayout } from '../../bulk/count-layout.ts';
import type { Run } from '../../bulk/run.ts';
import type { RunFlags } from '../../bulk/run-header.ts';
import { parseColumnMap } from '../../config/column-map.ts';
import type { Context } from '../../context.ts';
import { type InputFile, openInputFile } from '../../input/input-file.ts';
import { type ApplyFlags, toRunFlags } from '../runs/run-flags.ts';
import { applyRun, readIntents, toRun } from '../runs/run-input.ts';

/** Applies a file of counts. A diff prints the changes instead, and exits 8 if there are any. */
export async function applyCounts(
  context: Context,
  path: string,
  flags: ApplyFlags,
  kind: 'diff' | 'apply',
): Promise<void> {
  // If no service is set, the error comes before a large input is read.
  await context.client('bulk');
  const { settings } = context;
  const map = parseColumnMap(flags.map ?? settings.get('import-map') ?? []);
  // A flag takes its character from the other setting.
  const defaultFor = <Mark extends string>(mark: Mark | undefined, other: string | undefined) =>
    mark === other ? undefined : mark;
  const thousands = flags.thousands ?? defaultFor(settings.get('import-thousands'), flags.decimal);
  const decimal = flags.decimal ?? defaultFor(settings.get('import-decimal'), flags.thousands);
  const isPreview = kind === 'diff' || context.flags.dryRun === true;
  const runFlags = toRunFlags({ ...flags, thousands, decimal }, map, isPreview);
  const inputFile = await openInputFile(context.io, path);
  try {
    await applyRun(context, await readCounts(context, inputFile, runFlags, flags), flags, kind);
  } finally {
    await inputFile.close();
  }
}

/** Makes the run of a file of counts. A function of its own, because it frees the rows that were read: 60 MB for a million. */
async function readCounts(
  context: Context,
  inputFile: InputFile,
  runFlags: RunFlags,
  flags: ApplyFlags,
): Promise<Run> {
  const layout = countLayout(runFlags);
  const input = await readIntents(context, inputFile, layout, runFlags);
  return toRun(context, { kind: 'apply', noun: 'inventory', input, layout, runFlags }, flags);
}
