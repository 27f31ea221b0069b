import type { NounName } from '../api/nouns.ts';
import { type Context, followUpCommand } from '../context.ts';
import { readInputFile } from '../input/input-file.ts';
import type { InputRow, RowLayout } from '../input/read-records.ts';
import { type CheckedInput, readRows } from '../input/read-rows.ts';
import type { Notice } from '../output/messages.ts';
import type { Output } from '../output/printer.ts';
import { requireFreeDelivery, requireNoOpenCreate } from './deliveries.ts';
import { isOpen, listRuns, runsOnTarget } from './list-runs.ts';
import { toRunJson } from './report.ts';
import {
  areDisjointShards,
  createLog,
  numbersOf,
  type RunFlags,
  type RunHeader,
  type RunLog,
  rowCountOf,
  runName,
  shardIndexOf,
} from './run.ts';
import type { RunRow } from './run-row.ts';
import { routesOf } from './same-service.ts';
import { runSession, type SessionFlags, sessionMode } from './session.ts';
import { lockTarget, requireTarget } from './target.ts';

interface RunParts {
  readonly kind: RunHeader['kind'];
  readonly noun: NounName;
  readonly input: CheckedInput<RunRow>;
  readonly flags: RunFlags;
  readonly delivery?: string | undefined;
}

/** Reads and checks the rows of an input that belong to the shard. */
export async function readCheckedInput<Row extends InputRow>(
  context: Context,
  path: string,
  layout: RowLayout<Row>,
  { skipInvalid, shard }: Pick<RunFlags, 'skipInvalid' | 'shard'>,
): Promise<CheckedInput<Row>> {
  const isSelected = shard ? (key: bigint) => shardIndexOf(key, shard.count) === shard.index : undefined;
  return readRows(await readInputFile(context.io, path), layout, { skipInvalid, isSelected });
}

async function toLog(context: Context, { kind, noun, input, flags, delivery }: RunParts): Promise<RunLog> {
  const { settings } = context;
  const { file, format, rows, invalid, skipped, header: columns } = input;
  const header: RunHeader = {
    kind,
    noun,
    target: await requireTarget(context),
    routes: routesOf(await context.contract(), noun),
    profile: settings.offline ? undefined : settings.profile?.value,
    format,
    columns,
    flags,
    name: file.name,
    file: file.path,
    delivery,
    skipped,
  };
  return createLog(header, rows, invalid);
}

/** Prints what the user must know of an input, turns it into a run, and runs its first session. */
export async function startRun(
  context: Context,
  parts: RunParts,
  flags: SessionFlags,
  mode = sessionMode(context),
): Promise<Output> {
  for (const notice of parts.input.notices) await context.notice(...notice);
  const log = await toLog(context, parts);
  const { header } = log;
  const { counts } = numbersOf(log);
  if (rowCountOf(counts) === 0) {
    const notices: readonly Notice[] = [['note', `${header.name} has no records: nothing to do`]];
    const zeros = toRunJson({ header, counts });
    return { kind: 'text', text: '', data: mode === 'write' ? zeros : [], notices };
  }
  using _lock = mode === 'write' ? await lockTarget(context, header, flags) : undefined;
  const list = await listRuns(context.io);
  if (mode === 'write') {
    await requireFreeDelivery(context, list, header);
    await requireNoOpenCreate(context, list, header);
    const [lastRun] = runsOnTarget(list, header.target);
    const isShared =
      lastRun?.header.noun === header.noun &&
      !areDisjointShards(lastRun.header.flags.shard, header.flags.shard);
    if (lastRun && isShared && isOpen(lastRun))
      await context.notice(
        'warning',
        `run ${lastRun.id} (${runName(lastRun.header)}) is not finished; to see what is left, run: ${followUpCommand(context, ['runs', 'show', lastRun.id])}`,
      );
  }
  // Awaited, because the lock is released at the end of this function.
  return await runSession(context, { list, run: undefined, log, undoneLog: undefined }, flags, mode);
}
