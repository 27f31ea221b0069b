import { confirmWrite } from '../asking.ts';
import type { Plan } from '../bulk/plan.ts';
import type { Report } from '../bulk/report.ts';
import type { NewRun, Run, RunParts } from '../bulk/run.ts';
import type { RowLimit } from '../bulk/run-flags.ts';
import { nounWords } from '../bulk/run-nouns.ts';
import { RunStore } from '../bulk/run-store.ts';
import { graceMs, Session } from '../bulk/session.ts';
import { holdTarget, type TargetLock, targetOf } from '../bulk/target.ts';
import type { Client } from '../client/client.ts';
import type { StopReason } from '../client/pace.ts';
import { resolvePaths } from '../config/paths.ts';
import type { Context } from '../context.ts';
import { withProgress } from '../output/progress.ts';
import { CliError, exitCodes, InterruptedError } from '../process/errors.ts';
import { realFile } from '../process/files.ts';
import type { Signal } from '../process/io.ts';
import { checkFolder } from '../process/new-file.ts';
import { StoppedError } from '../process/signals.ts';
import { counted } from '../process/text.ts';
import { printReport, summaryView } from './report-run.ts';
import type { WriteFlags } from './run-flags.ts';
import { checkPlanView, countProblems, printPlan, printTotals, showLargestChanges } from './show-plan.ts';

// What apply, edit, update --from, resume and undo have in common: plan, show, ask, write, report.

export function runStore({ io }: Context): RunStore {
  return new RunStore(resolvePaths(io).stateDir);
}

/** The target of this command's writes, for journals and locks: a service, or the shop of the embedded store. */
export async function targetHere(context: Context): Promise<string> {
  const { baseUrl } = await context.client('bulk');
  if (!context.settings.offline) return targetOf(baseUrl);
  const { offlineStore } = resolvePaths(context.io);
  if (offlineStore === ':memory:') return 'offline::memory:';
  const { readShopId } = await import('../server/store-file.ts');
  return `offline:${readShopId(offlineStore) ?? realFile(offlineStore)}`;
}

/** Holds the target of a run until it is released, unless nothing will be written. */
export async function lockTarget(
  context: Context,
  { target, name, flags: { shard } }: Pick<NewRun, 'target' | 'name' | 'flags'>,
  { lockWait = 0 }: WriteFlags,
): Promise<TargetLock> {
  if (context.flags.dryRun) return { nameRun: async () => {}, release: async () => {} };
  await (await context.printer()).check(summaryView);
  const { signal } = context.interrupts;
  return beforeWrites(async () => {
    const { folder } = await runStore(context).ensureFolder();
    return holdTarget(folder, { target, shard, name, waitMs: lockWait, signal, onWait: context.print });
  });
}

/** The value of a step before the first write. @throws its error, which also says that nothing was sent. */
async function beforeWrites<Value>(step: () => Promise<Value>): Promise<Value> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof CliError) || error instanceof InterruptedError) throw error;
    throw new CliError(error.kind, `${error.message}; nothing was sent`, error.details);
  }
}

/**
 * One session of a run: plans, asks, writes and reports. With `--dry-run` it only shows the plan, and exits 3 if there
 * are rows that cannot be written.
 *
 * @throws UsageError if the service offers no way to do it, or a guard stops the plan; CliError after the report if not
 *   every row is as it should be.
 */
export async function runSession(
  context: Context,
  parts: RunParts,
  flags: WriteFlags,
  lock: TargetLock,
): Promise<void> {
  if (context.flags.dryRun) return preview(context, parts, flags, 'dry run');
  if (parts.earlier) await lock.nameRun(parts.earlier.header.run);
  const { rejects: rejectsName } = flags;
  if (rejectsName !== undefined)
    await checkFolder({ name: rejectsName, folder: context.io.cwd }, '--rejects');
  const session = openSession(context, parts, flags, await context.client('bulk'));
  const { run } = session;
  const plan = await planSession(context, session);
  session.check(plan);
  if (plan.changes.length > 0) await confirmPlan(context, run, plan);
  else await printTotals(context, run, plan);
  const report = await writeSession(context, session, plan, { rejectsName, lock });
  await printReport(context, run, report);
}

/**
 * Shows the plan of a run; nothing is written. A diff exits 8 if there is anything to write or that cannot be written, a
 * dry run exits 3 if there are rows that cannot be written.
 */
