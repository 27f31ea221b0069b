import { sessionMode } from '../../bulk/carry-out.ts';
import { countLayout } from '../../bulk/count-layout.ts';
import { readCheckedInput, startRun } from '../../bulk/start-run.ts';
import { type ColumnMap, parseColumnMap } from '../../config/setting-values.ts';
import type { Context } from '../../context.ts';
import type { Output } from '../../output/printer.ts';
import { messageOf, UsageError } from '../../process/errors.ts';
import { type ApplyFlags, toRunFlags } from '../run-flags.ts';

/** Applies a file of counts. A diff prints the changes instead, and exits 8 if there are any. */
export async function applyCounts(
  context: Context,
  path: string,
  flags: ApplyFlags,
  mode = sessionMode(context),
): Promise<Output> {
  // If no service is set, the error comes before a large input is read.
  await context.client('bulk');
  const { settings } = context;
  const map = toColumnMap(flags.map ?? [settings.get('import-map')].filter((text) => text !== undefined));
  const runFlags = toRunFlags(flags, map, mode);
  const input = await readCheckedInput(context, path, countLayout(runFlags), runFlags);
  const { delivery } = flags;
  const runInput = { kind: 'apply', noun: 'inventory', input, flags: runFlags, delivery } as const;
  return startRun(context, runInput, flags, mode);
}

/** @throws UsageError. */
function toColumnMap(texts: readonly string[]): ColumnMap {
  try {
    return parseColumnMap(texts);
  } catch (error) {
    throw new UsageError(`--map '${texts.join(',')}': ${messageOf(error)}`);
  }
}
