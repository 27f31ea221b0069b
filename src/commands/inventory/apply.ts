import { readHeader, readJournal } from '../../bulk/journal-reader.ts';
import { isSameRun } from '../../bulk/run-identity.ts';
import { infoOf } from '../../bulk/runs.ts';
import { type Job, reopenRows } from '../../bulk/session.ts';
import { holdTarget, type TellRun } from '../../bulk/target-lock.ts';
import type { Context } from '../../context.ts';
import { exitCodes, UsageError } from '../../process/errors.ts';
import { groupDigits } from '../../process/text.ts';
import { findBooking, refuseBooked } from './deliveries.ts';
import { discardEarlier, findEarlier, newestResumable, refuseClosed, tellOthers } from './earlier.ts';
import { type ApplyFlags, type SessionFlags, toGuards, toRunFlags } from './flags.ts';
import { readJob, readUndoJob, refuseOtherTarget, runStore, withSource } from './job.ts';
import { preview, runSession } from './run.ts';

/** Applies a file, or resumes the unfinished run of the same content on the same target. */
export function applyInput(context: Context, path: string, flags: ApplyFlags): Promise<void> {
  return withSource(context, path, async (source) => {
    const { allowEmpty, restart } = flags;
    const guards = toGuards(flags);
    const job = await readJob(context, source, toRunFlags(flags), { guards, allowEmpty });
    if (context.flags.dryRun) {
      const earlier = await runToResume(context, job, flags);
      return runSession(context, earlier ? await withEarlier(context, earlier, job) : job, flags);
    }
    await holdTargetOf(context, job, flags, async (tell) => {
      await tellOthers(context, job);
      const earlier = await runToResume(context, job, flags);
      if (restart) await discardEarlier(context, job);
      await runJob(context, { job, earlier, tell, flags });
    });
  });
}

/** The run that an apply goes on with. @throws UsageError for a delivery that must not be booked again. */
async function runToResume(
  context: Context,
  job: Job,
  { restart, again }: ApplyFlags,
): Promise<string | undefined> {
  const earlier = restart ? undefined : await findEarlier(context, job);
  if (earlier === undefined && !again) await refuseBooked(context, job);
  return earlier;
}

/** Prints what applying a file would change; exits 8 if that is anything. */
export function diffInput(context: Context, path: string, flags: ApplyFlags): Promise<void> {
  return withSource(context, path, async (source) => {
    const { allowEmpty } = flags;
    const job = await readJob(context, source, toRunFlags(flags), {
      guards: { allowZero: true },
      allowEmpty,
    });
    const booking = await findBooking(context, job);
    if (booking !== undefined) await context.notice(`warning: ${booking}`);
    const { changes, session } = await preview(context, job, flags);
    const { invalid } = session.rows.countStates();
    if (changes > 0 || session.ledger.errorCount > 0 || invalid > 0) context.exitCode = exitCodes.differs;
  });
}

/** Resumes a run that was stopped or killed: by its id, or the newest one on this target. */
export async function resumeRun(
  context: Context,
  idOrPrefix: string | undefined,
  flags: SessionFlags,
): Promise<void> {
  const runs = runStore(context);
  const run = idOrPrefix === undefined ? await newestResumable(context) : await runs.resolve(idOrPrefix);
  const header = await readHeader(runs.pathOf(run));
  await refuseOtherTarget(context, header);
  if (!runs.isRunning(run)) refuseClosed(run, await runs.info(run));
  if (header.kind === 'undo') return undoRun(context, header.name, flags);
  await withSource(context, header.file ?? '-', async (source) => {
    const guards = { allowZero: true };
    const job = await readJob(context, source, header.flags, { guards, allowEmpty: true });
    if (!isSameRun(header, job.identity))
      throw new UsageError(
        `resume ${run}: ${source.name} is not what the run began with`,
        'apply it as a run of its own with `petstore inventory apply`',
      );
    if (context.flags.dryRun) return runSession(context, await withEarlier(context, run, job), flags);
    await holdTargetOf(context, job, flags, (tell) => runJob(context, { job, earlier: run, tell, flags }));
  });
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
  if (context.flags.dryRun) return runSession(context, await readUndoJob(context, run), flags);
  const place = { identity: header, name: `undo of ${run}` };
  await holdTargetOf(context, place, flags, (tell) =>
    runs.holdRun(run, async () => {
      const job = await readUndoJob(context, run);
      await runJob(context, { job, earlier: await findEarlier(context, job), tell, flags });
    }),
  );
}

function holdTargetOf(
  context: Context,
  { identity, name }: { readonly identity: Pick<Job['identity'], 'target' | 'flags'>; readonly name: string },
  { lockWait = 0, allowOverlap = false }: SessionFlags,
  work: (tell: TellRun) => Promise<void>,
): Promise<void> {
  const { target, flags } = identity;
  const { signal } = context.interrupts;
  const options = { shard: flags.shard, name, waitMs: lockWait, allowOverlap, signal };
  return holdTarget(runStore(context), target, options, work);
}

interface HeldJob {
  readonly job: Job;
  /** The run that it resumes; undefined for a new one. */
  readonly earlier: string | undefined;
  readonly tell: TellRun;
  readonly flags: SessionFlags;
}

/** Does a job under the lock of its run. The journal is read under that lock, so that nobody else changes it. */
async function runJob(context: Context, { job, earlier, tell, flags }: HeldJob): Promise<void> {
  const runs = runStore(context);
  const run = earlier ?? (await runs.newId(job.identity));
  await tell(run);
  await runs.holdRun(run, async () => {
    const whole = earlier === undefined ? { ...job, run } : await withEarlier(context, run, job);
    await runSession(context, whole, flags);
  });
}

/** The job with what the earlier sessions of a run left. @throws UsageError if there is nothing to resume. */
async function withEarlier(context: Context, run: string, job: Job): Promise<Job> {
  const earlier = await readJournal(runStore(context).pathOf(run), { rows: job.rows });
  refuseClosed(run, infoOf(earlier));
  reopenRows(earlier);
  const { unprocessed } = job.rows.countStates();
  const left = `${groupDigits(unprocessed)} of ${groupDigits(job.rows.length)} rows`;
  const { blind } = earlier.header.flags;
  await context.notice(`resuming run ${run}: ${blind ? `${left} are left` : `looking at ${left} again`}`);
  const given = job.guards.map((guards) => ({ ...guards, allowZero: true }));
  return { ...job, run, earlier, guards: [earlier.header.guards, ...given] };
}
