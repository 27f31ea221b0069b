import { createCountLayout } from '../../bulk/count-layout.ts';
import type { RunFlags } from '../../bulk/run.ts';
import { type SessionMode, sessionMode } from '../../bulk/session.ts';
import { readCheckedInput, startRun } from '../../bulk/start-run.ts';
import type { Context } from '../../context.ts';
import { parseColumnMap } from '../../input/field-columns.ts';
import type { Output } from '../../output/printer.ts';
import { parseAt, UsageError } from '../../process/errors.ts';
import type { ApplyFlags } from '../shared-flags.ts';

/** Applies a file of counts. A diff only prints the changes, and exits 8 if there are any. */
export async function applyCounts(
  context: Context,
  path: string,
  flags: ApplyFlags,
  mode = sessionMode(context),
): Promise<Output> {
  // Without a service, this fails before a large input is read.
  const { contract } = await context.client('bulk');
  const { settings } = context;
  const mapTexts = flags.map ?? [settings.get('import-map') ?? []].flat();
  const map = parseAt('--map', mapTexts.join(), () => parseColumnMap(mapTexts));
  const runFlags = toRunFlags(flags, map, mode);
  const input = await readCheckedInput(context, path, createCountLayout(runFlags, contract), runFlags);
  const { delivery } = flags;
  const runInput = { kind: 'apply', noun: 'inventory', input, flags: runFlags, delivery } as const;
  return startRun(context, runInput, flags, mode);
}

/**
 * Returns the flags that decide how a run reads its input and what it writes.
 *
 * @param mode a delivery that is written needs a number.
 * @throws UsageError for flags that cannot be combined.
 */
function toRunFlags(flags: ApplyFlags, map: RunFlags['map'], mode: SessionMode): RunFlags {
  const { thousands, decimal, shard, delivery, relative, again, createMissing, skipInvalid, sum } = flags;
  if (thousands !== undefined && thousands === decimal)
    throw new UsageError(`--thousands and --decimal cannot both be ${thousands}`);
  if (sum && skipInvalid)
    throw new UsageError('--sum cannot be used with --skip-invalid: without its invalid rows a sum is wrong');
  if (!relative && again) throw new UsageError('--again: only with --relative');
  if (!relative && delivery !== undefined) throw new UsageError('--delivery: only with --relative');
  if (relative && delivery === undefined && mode === 'write')
    throw new UsageError(
      '--relative: a delivery needs its number, so that it is booked once',
      'give --delivery with the number of the delivery note, or a text of your own',
    );
  return { map, thousands, decimal, sum, skipInvalid, shard, relative, again, createMissing };
}
