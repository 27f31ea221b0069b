import { readHeader, readJournal } from '../../bulk/journal-reader.ts';
import { isSameRun } from '../../bulk/run-identity.ts';
import { isUnfinished, type RunInfo, type RunState } from '../../bulk/runs.ts';
import type { Job } from '../../bulk/session.ts';
import type { Context } from '../../context.ts';
import { CliError, UsageError } from '../../process/errors.ts';
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
export function isOpen({ state, header, counts }: RunInfo): boolean {
  return isUnfinished(state) || (state === 'finished' && header.flags.relative && counts.unknown > 0);
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
    if (header && !isSameRun(header, identity)) continue;
    if (problem && isApply && header) throw problem;
    if (problem) await context.notice(`warning: ${problem.message}`);
    else if (isOpen(info)) {
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
export async function discardEarlier(context: Context, { identity }: Job): Promise<void> {
  const runs = runStore(context);
  for (const run of await runs.idsLike(identity)) {
    const { header, info, problem } = await runs.look(run);
    if (header && !isSameRun(header, identity)) continue;
    const isEarlier = info && isOpen(info);
    const damage = problem ?? (isEarlier ? await damageOf(context, run) : undefined);
    if (damage) {
      await context.notice(`warning: ${damage.message}`);
      await context.notice(`warning: run ${run}: its journal is kept as ${await runs.setAside(run)}`);
    } else if (isEarlier)
      await runs.holdRun(run, () => runs.conclude(run, { ended: 'discarded', by: 'restart' }));
  }
}

/** Warns of unfinished runs on the same target that this one does not resume. */
export async function tellOthers(context: Context, { identity }: Job): Promise<void> {
  const runs = runStore(context);
  for (const run of await runs.ids()) {
    const header = await readHeader(runs.pathOf(run)).catch(() => undefined);
    if (header?.target !== identity.target || isSameRun(header, identity)) continue;
    const { info } = await runs.look(run);
    if (!info || !isUnfinished(info.state)) continue;
    const of = header.kind === 'undo' ? `undo of ${header.name}` : header.name;
    await context.notice(`warning: run ${run} of ${of} is unfinished: resume or discard it`);
  }
}

export async function newestResumable(context: Context): Promise<string> {
  // Fail first if there is no service to call: the run is the newest one on it.
  await context.client('bulk');
  const target = await targetOf(context);
  for await (const info of readableRuns(context))
    if (isOpen(info) && info.header.target === target) return info.header.run;
  throw new UsageError(
    `resume: no unfinished run at ${target}`,
    '`petstore inventory runs` lists all of them',
  );
}
