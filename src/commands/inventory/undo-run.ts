import { createHash } from 'node:crypto';
import type { InputOptions } from '../../bulk/journal-lines.ts';
import { blankRows, replayJournal } from '../../bulk/replay.ts';
import { type RunInfo, readRunInfo } from '../../bulk/run-info.ts';
import type { RunStore } from '../../bulk/run-store.ts';
import { type MadeEntries, toUndoRows } from '../../bulk/undo-rows.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { groupDigits } from '../../output/digits.ts';
import type { RunFlags } from './bulk-flags.ts';
import type { BulkJob } from './bulk-job.ts';
import { runBulk } from './bulk-run.ts';
import { closeRun, findEarlier } from './earlier.ts';
import { commandLine, refuseOtherTarget } from './place.ts';

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
  if (info.state === 'undone') throw new UsageError(`undo ${run}: run ${info.by} has undone it already`);
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

/** The job that takes a run back. */
async function readUndoJob(context: Context, runs: RunStore, { header }: RunInfo): Promise<BulkJob> {
  const { run, target } = header;
  const journal = await runs.open(run);
  if (!journal) throw new UsageError(`undo ${run}: the run has not begun`);
  const image = blankRows(header.rows);
  const { rows, index, created } = toUndoRows(image, await replayJournal(journal, image));
  if (created.count > 0) await context.notice(stayingText(context, created));
  const sha256 = createHash('sha256').update(run).digest('hex');
  return {
    identity: { kind: 'undo', sha256, target, input: noInput },
    verb: 'undoing',
    name: run,
    file: null,
    rows,
    index,
    write: { blind: false, createMissing: false },
    guards: undefined,
    input: undefined,
    earlier: undefined,
    finished: (by) => closeRun(context, runs, { run, ended: 'undone', by: by ?? 'undo' }),
  };
}

/** Names what an undo leaves behind, and the command that removes it: only a person knows whether anybody relies on it by now. */
function stayingText(context: Context, { count, first }: MadeEntries): string {
  const more = count - first.length;
  const command = commandLine(context, ['inventory', 'delete', ...first.map(String)]);
  const subject =
    count === 1 ? '1 entry that the run made stays' : `${groupDigits(count)} entries that the run made stay`;
  const which = more > 0 ? `; the first ${first.length} are removed with` : '; to remove';
  return `warning: ${subject}${which}: ${command}`;
}