export async function preview(
  context: Context,
  parts: RunParts,
  flags: WriteFlags,
  kind: 'diff' | 'dry run',
): Promise<void> {
  await checkPlanView(context, parts.header.noun);
  const session = openSession(context, parts, flags, await context.client('bulk'));
  const { run } = session;
  const plan = await planSession(context, session);
  const problems = countProblems(run, plan);
  // Before anything is printed: a reader may go away after the first line.
  if (kind === 'diff' && plan.changes.length + problems > 0) context.exitCode = exitCodes.differs;
  if (kind === 'dry run' && problems > 0) context.exitCode = exitCodes.partial;
  await printPlan(context, run, plan);
  await printTotals(context, run, plan);
  session.check(plan);
}

const defaultMaxErrors: RowLimit = { rows: 100 };

function openSession(context: Context, parts: RunParts, flags: WriteFlags, client: Client): Session {
  const settings = context.settings;
  const { concurrency, rate } = context.flags;
  const { pace, guards } = parts.header;
  const { maxChanges = guards.maxChanges, maxDelta = guards.maxDelta, allowZero = guards.allowZero } = flags;
  return new Session(parts, {
    client,
    runs: runStore(context),
    pace: {
      concurrency: concurrency === undefined ? pace.concurrency : settings.get('concurrency'),
      rate: rate === undefined ? pace.rate : (settings.get('rate') ?? null),
    },
    guards: { maxChanges, maxDelta, allowZero },
    maxErrors: flags.maxErrors ?? defaultMaxErrors,
    retries: settings.get('retries'),
  });
}

/** The pace of a new run. */
export async function paceHere(context: Context): Promise<NewRun['pace']> {
  const settings = context.settings;
  return { concurrency: settings.get('concurrency'), rate: settings.get('rate') ?? null };
}

/** Reads the records and plans. @throws InterruptedError, or CliError if the run had to stop: then there is no plan. */
async function planSession(context: Context, session: Session): Promise<Plan> {
  const { stop, header, progress } = session.run;
  const release = context.interrupts.take((signal) => {
    stop.stop(interruption(signal));
    stop.abandon();
  });
  const { plural } = nounWords[header.noun];
  const activity = {
    label: `reading ${plural}`,
    unit: 'records',
    delayMs: 500,
    read: () => ({ done: progress.read }),
  };
  try {
    return await withProgress(context, activity, () => session.plan());
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
  const { singular, plural } = nounWords[run.header.noun];
  const verb = run.header.noun === 'inventory' ? 'set' : 'change';
  const others = changes.length - removed;
  const what = [
    ...(others > 0 ? [`${verb} ${counted(others, singular, plural)}`] : []),
    ...(removed > 0 ? [`remove ${counted(removed, 'entry', 'entries')}`] : []),
  ];
  await confirmWrite(context, { what: what.join(' and '), destructive: true });
}

/** How long a run may take to its end after the first signal, and after the second. */
const endingMs = [graceMs + 1000, 1000] as const;

/**
 * Writes a plan and shows the progress. The first signal waits for requests in flight, the second abandons them. Both
 * leave time for journal, rejects and report, but nobody who does not read these can hold the process.
 */
async function writeSession(
  context: Context,
  session: Session,
  plan: Plan,
  { rejectsName, lock }: { readonly rejectsName: string | undefined; readonly lock: TargetLock },
): Promise<Report> {
  const { stop, progress, pace, header } = session.run;
  let timer: NodeJS.Timeout | undefined;
  const release = context.interrupts.take((signal) => {
    const leftMs = endingMs[timer ? 1 : 0];
    clearTimeout(timer);
    timer = setTimeout(() => context.interrupts.abort(signal), leftMs);
    if (stop.reason) return stop.abandon('stopped by a second signal');
    stop.stop(interruption(signal));
    const waiting = 'stopping: waiting up to 10 s for what is under way; press Ctrl-C again to abandon it';
    if (!stop.cut.aborted) void context.print(waiting);
  });
  const total = plan.changes.length;
  const read = () => ({ done: progress.written, total, failed: progress.failed, concurrency: pace.limit });
  const label = header.kind === 'undo' ? 'undoing' : 'applying';
  try {
    await beforeWrites(async () => lock.nameRun(await session.begin(plan)));
    const work = () => session.write(plan, { named: rejectsName, folder: context.io.cwd });
    return total > 0 ? await withProgress(context, { label, unit: 'rows', read }, work) : await work();
  } finally {
    clearTimeout(timer);
    release();
  }
}

function interruption(signal: Signal): StopReason {
  const { kind, message } = new InterruptedError(signal);
  return { kind, message };
}
