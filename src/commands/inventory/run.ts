import { offeredOperation } from '../../api/contract.ts';
import { confirmWrite } from '../../asking.ts';
import { checkReadable } from '../../bulk/counts.ts';
import type { StopReason } from '../../bulk/pace.ts';
import { checkGuards, makePlan, mayWrite, type Plan } from '../../bulk/plan.ts';
import { toRows } from '../../bulk/run-flags.ts';
import { type Job, Session } from '../../bulk/session.ts';
import { type Summary, summarise } from '../../bulk/summary.ts';
import { graceMs, verifyRows, writeRows } from '../../bulk/write.ts';
import type { Context } from '../../context.ts';
import { type ProgressState, startProgress } from '../../output/progress.ts';
import { CliError, InterruptedError } from '../../process/errors.ts';
import type { Signal } from '../../process/io.ts';
import { StoppedError } from '../../process/signals.ts';
import { counted } from '../../process/text.ts';
import { readPet } from '../../records/pets.ts';
import { checkChangesView, printChanges, showLargestChanges } from './changes.ts';
import type { SessionFlags } from './flags.ts';
import { runStore } from './job.ts';
import { report, saveRejects, summaryView } from './report.ts';
import { checkFiles, openJournalAndEvents, type SessionFiles } from './session-files.ts';
import { tellPlan } from './totals.ts';

/**
 * One session of a run: plans the rows of a job, asks, writes them, reads them back with --verify, and reports; with
 * --dry-run it only shows the plan.
 *
 * @throws UsageError if the bound service offers no way to do it, or a guard refuses the plan; CliError after the
 *   report if not every row is as the job says.
 */
export async function runSession(context: Context, job: Job, flags: SessionFlags): Promise<void> {
  const client = await context.client('bulk');
  offeredOperation(client.contract, 'updateInventory');
  if (flags.verify) checkReadable(client, 'leave out --verify');
  if (context.flags.dryRun) return void (await preview(context, job, flags));
  await (await context.printer()).check(summaryView);
  const files = await checkFiles(context, job, flags);
  const session = await openSession(context, job, flags);
  const plan = await planRows(context, session, flags);
  for (const guards of job.guards) checkGuards(plan, guards);
  session.stopIfTooManyFailed();
  if (mayWrite(plan)) await confirmPlan(context, plan);
  await openJournalAndEvents(context, plan, files);
  await withSignals(context, session, () => carryOut(context, plan, flags, files));
}

/** Writes the rows of a plan, reads them back with --verify, and reports. */
async function carryOut(
  context: Context,
  plan: Plan,
  flags: SessionFlags,
  files: SessionFiles,
): Promise<void> {
  const { session } = plan;
  const { job, ledger, stop, rows } = session;
  // Whatever fails here, the rest of the report is still made.
  const problems: Error[] = [];
  const attempt = async (work: () => Promise<unknown> | undefined) => {
    try {
      await work();
    } catch (error) {
      if ((error as Error).message !== stop.reason?.message) problems.push(error as Error);
    }
  };
  if (mayWrite(plan)) await writePlan(context, plan, flags);
  if (flags.verify && !stop.reason) await attempt(() => readBack(session));
  const isOpen = !rows.inState('unprocessed').next().done;
  settleUnknown(session);
  await attempt(() => ledger.journal?.end(isOpen ? 'stopped' : 'finished'));
  let rejects: string | undefined;
  await attempt(async () => {
    rejects = await saveRejects(context, session, files.rejects);
  });
  await attempt(() => ledger.events?.close());
  const isKept = ledger.journal !== undefined;
  const summary = summarise(session, isKept ? job.run : undefined);
  if (job.identity.kind === 'undo' && !isOpen && !stop.reason)
    await attempt(() => concludeUndone(context, summary, job.entriesLeft ?? 0));
  await report(context, job, flags, { summary, rejects, isOpen: isOpen && isKept, problem: problems[0] });
}

/** Marks the run that was undone, unless nothing of it could be set back. */
async function concludeUndone(
  context: Context,
  { name, run, rows, failed, unknown }: Summary,
  entriesLeft: number,
): Promise<void> {
  const isPartial = entriesLeft + failed + unknown > 0;
  if (isPartial && failed === rows) return;
  await runStore(context).conclude(name, { ended: 'undone', by: run, isPartial });
}

/** Shows the plan of a job, and returns it. @throws UsageError if a guard would refuse it. */
export async function preview(context: Context, job: Job, flags: SessionFlags): Promise<Plan> {
  await checkChangesView(context);
  const plan = await planRows(context, await openSession(context, job, flags), flags);
  await printChanges(context, plan);
  await tellPlan(context, plan);
  for (const guards of job.guards) checkGuards(plan, guards);
  return plan;
}

async function openSession(context: Context, job: Job, flags: SessionFlags): Promise<Session> {
  const settings = await context.settings();
  const errorLimit = flags.failFast ? { rows: 1 } : (flags.maxErrors ?? { rows: 100 });
  return new Session(job, {
    client: await context.client('bulk'),
    mostErrors: Math.max(1, toRows(errorLimit, job.rows.length)),
    concurrency: settings.get('concurrency'),
    rate: settings.get('rate'),
    maxRetryWaitMs: flags.maxRetryWait ?? 120_000,
    readPetStatus: async (client, petId) =>
      (await readPet(context, client, petId, { isAside: true })).value.status ?? 'available',
  });
}

