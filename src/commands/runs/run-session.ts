import { nouns } from '../../api/nouns.ts';
import type { NounName } from '../../api/operations.ts';
import { canAsk, confirmWrite } from '../../asking.ts';
import type { OpenRun } from '../../bulk/open-run.ts';
import { checkGuards, type Plan } from '../../bulk/plan.ts';
import type { Report } from '../../bulk/report.ts';
import type { RunHeader } from '../../bulk/run-header.ts';
import { ensureRunFolder, type RunList, runFolderOf } from '../../bulk/run-store.ts';
import { Session } from '../../bulk/session.ts';
import { holdTarget, type TargetLock, targetOf } from '../../bulk/target.ts';
import type { StopReason } from '../../client/pace.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { rejectsName } from '../../input/rejects.ts';
import type { View } from '../../output/columns.ts';
import { withProgress } from '../../output/progress.ts';
import { CliError, exitCodes, InterruptedError, type Signal } from '../../process/errors.ts';
import { checkFolder, type FileName, realFile } from '../../process/files.ts';
import { graceMs, inTwoSteps, StoppedError } from '../../process/signals.ts';
import { counted } from '../../process/text.ts';
import { plannedOf } from '../../writes/decide.ts';
import { printReport, reportView } from './report-run.ts';
import { rowWords } from './row-view.ts';
import type { SessionFlags } from './run-flags.ts';
import { countProblems, createPlanView, printPlan, printTotals, showLargestChanges } from './show-plan.ts';

/** Returns the columns of what a run prints: its summary, or with --dry-run and in a diff its plan. */
export function runView(context: Context, noun: NounName, isDiff = false): View<object> {
  const isPlan = isDiff || context.flags.dryRun;
  if (!isPlan) return reportView as View<object>;
  return createPlanView(noun, context.settings.get('output') === 'table') as View<object>;
}

/**
 * Finds the target of the command: the effective address of a service, with the tenant if the settings name one, or the
 * embedded store.
 */
export async function findTarget(context: Context): Promise<string> {
  const { baseUrl } = await context.client('bulk');
  const { settings } = context;
  const tenant = settings.get('tenant');
  if (!settings.offline)
    return tenant === undefined ? targetOf(baseUrl) : `${targetOf(baseUrl)} tenant ${tenant}`;
  const { offlineStore } = resolvePaths(context.io);
  if (offlineStore === ':memory:') return 'offline::memory:';
  const { readStore } = await import('../../server/store-file.ts');
  return `offline:${readStore(offlineStore)?.id ?? realFile(offlineStore)}`;
}

/** Locks the target of a run until the lock is released. */
export async function lockTarget(
  context: Context,
  { target, name, flags: { shard } }: Pick<RunHeader, 'target' | 'name' | 'flags'>,
  { lockWait = 0 }: Pick<SessionFlags, 'lockWait'>,
): Promise<TargetLock> {
  const { signal } = context.interrupts;
  return beforeWrites(async () => {
    const folder = runFolderOf(context.io);
    await ensureRunFolder(folder);
    return holdTarget(folder, { target, shard, name }, { ms: lockWait, signal, tell: context.print });
  });
}

/** Does a step before the first write. @throws the error of the step; its message also says that nothing was sent. */
async function beforeWrites<Value>(step: () => Promise<Value>): Promise<Value> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof CliError) || error instanceof InterruptedError) throw error;
    throw error.with({}, `${error.message}; nothing was sent`);
  }
}

/**
 * Does a session of a run: plans, asks, writes and reports.
 *
 * @throws UsageError if the service lacks the operations, or a guard stops the plan; CliError after the report if not every
 *   row is as the run wants it.
 */
export async function runSession(
  context: Context,
  list: RunList,
  openRun: OpenRun,
  flags: SessionFlags,
  lock: TargetLock,
): Promise<void> {
  const { run } = openRun;
  const { header } = run;
  if (run.id !== undefined) await lock.nameRun(run.id);
  const { cwd: folder } = context.io;
  if (flags.rejects !== undefined) await checkFolder({ name: flags.rejects, folder }, '--rejects');
  const session = await openSession(context, list, openRun, flags.maxErrors);
  const plan = await planSession(context, session);
  checkGuards(run, plan, flags);
  if (plan.changes.length > 0) await confirmPlan(context, header, plan);
  else await printTotals(context, header, plan);
  const inputFile = { name: header.name, path: header.file ?? undefined };
  const rejects = { name: flags.rejects ?? rejectsName(inputFile, header.format), folder };
  await printReport(context, await writeSession(context, session, plan, rejects, lock));
}

/**
 * Shows the plan of a run and writes nothing. A diff exits 8 if a row is to be written or cannot be written. A dry run exits
 * 3 if a row cannot be written.
 */
