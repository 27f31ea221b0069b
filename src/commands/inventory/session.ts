import { resolve } from 'node:path';
import { offeredOperation } from '../../api/contract.ts';
import { confirmWrite } from '../../asking.ts';
import { beginRun, endRun } from '../../bulk/carry-out.ts';
import { checkGuards, makePlan, type Plan } from '../../bulk/make-plan.ts';
import type { StopReason } from '../../bulk/pace.ts';
import { Run, type RunParts } from '../../bulk/run.ts';
import { toRows } from '../../bulk/run-flags.ts';
import { RunStore } from '../../bulk/run-store.ts';
import { holdTarget, type NameRun, targetOf } from '../../bulk/target.ts';
import { laterRuns } from '../../bulk/which-run.ts';
import { graceMs, writeRows } from '../../bulk/write-rows.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { withProgress } from '../../output/progress.ts';
import { CliError, exitCodes, InterruptedError, UsageError } from '../../process/errors.ts';
import { realFile } from '../../process/files.ts';
import type { Signal } from '../../process/io.ts';
import { checkNewFile, type NewFile } from '../../process/new-file.ts';
import { StoppedError } from '../../process/signals.ts';
import { counted } from '../../process/text.ts';
import { readPet } from '../../records/pets.ts';
import type { WriteFlags } from './bulk-flags.ts';
import { report, summaryView } from './report-run.ts';
import { checkPlanView, countProblems, printPlan, printTotals, showLargestChanges } from './show-plan.ts';

// What apply, edit, resume and undo have in common: plan, confirm, write, report.

export function runStore({ io }: Context): RunStore {
  return new RunStore(resolvePaths(io).stateDir);
}

/** The target of this command's writes, for journals and locks: a service, or the file of the embedded store. */
export async function targetHere(context: Context): Promise<string> {
  const { settings } = context;
  if (settings.offline) {
    const store = resolvePaths(context.io).offlineStore;
    return `offline:${store === ':memory:' ? store : realFile(store)}`;
  }
  return targetOf(settings.get('base-url') ?? '');
}

/** What a session says of itself to other processes. */
type Held = Pick<RunParts['header'], 'target' | 'name' | 'flags'>;

/**
 * One session of a run, under the lock of its target: plans, asks, writes, and reports. With `--dry-run` it only shows the
 * plan, and exits 3 if there are rows that cannot be written.
 *
 * @param prepare is called once the target is held; undefined if there is nothing to do.
 * @throws UsageError if the service offers no way to do it, or a guard stops the plan; CliError `unavailable` if another
 *   run holds the target; CliError after the report if not every row is as it should be.
 */
export async function runSession(
  context: Context,
  { target, name, flags: { shard } }: Held,
  flags: WriteFlags,
  prepare: () => Promise<RunParts | undefined>,
): Promise<void> {
  if (context.flags.dryRun) {
    const parts = await prepare();
    if (parts && (await preview(context, parts, flags)).problems > 0) context.exitCode = exitCodes.partial;
    return;
  }
  const { folder } = await runStore(context).ensureFolder();
  const { signal } = context.interrupts;
  await holdTarget(folder, { target, shard, name, waitMs: flags.lockWait ?? 0, signal }, async (nameRun) => {
    const parts = await prepare();
    if (!parts) return;
    if (parts.earlier) await nameRun(parts.earlier.header.run);
    await carryOut(context, parts, flags, nameRun);
  });
}

async function carryOut(
  context: Context,
  parts: RunParts,
  flags: WriteFlags,
  nameRun: NameRun,
): Promise<void> {
  const runs = runStore(context);
  await (await context.printer()).check(summaryView);
  const named = await checkRejects(context, parts, flags);
  const run = await openRun(context, parts, flags);
  const plan = await planRun(context, run);
  checkGuards(run, plan, run.header.guards);
  if (plan.changes > 0) await confirmPlan(context, run, plan);
  else await printTotals(context, run, plan);
  await withSignals(context, run, async () => {
    // A run that has nothing to write leaves no trace; an undo does, because the run is undone.
    if (plan.changes > 0 || run.earlier || run.header.kind === 'undo')
      await nameRun(await beginRun(run, runs));
    if (plan.changes > 0) await writeWithProgress(context, run, plan);
    const ended = await endRun(run, { named, folder: context.io.cwd });
    await report(context, run, ended);
  });
}

/**
 * Shows the plan of a run; nothing is written.
 *
 * @returns how many rows are to be written, and how many cannot be.
 */
export async function preview(
  context: Context,
  parts: RunParts,
  flags: WriteFlags,
): Promise<{ readonly changes: number; readonly problems: number }> {
  await checkPlanView(context);
  const run = await openRun(context, parts, flags);
  const plan = await planRun(context, run);
  await printPlan(context, run, plan);
  await printTotals(context, run, plan);
  checkGuards(run, plan, run.header.guards);
  return { changes: plan.changes, problems: countProblems(run) };
}