/** Reads the counts and plans. @throws InterruptedError, or CliError if the run had to stop: then there is no plan. */
async function planRows(context: Context, session: Session, flags: SessionFlags): Promise<Plan> {
  const { stop, job } = session;
  const read = () => ({ done: session.entriesRead });
  const activity = { label: 'reading counts', unit: 'entries', read };
  const release = context.interrupts.take((signal) => {
    stop.stop(interruption(signal));
    stop.abandon();
  });
  try {
    const work = () => session.time('planning', () => makePlan(session));
    return await (session.flags.blind ? work() : withProgress(context, flags, activity, work));
  } catch (error) {
    if (!(error instanceof StoppedError) || !stop.reason) throw error;
    const { kind, message, hint } = stop.reason;
    if (kind === 'interrupted') throw new InterruptedError('SIGINT');
    if (kind === 'terminated') throw new InterruptedError('SIGTERM');
    throw new CliError(kind, `${job.name}: ${message}; nothing was sent`, { hint, retryable: true });
  } finally {
    release();
  }
}

/** Shows the plan and asks the user. @throws UsageError if the answer is no, or if questions are impossible. */
async function confirmPlan(context: Context, plan: Plan): Promise<void> {
  if (!context.flags.yes && context.prompt()) await showLargestChanges(context, plan);
  await tellPlan(context, plan);
  const { changes, removed } = plan;
  const set = changes - removed;
  const deeds = [
    ...(set > 0 ? [`set ${counted(set, 'count', 'counts')}`] : []),
    ...(removed > 0 ? [`remove ${counted(removed, 'entry', 'entries')}`] : []),
  ];
  await confirmWrite(context, { what: deeds.join(' and '), destructive: true });
}

/** Writes the rows of a plan, and shows the progress. */
function writePlan(context: Context, plan: Plan, flags: SessionFlags): Promise<void> {
  const { session } = plan;
  const { ledger, pace, job } = session;
  const read = () => ({
    done: session.written,
    total: plan.changes,
    failed: ledger.errorCount - ledger.unknownCount,
    unknown: ledger.unknownCount,
    concurrency: pace.limit,
  });
  const activity = { label: job.identity.kind === 'undo' ? 'undoing' : 'applying', unit: 'rows', read };
  return withProgress(context, flags, activity, () => session.time('writing', () => writeRows(plan)));
}

/** How long a run may take to its end after the first signal, and after the second. */
const endingMs = [graceMs + 1000, 1000] as const;

/**
 * Does the work with signals turned into a stop: the first waits for pending requests, the second abandons them. Both
 * leave time for journal, rejects and report, but nobody who does not read these can hold the process.
 */
async function withSignals(
  { interrupts, notice }: Context,
  { stop }: Session,
  work: () => Promise<void>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const release = interrupts.take((signal) => {
    const leftMs = endingMs[timer ? 1 : 0];
    clearTimeout(timer);
    timer = setTimeout(() => interrupts.abort(signal), leftMs);
    if (stop.reason) return stop.abandon('stopped by a second signal');
    stop.stop(interruption(signal));
    const waiting = 'stopping: waiting up to 10 s for requests in flight; press Ctrl-C again to abandon them';
    if (!stop.cut.aborted) void notice(waiting);
  });
  try {
    await work();
  } finally {
    clearTimeout(timer);
    release();
  }
}

/** Reads the rows back, unless the run stops. @throws CliError */
async function readBack(session: Session): Promise<void> {
  try {
    await session.time('verifying', () => verifyRows(session));
  } catch (error) {
    if (error instanceof StoppedError) return;
    if (!(error instanceof CliError)) throw error;
    throw new CliError(error.kind, `read back ${session.job.name}: ${error.message}`, error.details);
  }
}

/** A row that an earlier session may have written, and that this session did not reach, stays unknown. */
function settleUnknown({ rows, ledger }: Session): void {
  for (const row of rows.inState('unprocessed')) {
    const earlier = rows.earlierState(row);
    if (!rows.wasSent(row) || earlier === 'applied') continue;
    const message = 'an earlier session may have written it, and this one stopped before it';
    ledger.settle(row, { state: 'unknown', code: 'not_settled', message });
  }
}

function interruption(signal: Signal): StopReason {
  return signal === 'SIGINT'
    ? { kind: 'interrupted', message: 'interrupted' }
    : { kind: 'terminated', message: 'terminated' };
}

/** Shows the progress of the work on stderr. */
async function withProgress<Value>(
  context: Context,
  { progress }: SessionFlags,
  activity: { readonly label: string; readonly unit: string; readonly read: () => ProgressState },
  work: () => Promise<Value>,
): Promise<Value> {
  const style = await context.style('stderr');
  const mode = progress ?? (context.flags.quiet ? 'none' : 'auto');
  const stop = startProgress(context.io, context.liveLine, { ...activity, mode, style });
  try {
    return await work();
  } finally {
    await stop();
  }
}