export async function previewRun(
  context: Context,
  list: RunList,
  openRun: OpenRun,
  flags: SessionFlags,
  kind: 'diff' | 'dry run',
): Promise<void> {
  const { run } = openRun;
  const { header } = run;
  const session = await openSession(context, list, openRun);
  const plan = await planSession(context, session);
  const problems = countProblems(run, plan);
  // The exit code is set before the plan is printed, because the reader may go away after the first line.
  if (kind === 'diff' && plan.changes.length + problems > 0) context.setExitCode(exitCodes.differs);
  if (kind === 'dry run' && problems > 0) context.setExitCode(exitCodes.partial);
  await printPlan(context, run, plan);
  // stdout has the plan itself.
  await printTotals(context, header, plan, context.print);
  checkGuards(run, plan, flags);
}

async function openSession(
  context: Context,
  list: RunList,
  openRun: OpenRun,
  maxErrors = 100,
): Promise<Session> {
  const { settings } = context;
  const client = await context.client('bulk');
  return new Session(openRun, {
    client,
    list,
    maxErrors,
    paceFlags: { concurrency: settings.get('concurrency'), rate: settings.get('rate') ?? null },
    retries: settings.get('retries'),
    sendsEtags: settings.get('etags'),
  });
}

/** Reads the records and plans. @throws InterruptedError after a signal; CliError if the run had to stop for another reason. */
async function planSession(context: Context, session: Session): Promise<Plan> {
  const { stop, progress, run } = session;
  let firstSignal: Signal | undefined;
  const steps = {
    stop(signal: Signal) {
      firstSignal = signal;
      stop.stop(interruption(signal));
      stop.abandon();
    },
  };
  const activity = {
    label: `reading ${rowWords(run.header.noun).plural}`,
    unit: 'records',
    read: () => ({ done: progress.recordsRead }),
  };
  try {
    return await inTwoSteps(context, steps, () => withProgress(context, activity, () => session.plan()));
  } catch (error) {
    if (!(error instanceof StoppedError) || !stop.reason) throw error;
    if (firstSignal) throw new InterruptedError(firstSignal);
    const { kind, message, hint } = stop.reason;
    throw new CliError(kind, `${run.header.name}: ${message}; nothing was sent`, { hint, retryable: true });
  }
}

/** Shows the plan and asks the user. @throws UsageError if the answer is no, or if questions are impossible. */
async function confirmPlan(context: Context, header: RunHeader, plan: Plan): Promise<void> {
  if (!context.flags.yes && canAsk(context)) await showLargestChanges(context, header, plan);
  await printTotals(context, header, plan);
  await confirmWrite(context, { what: describeActions(header, plan), needsYes: true });
}

/** Says what a plan does: `set 3 counts and remove 1 entry`. */
function describeActions({ noun }: RunHeader, { changes }: Plan): string {
  const { singular, plural, verb } = rowWords(noun);
  const { singular: record, plural: records } =
    noun === 'inventory' ? { singular: 'entry', plural: 'entries' } : nouns[noun];
  const count = (action: string) => changes.filter((change) => plannedOf(change)?.action === action).length;
  const [creates, sets, removals] = [count('create'), count('set'), count('remove')];
  // The entry that a count needs is created with it.
  const isCount = noun === 'inventory';
  const updates = isCount ? sets + creates : sets;
  return [
    ...(updates > 0 ? [`${verb} ${counted(updates, singular, plural)}`] : []),
    ...(creates > 0 && !isCount ? [`create ${counted(creates, record, records)}`] : []),
    ...(removals > 0 ? [`${isCount ? 'remove' : 'delete'} ${counted(removals, record, records)}`] : []),
  ].join(' and ');
}

/** The time in which a run must end after a signal, beyond the time that it gives to requests in flight. */
const reportMs = 1000;

/**
 * Writes a plan and shows the progress. After the first signal the run waits for requests in flight, and after the second
 * signal it abandons them. Then it writes journal, rejects and report, but never longer than `reportMs`: a reader that does
 * not read the report must not hold up the process.
 */
async function writeSession(
  context: Context,
  session: Session,
  plan: Plan,
  rejects: FileName,
  lock: TargetLock,
): Promise<Report> {
  const { stop, totals, run } = session;
  const abandon = () => stop.abandon('stopped by a second signal');
  const steps = {
    stopMs: graceMs + reportMs,
    stop(signal: Signal) {
      // The run may have stopped for another reason before.
      if (stop.reason) return abandon();
      stop.stop(interruption(signal));
      // Nobody presses a key under cron or systemd.
      const again = signal === 'SIGINT' ? '; press Ctrl-C again to abandon it' : '';
      const notice = `stopping: waiting up to 10 s for what is under way${again}`;
      if (!stop.abandoned.aborted) void context.print(notice);
    },
    abandon,
    abandonMs: reportMs,
  };
  const total = plan.changes.length;
  const activity = {
    label: run.header.kind === 'undo' ? 'undoing' : 'applying',
    unit: 'rows',
    read: () => ({ done: totals.settled, total, failed: totals.failed }),
  };
  return inTwoSteps(context, steps, async () => {
    const journal = await beforeWrites(() => session.begin(plan));
    if (run.id !== undefined) await lock.nameRun(run.id);
    const write = () => session.write(plan, journal, rejects);
    return total > 0 ? withProgress(context, activity, write) : write();
  });
}

function interruption(signal: Signal): StopReason {
  const { kind, message } = new InterruptedError(signal);
  return { kind, message };
}
