import { confirmWrite } from '../../asking.ts';
import { checkGuards, type Plan } from '../../bulk/plan.ts';
import type { Report } from '../../bulk/report.ts';
import type { Run } from '../../bulk/run.ts';
import type { RowLimit, RunHeader } from '../../bulk/run-header.ts';
import { ensureRunFolder, runFolder } from '../../bulk/run-store.ts';
import { graceMs, Session } from '../../bulk/session.ts';
import { holdTarget, type TargetLock, targetOf } from '../../bulk/target.ts';
import { rowWords } from '../../bulk/value-access.ts';
import type { StopReason } from '../../client/pace.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { rejectsName } from '../../input/rejects.ts';
import { withProgress } from '../../output/progress.ts';
import { CliError, exitCodes, InterruptedError } from '../../process/errors.ts';
import { realFile } from '../../process/files.ts';
import type { Signal } from '../../process/io.ts';
import { checkFolder, type FileName } from '../../process/new-file.ts';
import { StoppedError } from '../../process/signals.ts';
import { counted } from '../../process/text.ts';
import { printReport, summaryView } from './report-run.ts';
import type { WriteFlags } from './run-flags.ts';
import { checkPlanView, countProblems, printPlan, printTotals, showLargestChanges } from './show-plan.ts';

/** The folder in which this user's runs are kept. */
export function runFolderOf({ io }: Context): string {
  return runFolder(resolvePaths(io).stateDir);
}

/** The target of this command's writes, for journals and locks: a service, or the shop of the embedded store. */
export async function findTarget(context: Context): Promise<string> {
  const { baseUrl } = await context.client('bulk');
  if (!context.settings.offline) return targetOf(baseUrl);
  const { offlineStore } = resolvePaths(context.io);
  if (offlineStore === ':memory:') return 'offline::memory:';
  const { readStore } = await import('../../server/store-file.ts');
  return `offline:${readStore(offlineStore)?.id ?? realFile(offlineStore)}`;
}

/** Holds the target of a run until it is released. */
export async function lockTarget(
  context: Context,
  { target, name, flags: { shard } }: Pick<RunHeader, 'target' | 'name' | 'flags'>,
  { lockWait = 0 }: WriteFlags,
): Promise<TargetLock> {
  const { signal } = context.interrupts;
  return beforeWrites(async () => {
    const folder = runFolderOf(context);
    await ensureRunFolder(folder);
    return holdTarget(folder, { target, shard, name }, { ms: lockWait, signal, tell: context.print });
  });
}

/** The value of a step before the first write. @throws its error, which also says that nothing was sent. */
async function beforeWrites<Value>(step: () => Promise<Value>): Promise<Value> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof CliError) || error instanceof InterruptedError) throw error;
    throw error.with({}, `${error.message}; nothing was sent`);
  }
}

/**
 * One session of a run: plans, asks, writes and reports.
 *
 * @throws UsageError if the service offers no way to do it, or a guard stops the plan; CliError after the report if not
 *   every row is as it should be.
 */
export async function runSession(
  context: Context,
  run: Run,
  flags: WriteFlags,
  lock: TargetLock,
): Promise<void> {
  const { header, journal } = run;
  await (await context.printer()).requireColumns(summaryView);
  if (journal) await lock.nameRun(journal.id);
  const { cwd: folder } = context.io;
  if (flags.rejects !== undefined) await checkFolder({ name: flags.rejects, folder }, '--rejects');
  const session = await openSession(context, run, flags.maxErrors);
  const plan = await planSession(context, session);
  checkGuards(run, plan);
  if (plan.changes.length > 0) await confirmPlan(context, header, plan);
  else await printTotals(context, header, plan);
  const inputFile = { name: header.name, path: header.file ?? undefined };
  const rejects = { name: flags.rejects ?? rejectsName(inputFile, header.format), folder };
  await printReport(context, await writeSession(context, session, plan, rejects, lock));
}

/**
 * Shows the plan of a run; nothing is written. A diff exits 8 if there is anything to write or that cannot be written, a
 * dry run exits 3 if there are rows that cannot be written.
 */
