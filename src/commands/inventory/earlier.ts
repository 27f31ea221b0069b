import type { JournalHeader } from '../../bulk/journal-lines.ts';
import { readHeader, readJournal } from '../../bulk/journal-reader.ts';
import { isIdOf, isSameRun, type RunIdentity, startOf } from '../../bulk/run-identity.ts';
import {
  isResumable,
  type JournalFile,
  type RunInfo,
  type RunState,
  type RunStore,
} from '../../bulk/runs.ts';
import type { Job } from '../../bulk/session.ts';
import type { Context } from '../../context.ts';
import { CliError, UsageError } from '../../errors.ts';
import type { ApplyFlags } from './flags.ts';
import { runStore, targetOf } from './job.ts';

const closedBecause: { readonly [S in RunState]?: string } = {
  finished: 'it has finished',
  undone: 'it was undone',
  discarded: 'it was given up',
};

export function refuseClosed(run: string, info: RunInfo): void {
  if (isOpen(info)) return;
  const why = info.by === 'restart' ? 'another run was started in its place' : closedBecause[info.state];
  if (why !== undefined) throw new UsageError(`resume ${run}: ${why}`);
}

/** Whether a run can be resumed: it is unfinished, or a finished delivery with unknown rows. */
function isOpen({ state, header, counts }: RunInfo): boolean {
  return isResumable(state) || (state === 'finished' && header.flags.relative && counts.unknown > 0);
}

/**
 * The unfinished run of the same rows on the same target; undefined if there is none.
 *
 * @throws CliError if the journal of such an apply cannot be read, because to begin again would lose what it did.
 */
export async function findEarlier(context: Context, { identity }: Job): Promise<string | undefined> {
  const isApply = identity.kind === 'apply';
  const runs = runStore(context);
  for (const run of await runs.idsLike(identity)) {
    const { header, info, problem } = await runs.look(run);
    const isSame = header !== undefined && isSameRun(header, identity);
    if (problem && isApply && isSame) throw problem;
    if (problem) await context.notice(`warning: ${problem.message}`);
    else if (isSame && isOpen(info)) {
      // An undo compares before it writes: it may begin anew if the journal of an earlier one is damaged.
      const damage = isApply ? undefined : await damageOf(context, run);
      if (!damage) return run;
      await context.notice(`warning: ${damage.message}`);
    }
  }
  return undefined;
}

/** Why the journal of a run cannot be read whole; its last line may still tell its state. */
async function damageOf(context: Context, run: string): Promise<CliError | undefined> {
  try {
    await readJournal(runStore(context).pathOf(run));
    return undefined;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return error;
  }
}

/** The state of every run, the newest first; warns of those whose journal cannot be read. */
export async function* readableRuns(context: Context): AsyncGenerator<RunInfo> {
  const runs = runStore(context);
  for (const run of await runs.ids()) {
    const { info, problem } = await runs.look(run);
    if (info) yield info;
    else await context.notice(`warning: ${problem.message}`);
  }
}

/** Discards every unfinished run of the same rows, because another one begins. */
export async function discardEarlier(context: Context, job: Job, flags: ApplyFlags): Promise<void> {
  const runs = runStore(context);
  if (job.identity.flags.relative && !flags.again) await refuseBooked(context, job);
  for (const run of await runs.idsLike(job.identity)) {
    const { info, problem } = await runs.look(run);
    const isEarlier = info && isOpen(info) && isSameRun(info.header, job.identity);
    const damage = problem ?? (isEarlier ? await damageOf(context, run) : undefined);
    if (damage) {
      await context.notice(`warning: ${damage.message}`);
      await context.notice(`warning: run ${run}: its journal is kept as ${await runs.setAside(run)}`);
    } else if (isEarlier)
      await runs.holdRun(run, () => runs.conclude(run, { ended: 'discarded', by: 'restart' }));
  }
}

