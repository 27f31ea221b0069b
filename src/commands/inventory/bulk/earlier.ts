import { rm } from 'node:fs/promises';
import { JournalWriter } from '../../../bulk/journal-writer.ts';
import { replayJournal } from '../../../bulk/replay.ts';
import { mustPlanAgain, reopenRows } from '../../../bulk/resumption.ts';
import type { Rows } from '../../../bulk/rows.ts';
import { isResumable, type RunInfo, readRunInfo } from '../../../bulk/run-info.ts';
import { isSameRun, type RunStore } from '../../../bulk/run-store.ts';
import type { Context } from '../../../context.ts';
import { CliError } from '../../../errors.ts';
import { groupDigits } from '../../../text.ts';
import type { BulkJob, Earlier } from './job.ts';

/** The unfinished run of the same rows at the same place, its outcomes put onto the job's rows; undefined for none. */
export async function findEarlier(
  context: Context,
  runs: RunStore,
  job: BulkJob,
): Promise<Earlier | undefined> {
  for (const run of await runs.idsLike(job.identity)) {
    const info = await infoOrWarning(context, runs, run);
    if (!info || !isResumable(info.state) || !isSameRun(info.header, job.identity)) continue;
    const earlier = await loadEarlier(context, runs, { run, job });
    if (earlier) return earlier;
  }
  return undefined;
}

/** How a run stands; undefined for none yet, and, with a warning, for one whose journal cannot be read: others can. */
export async function infoOrWarning(
  context: Context,
  runs: RunStore,
  run: string,
): Promise<RunInfo | undefined> {
  try {
    return await readRunInfo(runs, run);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    await context.notice(`warning: ${error.message}`);
    return undefined;
  }
}

/** Marks every unfinished run of the same rows as given up, for another one begins. */
export async function abandonEarlier(context: Context, runs: RunStore, job: BulkJob): Promise<void> {
  for (const run of await runs.idsLike(job.identity)) {
    const info = await infoOrWarning(context, runs, run);
    if (info && isResumable(info.state) && isSameRun(info.header, job.identity))
      await closeRun(context, runs, { info, ended: 'abandoned', by: 'restart' });
  }
}

/** Ends a run for good: it can be resumed no more. */
export async function closeRun(
  { now }: Context,
  runs: RunStore,
  {
    info,
    ended,
    by,
  }: { readonly info: RunInfo; readonly ended: 'undone' | 'abandoned'; readonly by: string },
): Promise<void> {
  const { header, counts } = info;
  const writer = JournalWriter.reopen(runs.pathOf(header.run));
  writer.append({ ended, by, counts, at: now().getTime() });
  await writer.close();
}

/** Undefined, and the journal gone, where the run was killed before it sent anything. */
export async function loadEarlier(
  context: Context,
  runs: RunStore,
  { run, job }: { readonly run: string; readonly job: Pick<BulkJob, 'rows' | 'write'> },
): Promise<Earlier | undefined> {
  const { rows, write } = job;
  const journal = await runs.open(run);
  if (!journal) return undefined;
  const replay = await replayJournal(journal, rows);
  if (!replay.isPlanned && replay.sentTo < 0) {
    await rm(runs.pathOf(run), { force: true });
    for (const row of rows.inState('failed')) rows.setState(row, 'unprocessed');
    return undefined;
  }
  const wasBlind = replay.header.options.blind;
  const mustPlan =
    !write.blind &&
    (wasBlind || mustPlanAgain(replay, context.now().getTime()) || (await expectsUnseen(context, rows)));
  reopenRows(rows, replay, mustPlan ? 'again' : 'known');
  await tell(context, run, rows);
  return { run, replay, mustPlan };
}

/** Whether rows expect counts that can be looked at only while planning. */
async function expectsUnseen(context: Context, { hasExpectations }: Rows): Promise<boolean> {
  return hasExpectations && !(await context.client('many')).contract.operations.has('getInventory');
}

async function tell(context: Context, run: string, rows: Rows): Promise<void> {
  const { unprocessed } = rows.countStates();
  const left = `${groupDigits(unprocessed)} of ${groupDigits(rows.length)} rows are left`;
  await context.notice(`resuming run ${run}: ${left}`);
}
