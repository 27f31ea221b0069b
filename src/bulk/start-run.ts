import type { NounName } from '../api/nouns.ts';
import type { Context } from '../context.ts';
import type { InputFile } from '../input/input-file.ts';
import type { InputRow, RowLayout } from '../input/read-records.ts';
import { type RowInput, readRows } from '../input/read-rows.ts';
import type { Output } from '../output/print.ts';
import { UsageError } from '../process/errors.ts';
import type { Intent } from '../writes/decide.ts';
import { carryOut, findTarget, lockTarget, type SessionFlags } from './carry-out.ts';
import { checkProfile, findOpenDelivery } from './claims.ts';
import { listRuns, type RunList, runFolderOf, runsOfDelivery } from './list-runs.ts';
import { toRunJson } from './report.ts';
import { nextHint } from './report-output.ts';
import { createRun, newRow, type Run, rowTotals } from './run.ts';
import { type RunFlags, type RunHeader, shardOf } from './run-header.ts';

/** The parts of which a run is made. */
interface RunInput {
  readonly kind: RunHeader['kind'];
  readonly noun: NounName;
  readonly input: RowInput<InputRow & { readonly intent: Intent }>;
  readonly flags: RunFlags;
  /** The number of a delivery. */
  readonly delivery?: string | undefined | null;
}

/** Reads a whole input, and prints its warnings. */
export async function readIntents<Row extends InputRow>(
  context: Context,
  inputFile: InputFile,
  layout: RowLayout<Row>,
  { skipInvalid, shard }: Pick<RunFlags, 'skipInvalid' | 'shard'>,
): Promise<RowInput<Row>> {
  const isSelected = shard ? (key: bigint) => shardOf(key, shard.count) === shard.index : undefined;
  const input = await readRows(inputFile, layout, { skipInvalid, isSelected });
  for (const warning of input.warnings) await context.printNotice(`warning: ${warning}`);
  return input;
}

/** Makes a run of an input. */
export async function toRun(
  context: Context,
  { kind, noun, input, flags, delivery = null }: RunInput,
): Promise<Run> {
  const { file, format, rows, invalid, skipped, originals } = input;
  const header: RunHeader = {
    kind,
    noun,
    target: await findTarget(context),
    profile: context.settings.profile?.value ?? null,
    format,
    columns: originals.header,
    flags,
    name: file.name,
    file: file.path ?? null,
    undoes: null,
    delivery,
    rows: rows.length + invalid.length + skipped,
    invalid: invalid.length,
    skipped,
  };
  const { texts } = originals;
  const newRows = rows.map(({ line, id, intent }) => newRow({ line, id, intent, text: texts[line] }));
  return createRun(header, newRows, [...invalid]);
}

/** Plans a run, asks, writes and reports. A diff or a dry run is only the plan. */
export async function applyRun(
  context: Context,
  run: Run,
  flags: SessionFlags,
  kind: 'diff' | 'apply' = 'apply',
): Promise<Output> {
  const { header } = run;
  const isPreview = kind === 'diff' || context.flags.dryRun === true;
  if (header.rows === 0) {
    const note = `note: ${header.name} has no records: nothing to do`;
    const totals = isPreview ? [] : [toRunJson({ header, counts: rowTotals([]).counts })];
    return { documents: totals, text: '', asList: isPreview, notes: [note] };
  }
  const lock = isPreview ? undefined : await lockTarget(context, header, flags);
  try {
    const list = await listRuns(runFolderOf(context.io));
    if (lock) await checkDelivery(context, list, run);
    return await carryOut(context, list, { run }, flags, lock, kind === 'diff');
  } finally {
    await lock?.release();
  }
}

/** @throws UsageError `unfinished_delivery` that names the command that ends another run of the delivery; `other_profile`. */
async function checkDelivery(context: Context, list: RunList, run: Run): Promise<void> {
  const { target, delivery } = run.header;
  if (delivery === null) return;
  for (const info of runsOfDelivery(list, target, delivery)) checkProfile(info, context.settings);
  const open = await findOpenDelivery(list, run);
  if (!open) return;
  throw new UsageError(
    `delivery ${delivery}: its run ${open.id} is not finished; nothing was sent`,
    nextHint(context, open.command),
    'unfinished_delivery',
  );
}
