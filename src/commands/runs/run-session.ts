import type { NounName } from '../../api/operations.ts';
import { canAsk, confirmWrite } from '../../asking.ts';
import type { OpenRun } from '../../bulk/open-run.ts';
import { checkGuards, type Plan } from '../../bulk/plan.ts';
import type { Report } from '../../bulk/report.ts';
import type { RunHeader } from '../../bulk/run-header.ts';
import { type RunList, runFolderOf } from '../../bulk/run-store.ts';
import { Session } from '../../bulk/session.ts';
import { holdTarget, type TargetLock, targetOf } from '../../bulk/target.ts';
import type { StopReason } from '../../client/pace.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/columns.ts';
import { withProgress } from '../../output/progress.ts';
import { CliError, exitCodes, InterruptedError, type Signal } from '../../process/errors.ts';
import { checkFolder, ensurePrivateFolder, realFile } from '../../process/files.ts';
import { graceMs, inTwoSteps } from '../../process/signals.ts';
import { counted } from '../../process/text.ts';
import { printReport, reportView } from './report-run.ts';
import {
  countProblems,
  createRowView,
  printPlan,
  printTotals,
  rowWords,
  showLargestChanges,
} from './row-view.ts';
import type { SessionFlags } from './run-flags.ts';

/** Returns the columns of what a run prints: its summary, or with --dry-run and in a diff its plan. */
export function runView(context: Context, noun: NounName, isDiff = false): View<object> {
  const isPlan = isDiff || context.flags.dryRun;
  if (!isPlan) return reportView as View<object>;
  return createRowView(noun, context.settings.get('output') === 'table') as View<object>;
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
    await ensurePrivateFolder(folder, 'PETSTORE_STATE_DIR names another folder for what a run does');
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
 * Does a session of a run: plans, asks, writes and reports. Without a lock it only shows the plan: a diff exits 8 if a row is to
 * be written or cannot be written, and a dry run exits 3 if a row cannot be written.
 *
 * @throws UsageError if the service lacks the operations, or a guard stops the plan; CliError after the report if not every
 *   row is as the run wants it.
 */
export async function runSession(
  context: Context,
  list: RunList,
  openRun: OpenRun,
  flags: SessionFlags,
  lock: TargetLock | undefined,
  isDiff = false,
): Promise<void> {
  const { run } = openRun;
  const { settings, io } = context;
  if (run.id !== undefined) await lock?.nameRun(run.id);
  if (flags.rejects !== undefined) await checkFolder({ name: flags.rejects, folder: io.cwd }, '--rejects');
  const session = new Session(openRun, {
    client: await context.client('bulk'),
    list,
    maxErrors: flags.maxErrors ?? 100,
    paceFlags: { concurrency: settings.get('concurrency'), rate: settings.get('rate') ?? null },
    retries: settings.get('retries'),
    sendsEtags: settings.get('etags'),
  });
  const plan = await planSession(context, session);
  if (!lock) {
    const problems = countProblems(run, plan);
    // The exit code is set before the plan is printed, because the reader may go away after the first line.
    if (isDiff && plan.changes.length + problems > 0) context.setExitCode(exitCodes.differs);
    if (!isDiff && problems > 0) context.setExitCode(exitCodes.partial);
    await printPlan(context, run, plan);
    // stdout has the plan itself.
    await printTotals(context, run.header, plan, context.print);
    return checkGuards(run, plan, flags);
  }
  checkGuards(run, plan, flags);
  if (plan.changes.length > 0) await confirmPlan(context, run.header, plan);
  else await printTotals(context, run.header, plan);
  await printReport(context, await writeSession(context, session, plan, flags.rejects, lock));
}

/** Reads the records and plans. @throws CliError also if the run had to stop, as for a service that does not answer. */
async function planSession(context: Context, session: Session): Promise<Plan> {
  const { stop, progress, run } = session;
  const activity = {
    label: `reading ${rowWords(run.header.noun).plural}`,
    unit: 'records',
    read: () => ({ done: progress.recordsRead }),
  };
  try {
    return await withProgress(context, activity, () => session.plan());
  } catch (error) {
    if (!stop.reason) throw error;
    // The stop has ended the reading, so the error is only its consequence.
    const { kind, message, hint } = stop.reason;
    throw new CliError(kind, `${run.header.name}: ${message}; nothing was sent`, { hint, retryable: true });
  }
}

const actions: Readonly<Record<RunHeader['kind'], string>> = {
  apply: 'set',
  edit: 'set',
  create: 'create',
  update: 'change',
  delete: 'delete',
  undo: 'take back',
};

/** Shows the plan and asks the user. @throws UsageError if the answer is no, or if questions are impossible. */
async function confirmPlan(context: Context, header: RunHeader, plan: Plan): Promise<void> {
  if (!context.flags.yes && canAsk(context)) await showLargestChanges(context, header, plan);
  await printTotals(context, header, plan);
  const { singular, plural } = rowWords(header.noun);
  const what = `${actions[header.kind]} ${counted(plan.changes.length, singular, plural)}`;
  await confirmWrite(context, { what, needsYes: true });
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
  rejects: string | undefined,
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
      if (!stop.abandoned.aborted)
        void context.print(
          'stopping: waiting up to 10 s for what is under way; a second signal ends at once',
        );
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
    const write = () => session.write(plan, journal, { name: rejects, folder: context.io.cwd });
    return total > 0 ? withProgress(context, activity, write) : write();
  });
}

function interruption(signal: Signal): StopReason {
  const { kind, message } = new InterruptedError(signal);
  return { kind, message };
}
