import type { NounName } from '../../api/operations.ts';
import type { Intent } from '../../bulk/decide.ts';
import { findMostEqualRun, markByOtherRuns } from '../../bulk/other-runs.ts';
import { createRow } from '../../bulk/rows.ts';
import type { Run } from '../../bulk/run.ts';
import { type RunFlags, type RunHeader, shardOf } from '../../bulk/run-header.ts';
import { listRuns, type RunList, runFolderOf } from '../../bulk/run-store.ts';
import { type Context, followUpCommand } from '../../context.ts';
import type { InputFile } from '../../input/input-file.ts';
import type { InputRow, RowLayout } from '../../input/read-records.ts';
import { type RowInput, readRows } from '../../input/read-rows.ts';
import { UsageError } from '../../process/errors.ts';
import { type ApplyFlags, runGuards, runPace } from './run-flags.ts';
import { findTarget, lockTarget, previewRun, runSession } from './run-session.ts';

/** A valid row of an input, with the change that it asks for. */
interface IntentRow extends InputRow {
  readonly id: bigint;
  readonly intent: Intent;
}

/** The parts of which a run is made. */
interface RunInput {
  readonly noun: NounName;
  readonly input: RowInput<IntentRow>;
  /** Reads the input again for the columns of the rejects. Undefined if the input cannot be read again. */
  readonly layout?: RowLayout<InputRow>;
  readonly runFlags: RunFlags;
}

/** Reads a whole input, and prints its warnings. */
export async function readIntents<Row extends InputRow>(
  context: Context,
  inputFile: InputFile,
  layout: RowLayout<Row>,
  { skipInvalid, shard }: Pick<RunFlags, 'skipInvalid' | 'shard'>,
): Promise<RowInput<Row>> {
  const isSelected = shard ? (id: bigint) => shardOf(id, shard.count) === shard.index : undefined;
  const input = await readRows(inputFile, layout, { skipInvalid, isSelected });
  for (const warning of input.warnings) await context.warn(`warning: ${warning}`);
  return input;
}

/** Makes a run of an input. */
export async function toRun(
  context: Context,
  { noun, input, layout, runFlags }: RunInput,
  flags: ApplyFlags,
): Promise<Run> {
  const { inputFile, format, rows, invalid, skipped } = input;
  const mayCreate = runFlags.createMissing;
  const header: RunHeader = {
    kind: 'apply',
    noun,
    target: await findTarget(context),
    format,
    flags: runFlags,
    name: inputFile.name,
    file: inputFile.path ?? null,
    undoes: null,
    delivery: flags.delivery ?? null,
    guards: runGuards(flags),
    pace: runPace(context),
    rows: rows.length + invalid.length + skipped,
    invalid: invalid.length,
    skipped,
  };
  return {
    header,
    rows: rows.map(({ line, id, intent }) => createRow(line, id, intent, { mayCreate })),
    invalid,
    input: layout && { inputFile, layout },
  };
}

/** Plans a run, asks, writes and reports. A diff or a dry run only shows the plan. */
export async function applyRun(
  context: Context,
  run: Run,
  flags: ApplyFlags,
  kind: 'diff' | 'apply',
): Promise<void> {
  const { header } = run;
  if (header.rows === 0) return context.warn(`note: ${header.name} has no records: nothing to do`);
  const isPreview = kind === 'diff' || context.flags.dryRun;
  const lock = isPreview ? undefined : await lockTarget(context, header, flags);
  try {
    const list = await listRuns(runFolderOf(context.io));
    await checkEqualRows(context, list, run, lock === undefined);
    await markByOtherRuns(list, run);
    if (lock) await runSession(context, run, flags, lock);
    else await previewRun(context, run, kind === 'diff' ? 'diff' : 'dry run');
  } finally {
    await lock?.release();
  }
}

/**
 * Looks for an earlier run that has added the same rows, and warns of it.
 *
 * @throws UsageError if at least half of the rows are equal and the run is no preview.
 */
async function checkEqualRows(context: Context, list: RunList, run: Run, isPreview: boolean): Promise<void> {
  const { flags, name } = run.header;
  if (!flags.relative || flags.again) return;
  const equal = await findMostEqualRun(list, run);
  if (!equal) return;
  const { id, header, undo, open } = equal.info;
  const count = equal.count === 1 ? '1 row equals a row' : `${equal.count} rows equal rows`;
  const finding = `${name}: ${count} of run ${id} (${header.name}), which has booked them, or may have`;
  if (!equal.isHalfEqual || isPreview) return context.warn(`warning: ${finding}`);
  const ways = [
    ...(open > 0 && !undo ? [`go on with it: ${followUpCommand(context, ['resume', id])}`] : []),
    `set it back: ${followUpCommand(context, ['undo', id])}`,
    'if it is another delivery, add --again',
    'give each delivery its number with --delivery, and it is booked once',
  ];
  throw new UsageError(`${finding}; nothing was sent`, ways.join('; '), 'already_booked');
}
