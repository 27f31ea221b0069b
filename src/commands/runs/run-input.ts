import type { NounName } from '../../api/operations.ts';
import { checkProfile, findOpenDelivery } from '../../bulk/claims.ts';
import { createRun, newRow, type Run } from '../../bulk/run.ts';
import { type RunFlags, type RunHeader, type RunKind, shardOf } from '../../bulk/run-header.ts';
import { listRuns, type RunList, runFolderOf, runsOfDelivery } from '../../bulk/run-store.ts';
import type { Context } from '../../context.ts';
import type { InputFile } from '../../input/input-file.ts';
import type { InputRow, RowLayout } from '../../input/read-records.ts';
import { type RowInput, readRows } from '../../input/read-rows.ts';
import { UsageError } from '../../process/errors.ts';
import type { Intent } from '../../writes/decide.ts';
import { nextHint, printNothing } from './report-run.ts';
import type { ApplyFlags } from './run-flags.ts';
import { findTarget, lockTarget, runSession } from './run-session.ts';

/** The parts of which a run is made. */
interface RunInput {
  readonly kind: RunKind;
  readonly noun: NounName;
  readonly input: RowInput<InputRow & { readonly intent: Intent }>;
  readonly runFlags: RunFlags;
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
  for (const warning of input.warnings) await context.warn(`warning: ${warning}`);
  return input;
}

/** Makes a run of an input. */
export async function toRun(
  context: Context,
  { kind, noun, input, runFlags }: RunInput,
  flags: ApplyFlags,
): Promise<Run> {
  const { file, format, rows, invalid, skipped, originals } = input;
  const header: RunHeader = {
    kind,
    noun,
    target: await findTarget(context),
    profile: context.settings.profile?.value ?? null,
    format,
    columns: originals.header,
    flags: runFlags,
    name: file.name,
    file: file.path ?? null,
    undoes: null,
    delivery: flags.delivery ?? null,
    rows: rows.length + invalid.length + skipped,
    invalid: invalid.length,
    skipped,
  };
  const { texts } = originals;
  const newRows = rows.map(({ line, id, intent }) => newRow({ line, id, intent, text: texts[line] }));
  return createRun(header, newRows, [...invalid]);
}

/** Plans a run, asks, writes and reports. A diff or a dry run only shows the plan. */
export async function applyRun(
  context: Context,
  run: Run,
  flags: ApplyFlags,
  kind: 'diff' | 'apply' = 'apply',
): Promise<void> {
  const { header } = run;
  const isPreview = kind === 'diff' || context.flags.dryRun === true;
  if (header.rows === 0) {
    await context.warn(`note: ${header.name} has no records: nothing to do`);
    return printNothing(context, header, isPreview);
  }
  const lock = isPreview ? undefined : await lockTarget(context, header, flags);
  try {
    const list = await listRuns(runFolderOf(context.io));
    if (lock) await checkDelivery(context, list, run);
    await runSession(context, list, { run }, flags, lock, kind === 'diff');
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