export async function previewRun(context: Context, run: Run, kind: 'diff' | 'dry run'): Promise<void> {
  const { header } = run;
  await checkPlanView(context, header.noun);
  const session = await openSession(context, run);
  const plan = await planSession(context, session);
  const problems = countProblems(run, plan);
  // Before anything is printed: a reader may go away after the first line.
  if (kind === 'diff' && plan.changes.length + problems > 0) context.setExitCode(exitCodes.differs);
  if (kind === 'dry run' && problems > 0) context.setExitCode(exitCodes.partial);
  await printPlan(context, run, plan);
  await printTotals(context, header, plan);
  checkGuards(run, plan);
}

const defaultMaxErrors: RowLimit = { rows: 100 };

async function openSession(context: Context, run: Run, maxErrors = defaultMaxErrors): Promise<Session> {
  const [client, retries] = [await context.client('bulk'), context.settings.get('retries')];
  return new Session(run, { client, folder: runFolderOf(context), maxErrors, retries });
}

/** Reads the records and plans. @throws InterruptedError, or CliError if the run had to stop: then there is no plan. */
async function planSession(context: Context, session: Session): Promise<Plan> {
  const { stop, progress, run } = session;
  let received: Signal | undefined;
  const release = context.interrupts.takeOver((signal) => {
    received ??= signal;
    stop.stop(interruption(signal));
    stop.abandon();
  });
  const activity = {
    label: `reading ${rowWords(run.header.noun).plural}`,
    unit: 'records',
    delayMs: 500,
    read: () => ({ done: progress.recordsRead }),
  };
  try {
    return await withProgress(context, activity, () => session.plan());
  } catch (error) {
    if (!(error instanceof StoppedError) || !stop.reason) throw error;
    if (received) throw new InterruptedError(received);
    const { kind, message, hint } = stop.reason;
    throw new CliError(kind, `${run.header.name}: ${message}; nothing was sent`, { hint, retryable: true });
  } finally {
    release();
  }
}

/** Shows the plan and asks the user. @throws UsageError if the answer is no, or if questions are impossible. */
async function confirmPlan(context: Context, header: RunHeader, plan: Plan): Promise<void> {
  if (!context.flags.yes && context.prompt()) await showLargestChanges(context, header, plan);
  await printTotals(context, header, plan);
  const { singular, plural } = rowWords(header.noun);
  const verb = header.noun === 'inventory' ? 'set' : 'change';
  const removed = plan.changes.filter(({ after }) => after === null).length;
  const others = plan.changes.length - removed;
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
 * leave time to write journal, rejects and report; a reader that does not read them cannot hold the process.
 */
async function writeSession(
  context: Context,
  session: Session,
  plan: Plan,
  rejects: FileName,
  lock: TargetLock,
): Promise<Report> {
  const { stop, progress, pace, run } = session;
  let timer: NodeJS.Timeout | undefined;
  const release = context.interrupts.takeOver((signal) => {
    const leftMs = endingMs[timer ? 1 : 0];
    clearTimeout(timer);
    timer = setTimeout(() => context.interrupts.abort(signal), leftMs);
    if (stop.reason) return stop.abandon('stopped by a second signal');
    stop.stop(interruption(signal));
    const waiting = 'stopping: waiting up to 10 s for what is under way; press Ctrl-C again to abandon it';
    if (!stop.abandoned.aborted) void context.print(waiting);
  });
  const total = plan.changes.length;
  const activity = {
    label: run.header.kind === 'undo' ? 'undoing' : 'applying',
    unit: 'rows',
    read: () => ({ done: progress.rowsWritten, total, failed: progress.rowsFailed, concurrency: pace.limit }),
  };
  try {
    const start = await beforeWrites(async () => {
      const begun = await session.begin(plan);
      await lock.nameRun(begun.id);
      return begun;
    });
    const write = () => session.write(plan, start, rejects);
    return total > 0 ? await withProgress(context, activity, write) : await write();
  } finally {
    clearTimeout(timer);
    release();
  }
}

function interruption(signal: Signal): StopReason {
  const { kind, message } = new InterruptedError(signal);
  return { kind, message };
}
