import { readHeader, readJournal } from '../../bulk/journal-reader.ts';
import { type Hold, imageInfo, isSameRun, type RunIdentity, type RunStore } from '../../bulk/runs.ts';
import { reopenRows } from '../../bulk/undo.ts';
import type { Context } from '../../context.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { openSource, type Source } from '../../input/source.ts';
import { groupDigits } from '../../text.ts';
import {
  findEarlier,
  giveUpEarlier,
  newestResumable,
  refuseBooked,
  refuseClosed,
  runStore,
  tellOthers,
} from './earlier.ts';
import { type ApplyFlags, type InputFlags, type PlanFlags, type SessionFlags, toLockWait } from './flags.ts';
import { flagsOf, type Job, readJob, readUndoJob, refuseOtherTarget } from './job.ts';
import { runBulk, showDifferences } from './run.ts';

/** Applies a file, or goes on with the unfinished run of the same content at the same place. */
export async function applyInput(context: Context, path: string, flags: ApplyFlags): Promise<void> {
  const source = await openSource(context.io, path);
  try {
    await applySource(context, source, flags);
  } finally {
    await source.close();
  }
}

async function applySource(context: Context, source: Source, flags: ApplyFlags): Promise<void> {
  const runs = runStore(context);
  const job = await readJob(context, source, flags);
  if (context.flags.dryRun) return runBulk(context, runs, job, flags);
  await holdTarget(context, runs, job, flags, async (hold) => {
    await tellOthers(context, runs, job);
    if (flags.restart) await giveUpEarlier(context, runs, job, flags);
    const earlier = await findEarlier(context, runs, job);
    if (earlier === undefined && job.identity.flags.relative && !flags.again)
      await refuseBooked(context, runs, job);
    await runJob(context, runs, { job, earlier, hold, flags });
  });
}

/** Prints what applying a file would change; exits 8 if that is anything. */
export async function diffInput(
  context: Context,
  path: string,
  flags: InputFlags & PlanFlags & SessionFlags,
): Promise<void> {
  const source = await openSource(context.io, path);
  try {
    const job = await readJob(context, source, { ...flags, allowZero: true });
    if (await showDifferences(context, job, flags)) context.exitCode = exitCodes.differs;
  } finally {
    await source.close();
  }
}

/** Goes on with a run that was stopped or killed: by its id, or the newest one of this place. */
export async function resumeRun(
  context: Context,
  run: string | undefined,
  flags: SessionFlags,
): Promise<void> {
  const runs = runStore(context);
  const id = run === undefined ? await newestResumable(context, runs) : await runs.resolve(run);
  const header = await readHeader(runs.pathOf(id));
  await refuseOtherTarget(context, header);
  if (!runs.isRunning(id)) refuseClosed(id, await runs.info(id));
  if (header.kind === 'undo') return undoRun(context, header.name, flags);
  const source = await openSource(context.io, header.file ?? '-');
  try {
    const job = await readJob(context, source, { ...flags, ...flagsOf(header) });
    if (!isSameRun(header, job.identity))
      throw new UsageError(
        `resume ${id}: ${source.name} is not what the run began with`,
        'apply it as a run of its own with `petstore inventory apply`',
      );
    if (context.flags.dryRun) return await previewResumed(context, runs, id, job, flags);
    await holdTarget(context, runs, job, flags, (hold) =>
      runJob(context, runs, { job, earlier: id, hold, flags }),
    );
  } finally {
    await source.close();
  }
}

async function previewResumed(
  context: Context,
  runs: RunStore,
  id: string,
  job: Job,
  flags: SessionFlags,
): Promise<void> {
  await runBulk(context, runs, await withEarlier(context, runs, id, job), flags);
}

/**
 * Sets back what a run changed if the count is still the one that it set.
 *
 * @param idOrPrefix its id, or how the id begins.
 */
export async function undoRun(context: Context, idOrPrefix: string, flags: SessionFlags): Promise<void> {
  const runs = runStore(context);
  const run = await runs.resolve(idOrPrefix);
  const header = await readHeader(runs.pathOf(run));
  await refuseOtherTarget(context, header);
  if (context.flags.dryRun) return runBulk(context, runs, await readUndoJob(context, runs, run), flags);
  const place = { identity: header, name: `undo of ${header.run}` };
  await holdTarget(context, runs, place, flags, (hold) =>
    runs.holdRun(run, async () => {
      const job = await readUndoJob(context, runs, run);
      await runJob(context, runs, { job, earlier: await findEarlier(context, runs, job), hold, flags });
    }),
  );
}

function holdTarget(
  { interrupts }: Context,
  runs: RunStore,
  { identity, name }: { readonly identity: Pick<RunIdentity, 'target' | 'flags'>; readonly name: string },
  flags: SessionFlags,
  work: (hold: Hold) => Promise<void>,
): Promise<void> {
  const claim = { target: identity.target, shard: identity.flags.shard, name };
  const allowOverlap = flags.allowOverlap === true;
  return runs.holdTarget(claim, { waitMs: toLockWait(flags), allowOverlap, signal: interrupts.signal }, work);
}

interface JobOptions {
  readonly job: Job;
  /** The run that it goes on with; undefined for a new one. */
  readonly earlier: string | undefined;
  readonly hold: Hold;
  readonly flags: SessionFlags;
}

/** Does a job under the lock of its run, whose journal is read only now that nobody else can change it. */
async function runJob(
  context: Context,
  runs: RunStore,
  { job, earlier, hold, flags }: JobOptions,
): Promise<void> {
  const run = earlier ?? (await runs.newId(job.identity, context.now()));
  await hold.tell(run);
  await runs.holdRun(run, async () => {
    const whole = earlier === undefined ? { ...job, run } : await withEarlier(context, runs, run, job);
    await runBulk(context, runs, whole, flags);
  });
}

/** The job with what the earlier sessions of a run left. @throws UsageError if there is nothing to go on with. */
async function withEarlier(context: Context, runs: RunStore, run: string, job: Job): Promise<Job> {
  const { image } = await readJournal(runs.pathOf(run), () => job.rows);
  refuseClosed(run, imageInfo(image, job.rows));
  const { blind, relative } = image.header.flags;
  const failed = reopenRows(job.rows, { image, blind, relative });
  const { unprocessed } = job.rows.countStates();
  const left = `${groupDigits(unprocessed)} of ${groupDigits(job.rows.length)} rows`;
  await context.notice(`resuming run ${run}: ${blind ? `${left} are left` : `looking at ${left} again`}`);
  const given = job.guards.map((guards) => ({ ...guards, allowZero: true }));
  return { ...job, run, earlier: { image, failed }, guards: [image.header.guards, ...given] };
}