/** How long a delivery counts as booked, and so how long the journal of its run is kept at least. */
export const bookedForMs = 7 * 24 * 3_600_000;

/** Books a delivery only once. @throws UsageError if the same one was, or may have been, booked within 7 days. */
export async function refuseBooked(context: Context, { identity, name }: Job): Promise<void> {
  const runs = runStore(context);
  for (const journal of await runs.journals()) {
    const booking = await bookingOf(runs, journal, identity);
    if (!booking || Date.now() - booking.at > bookedForMs) continue;
    const when = new Date(booking.at).toISOString();
    throw new UsageError(
      `${name}: run ${journal.run} of ${when} ${booking.deed}; nothing was sent`,
      'if it came a second time, give --again',
    );
  }
}

/** When a run booked the same delivery, and how certain that is; undefined if it did not. */
async function bookingOf(
  runs: RunStore,
  { run, path, isAside }: JournalFile,
  identity: RunIdentity,
): Promise<{ readonly at: number; readonly deed: string } | undefined> {
  const header = await readHeader(path).catch(() => undefined);
  // If the journal cannot be read, its name tells which run it was.
  const isSame = header ? isSameDelivery(header, identity) : isIdOf(run, identity);
  if (!isSame) return undefined;
  if (!header || isAside) return { at: startOf(run), deed: 'may have booked the same delivery' };
  const { info } = await runs.look(run);
  if (!info) return { at: Date.parse(header.started), deed: 'has booked the same delivery' };
  if (!(await mayBeBooked(runs, info))) return undefined;
  const unfinished = isOpen(info) ? ', and is unfinished' : '';
  return { at: info.lastAt, deed: `has booked the same delivery${unfinished}` };
}

function isSameDelivery({ kind, sha256, target, flags }: JournalHeader, identity: RunIdentity): boolean {
  return (
    kind === 'apply' &&
    flags.relative &&
    sha256 === identity.sha256 &&
    target === identity.target &&
    JSON.stringify(flags.shard) === JSON.stringify(identity.flags.shard)
  );
}

/** Whether a run booked some of its rows, or may have. */
async function mayBeBooked(runs: RunStore, { header, state, isPartial, counts }: RunInfo): Promise<boolean> {
  if (state === 'undone') return isPartial;
  if (state === 'killed' || state === 'running' || counts.applied + counts.unknown > 0) return true;
  return counts.failed > 0 && (await hasFailedAfterSending(runs.pathOf(header.run)));
}

/** Whether a row failed although one of its writes may have been applied; the counts of a run do not tell. */
async function hasFailedAfterSending(path: string): Promise<boolean> {
  try {
    const { rows } = await readJournal(path);
    for (const row of rows.inState('failed')) if (rows.wasSent(row)) return true;
    return false;
  } catch (error) {
    // A damaged journal does not tell.
    if (error instanceof CliError) return true;
    throw error;
  }
}

/** Warns of unfinished runs on the same target that this one does not resume. */
export async function tellOthers(context: Context, { identity }: Job): Promise<void> {
  const runs = runStore(context);
  for (const run of await runs.ids()) {
    const header = await readHeader(runs.pathOf(run)).catch(() => undefined);
    if (header?.target !== identity.target || isSameRun(header, identity)) continue;
    const { info } = await runs.look(run);
    if (!info || !isResumable(info.state)) continue;
    const of = header.kind === 'undo' ? `undo of ${header.name}` : header.name;
    await context.notice(`warning: run ${run} of ${of} is unfinished: resume or discard it`);
  }
}

export async function newestResumable(context: Context): Promise<string> {
  // Fail first if there is no service to call: the run is the newest one on it.
  await context.client('many');
  const target = await targetOf(context);
  for await (const info of readableRuns(context))
    if (isOpen(info) && info.header.target === target) return info.header.run;
  throw new UsageError(
    `resume: no unfinished run at ${target}`,
    '`petstore inventory runs` lists all of them',
  );
}
