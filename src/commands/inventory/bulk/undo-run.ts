import { createHash } from 'node:crypto';
import type { InputOptions } from '../../../bulk/journal-lines.ts';
import { blankRows, replayJournal } from '../../../bulk/replay.ts';
import { type RunInfo, readRunInfo } from '../../../bulk/run-info.ts';
import type { RunStore } from '../../../bulk/run-store.ts';
import { type StayingEntries, toUndoRows } from '../../../bulk/undo-rows.ts';
import type { Context } from '../../../context.ts';
import { UsageError } from '../../../errors.ts';
import { counted, groupDigits } from '../../../text.ts';
import { refuseOtherTarget } from '../place.ts';
import { closeRun, findEarlier } from './earlier.ts';
import type { RunFlags } from './flags.ts';
import type { BulkJob } from './job.ts';
import { runBulk } from './run.ts';

/** An undo reads no input. */
const noInput: InputOptions = {
  format: null,
  delimiter: null,
  map: {},
  onDuplicate: 'error',
  skipInvalid: false,
  shard: null,
};

/** Sets back what a run changed, where the count is still the one that it set. */
export async function undoRun(
  context: Context,
  runs: RunStore,
  { run, flags }: { readonly run: string; readonly flags: RunFlags },
): Promise<void> {
  const info = await readRunInfo(runs, run);
  if (!info) throw new UsageError(`undo ${run}: the run has not begun`);
  await refuseOtherTarget(context, info.header);
  if (info.state === 'undone' && !(await hasLeftRows(runs, info.by)))
    throw new UsageError(`undo ${run}: run ${info.by} has undone it already`);
  if (context.flags.dryRun)
    return runBulk(context, runs, { job: await readUndoJob(context, runs, info), flags });
  await runs.hold(info.header, async () => {
    const job = await readUndoJob(context, runs, info);
    await runs.hold(job.identity, async () => {
      const earlier = await findEarlier(context, runs, job);
      await runBulk(context, runs, { job: { ...job, earlier }, flags });
    });
  });
}

/** Whether an undo could not do all: then it may be tried again. */
async function hasLeftRows(runs: RunStore, undo: string | undefined): Promise<boolean> {
  if (undo === undefined || !(await runs.ids()).includes(undo)) return false;
  const info = await readRunInfo(runs, undo);
  return info !== undefined && info.counts.failed + info.counts.unknown > 0;
}

/** The job that takes a run back. */
async function readUndoJob(context: Context, runs: RunStore, { header }: RunInfo): Promise<BulkJob> {
  const { run, target } = header;
  const journal = await runs.open(run);
  if (!journal) throw new UsageError(`undo ${run}: the run has not begun`);
  const image = blankRows(header.rows);
  const replay = await replayJournal(journal, image);
  const { operations } = (await context.client('many')).contract;
  const canRemove = operations.has('deleteInventory');
  const { rows, index, createsEntries, staying } = toUndoRows(image, { replay, canRemove });
  if (staying.count > 0) await context.notice(stayingText(staying));
  const sha256 = createHash('sha256').update(run).digest('hex');
  return {
    identity: { kind: 'undo', sha256, target, input: noInput },
    verb: 'undoing',
    name: run,
    file: null,
    rows,
    index,
    write: { blind: false, createMissing: createsEntries },
    guards: undefined,
    input: undefined,
    earlier: undefined,
    async finished(by) {
      const info = await readRunInfo(runs, run);
      if (info) await closeRun(context, runs, { info, ended: 'undone', by: by ?? 'undo' });
    },
  };
}

/** Names what an undo leaves behind where the service, as it is bound, takes no entry away. */
function stayingText({ count, first }: StayingEntries): string {
  const subject = counted(count, 'entry', 'entries');
  const verb = count === 1 ? 'stays' : 'stay';
  const more = count - first.length;
  const others = more > 0 ? ` and ${groupDigits(more)} more` : '';
  return `warning: ${subject} that the run made ${verb}, for the service offers no deleteInventory: ${count === 1 ? 'pet' : 'pets'} ${first.join(', ')}${others}`;
}