async function openRun(context: Context, parts: RunParts, flags: WriteFlags): Promise<Run> {
  const { settings } = context;
  const client = await context.client('bulk');
  offeredOperation(client.contract, 'updateInventory');
  return new Run(parts, {
    client,
    laterRuns: await laterRuns(runStore(context), parts),
    maxErrors: Math.max(1, toRows(flags.maxErrors ?? { rows: 100 }, parts.header.rows)),
    concurrency: settings.get('concurrency'),
    rate: settings.get('rate'),
    readPetStatus: async (given, petId) =>
      (await readPet({ client: given, warn: context.warn }, petId, { skipsNotices: true })).value.status ??
      'available',
  });
}

/** The file of --rejects. @throws UsageError if it is the input, or exists */
async function checkRejects(
  { io }: Context,
  { header }: RunParts,
  { rejects: name, force }: WriteFlags,
): Promise<NewFile | undefined> {
  if (name === undefined) return undefined;
  const file = { path: resolve(io.cwd, name), name, flag: '--rejects', mayReplace: force === true };
  if (header.file !== null && realFile(file.path) === realFile(header.file))
    throw new UsageError(`--rejects ${name}: it is the input`);
  await checkNewFile(file);
  return file;
}

/** Reads the counts and plans. @throws InterruptedError, or CliError if the run had to stop: then there is no plan. */
async function planRun(context: Context, run: Run): Promise<Plan> {
  const { stop, header } = run;
  const read = () => ({ done: run.entriesRead });
  const release = context.interrupts.take((signal) => {
    stop.stop(interruption(signal));
    stop.abandon();
  });
  try {
    const activity = { label: 'reading counts', unit: 'entries', read };
    return await withProgress(context, activity, () => makePlan(run));
  } catch (error) {
    if (!(error instanceof StoppedError) || !stop.reason) throw error;
    const { kind, message, hint } = stop.reason;
    if (kind === 'interrupted') throw new InterruptedError('SIGINT');
    if (kind === 'terminated') throw new InterruptedError('SIGTERM');
    if (kind === 'hung-up') throw new InterruptedError('SIGHUP');
    throw new CliError(kind, `${header.name}: ${message}; nothing was sent`, { hint, retryable: true });
  } finally {
    release();
  }
}

/** Shows the plan and asks the user. @throws UsageError if the answer is no, or if questions are impossible. */
async function confirmPlan(context: Context, run: Run, plan: Plan): Promise<void> {
  if (!context.flags.yes && context.prompt()) await showLargestChanges(context, run, plan);
  await printTotals(context, run, plan);
  const { changes, removed } = plan;
  const set = changes - removed;
  const what = [
    ...(set > 0 ? [`set ${counted(set, 'count', 'counts')}`] : []),
    ...(removed > 0 ? [`remove ${counted(removed, 'entry', 'entries')}`] : []),
  ];
  await confirmWrite(context, { what: what.join(' and '), destructive: true });
}

/** Writes the rows of a plan, and shows the progress. */
function writeWithProgress(context: Context, run: Run, plan: Plan): Promise<void> {
  const read = () => ({
    done: run.written,
    total: plan.changes,
    failed: run.writeErrors,
    concurrency: run.pace.limit,
  });
  const label = run.header.kind === 'undo' ? 'undoing' : 'applying';
  return withProgress(context, { label, unit: 'rows', read }, () => writeRows(run));
}

/** How long a run may take to its end after the first signal, and after the second. */
const endingMs = [graceMs + 1000, 1000] as const;

/**
 * Does the work with signals turned into a stop: the first waits for requests in flight, the second abandons them. Both
 * leave time for journal, rejects and report, but nobody who does not read these can hold the process.
 */
async function withSignals(
  { interrupts, print }: Context,
  { stop }: Run,
  work: () => Promise<void>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const release = interrupts.take((signal) => {
    const leftMs = endingMs[timer ? 1 : 0];
    clearTimeout(timer);
    timer = setTimeout(() => interrupts.abort(signal), leftMs);
    if (stop.reason) return stop.abandon('stopped by a second signal');
    stop.stop(interruption(signal));
    const waiting = 'stopping: waiting up to 10 s for what is under way; press Ctrl-C again to abandon it';
    if (!stop.cut.aborted) void print(waiting);
  });
  try {
    await work();
  } finally {
    clearTimeout(timer);
    release();
  }
}

function interruption(signal: Signal): StopReason {
  const { kind, message } = new InterruptedError(signal);
  return { kind, message };
}
