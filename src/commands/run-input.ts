import type { NounName } from '../api/operations.ts';
import { countLayout } from '../bulk/count-layout.ts';
import type { Intent } from '../bulk/decide.ts';
import { mostEqualRows } from '../bulk/deliveries.ts';
import { createRow } from '../bulk/rows.ts';
import type { NewRun, RunParts } from '../bulk/run.ts';
import { type RunFlags, shardOf } from '../bulk/run-flags.ts';
import { withOtherRuns } from '../bulk/which-run.ts';
import { type Context, commandLine } from '../context.ts';
import { type InputRow, type RowInput, type RowLayout, readRows } from '../input/read-rows.ts';
import type { Source } from '../input/source.ts';
import { UsageError } from '../process/errors.ts';
import type { ApplyFlags } from './run-flags.ts';
import { toGuards } from './run-flags.ts';
import { lockTarget, paceHere, preview, runSession, runStore, targetHere } from './run-session.ts';

/** A row of an input that says what it wants of one record. */
interface IntentRow extends InputRow {
  readonly id: bigint;
  readonly intent: Intent;
}

/** Reads a whole input for a run. */
export async function readIntents<Row extends InputRow>(
  context: Context,
  source: Source,
  layout: RowLayout<Row>,
  { skipInvalid, shard }: Pick<RunFlags, 'skipInvalid' | 'shard'>,
): Promise<RowInput<Row>> {
  const isSelected = shard ? (id: bigint) => shardOf(id, shard.count) === shard.index : undefined;
  const input = await readRows(source, layout, { skipInvalid, isSelected });
  for (const warning of input.warnings) await context.warn(`warning: ${warning}`);
  return input;
}

/** The parts of a run of an input. */
export async function partsOfInput(
  context: Context,
  noun: NounName,
  { source, format, invalid, skipped, rows }: RowInput<InputRow>,
  intents: readonly IntentRow[],
  {
    layout,
    runFlags,
    commandFlags,
  }: { readonly layout: RowLayout<InputRow>; readonly runFlags: RunFlags; readonly commandFlags: ApplyFlags },
): Promise<RunParts> {
  const mayCreate = runFlags.createMissing;
  const header: NewRun = {
    ...{ kind: 'apply', noun, target: await targetHere(context), format, flags: runFlags },
    ...{
      name: source.name,
      file: source.path ?? null,
      undoes: null,
      delivery: commandFlags.delivery ?? null,
    },
    ...{ guards: toGuards(commandFlags), pace: await paceHere(context) },
    ...{ rows: rows.length + invalid.length + skipped, invalid: invalid.length, skipped },
  };
  return {
    header,
    rows: intents.map(({ line, id, intent }) => createRow(line, id, intent, { mayCreate })),
    invalid,
    again: { source, layout },
  };
}

/**
 * Plans an input, asks, writes and reports; or only shows the plan, for a dry run and for a diff.
 *
 * @param kind what is to be done with the plan.
 */
export async function runInput(
  context: Context,
  parts: RunParts,
  flags: ApplyFlags,
  kind: 'diff' | 'apply',
): Promise<void> {
  if (parts.header.rows === 0)
    return context.warn(`note: ${parts.header.name} has no records: nothing to do`);
  const isWritten = kind === 'apply' && !context.flags.dryRun;
  if (kind === 'diff') {
    await checkEqualRows(context, parts, flags, isWritten);
    return preview(context, await withOtherRuns(runStore(context), parts), flags, 'diff');
  }
  const lock = await lockTarget(context, parts.header, flags);
  try {
    await checkEqualRows(context, parts, flags, isWritten);
    const whole = await withOtherRuns(runStore(context), parts);
    await runSession(context, whole, flags, lock);
  } finally {
    await lock.release();
  }
}

/**
 * Looks for an earlier run that has added the same rows, if one of the two has no number of a delivery.
 *
 * @throws UsageError if half of the rows are the same and they are to be written.
 */
async function checkEqualRows(
  context: Context,
  { header, rows }: RunParts,
  { again }: ApplyFlags,
  isWritten: boolean,
): Promise<void> {
  if (!header.flags.relative || again) return;
  const equal = await mostEqualRows(runStore(context), header, rows);
  if (!equal) return;
  const { run, name } = equal.info.header;
  const count = equal.count === 1 ? '1 row equals a row' : `${equal.count} rows equal rows`;
  const what = `${header.name}: ${count} of run ${run} (${name}), which has booked them or has them open`;
  if (!equal.isHalf || !isWritten) return context.warn(`warning: ${what}`);
  const { undo, open } = equal.info;
  const ways = [
    ...(open > 0 && !undo ? [`go on with it: ${commandLine(context, ['resume', run])}`] : []),
    `set it back: ${commandLine(context, ['undo', run])}`,
    'if it is another delivery, add --again',
    'give each delivery its number with --delivery, and it is booked once',
  ];
  throw new UsageError(`${what}; nothing was sent`, ways.join('; '), 'already_booked');
}

/** Where the original columns of the rows of a run of counts are, for its rejects. */
export async function originalOfRun(
  _context: Context,
  { noun, flags, name }: Pick<NewRun, 'noun' | 'flags' | 'name'>,
  source: Source,
): Promise<NonNullable<RunParts['again']> | undefined> {
  if (noun !== 'inventory') return undefined;
  const layout = countLayout(flags) as unknown as RowLayout<InputRow>;
  return { source: { ...source, name }, layout };
}
