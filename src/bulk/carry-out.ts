import type { NounName } from '../api/nouns.ts';
import { confirmWrite } from '../asking.ts';
import { type Context, canAsk } from '../context.ts';
import type { View } from '../output/columns.ts';
import type { Output } from '../output/printer.ts';
import { withProgress } from '../output/streams.ts';
import { CliError, exitCodes, InterruptedError, type Signal } from '../process/errors.ts';
import { checkFolder } from '../process/files.ts';
import { inTwoSteps } from '../process/signals.ts';
import { counted } from '../process/text.ts';
import { openJournal } from './journal.ts';
import { brokenGuard, type Guards, type Plan, planRun } from './plan.ts';
import type { Report } from './report.ts';
import { reportOutput, reportView } from './report-output.ts';
import {
  countProblems,
  createRowView,
  describePlan,
  largestChangesText,
  planPages,
  rowTerms,
} from './row-view.ts';
import type { RunHeader } from './run.ts';
import { createSession, type Session, type SessionRuns } from './session.ts';
import type { TargetLock } from './target.ts';
import { writeRun } from './write-run.ts';

/** The flags of a session. A resume takes them too. */
export interface SessionFlags extends Guards {
  readonly maxErrors?: number | undefined;
  /** The longest wait for another run, in milliseconds. */
  readonly lockWait?: number | undefined;
  /** The name of the file of rejects. */
  readonly rejects?: string | undefined;
}

/** What a session does with its plan: it writes the plan, or only prints it. A diff has an exit code of its own. */
export type SessionMode = 'write' | 'dry-run' | 'diff';

/** Returns the mode of a command that is not a diff. */
export function sessionMode({ flags }: Context): SessionMode {
  return flags.dryRun ? 'dry-run' : 'write';
}

/** Returns the columns of what a session prints: its report, or its plan. */
export function runView(context: Context, noun: NounName, mode = sessionMode(context)): View<object> {
  if (mode === 'write') return reportView;
  return createRowView(noun, context.printer().content === 'text');
}

const actions: Readonly<Record<RunHeader['kind'], string>> = {
  apply: 'set',
  edit: 'set',
  create: 'create',
  update: 'change',
  delete: 'delete',
  undo: 'take back',
};

/**
 * Carries out a session of a run: plans, and then asks, writes and reports, or prints the plan. A diff exits 8 if a row is to be
 * written or cannot be written, and a dry run exits 3 if a row cannot be written.
 *
 * @param lock the lock of the target; undefined if nothing is written.
 * @throws UsageError if the service lacks the operations, a guard stops the plan, or the user says no.
 */
export async function carryOut(
  context: Context,
  runs: SessionRuns,
  flags: SessionFlags,
  mode: SessionMode,
  lock: TargetLock | undefined,
): Promise<Output> {
  const { io } = context;
  const { run } = runs;
  const { kind, noun } = run.header;
  if (run.id !== undefined) lock?.nameRun(run.id);
  if (flags.rejects !== undefined) checkFolder({ name: flags.rejects, folder: io.cwd }, '--rejects');
  const session = await createSession(context, runs);
  const plan = await planWithProgress(context, session);
  const guardError = brokenGuard(run, plan, flags);
  const planLines = describePlan(run.header, plan);
  if (mode !== 'write') {
    const problems = countProblems(run, plan);
    const exitCode = {
      diff: problems + plan.changes.length > 0 ? exitCodes.differs : 0,
      'dry-run': problems > 0 ? exitCodes.partial : 0,
    }[mode];
    const isTable = context.printer().content === 'text';
    return { ...planPages(run, plan, isTable), notes: planLines, exitCode, error: guardError };
  }
  if (guardError) throw guardError;
  const isWrite = plan.changes.length > 0;
  if (isWrite && !context.flags.yes && canAsk(context))
    await io.stderr.write(await largestChangesText(context.printer(), run.header, plan));
  for (const line of planLines) await context.printSummary(line);
  if (isWrite) {
    const { singular, plural } = rowTerms(noun);
    const what = `${actions[kind]} ${counted(plan.changes.length, singular, plural)}`;
    await confirmWrite(context, { what, needsYes: true });
  }
  return reportOutput(context, await writeWithProgress(context, session, plan, flags, lock));
}

/** Reads the records and plans. @throws CliError also if the run had to stop, such as for a service that gives no answer. */
async function planWithProgress(context: Context, session: Session): Promise<Plan> {
  const { stop, run, progress } = session;
  const activity = {
    label: `reading ${rowTerms(run.header.noun).plural}`,
    unit: 'records',
    read: () => ({ done: progress.recordsRead }),
  };
  try {
    return await withProgress(context, activity, () => planRun(session));
  } catch (error) {
    if (!stop.reason) throw error;
    // The reading failed only because of the stop.
    const { kind, message, hint } = stop.reason;
    throw new CliError(kind, `${run.header.name}: ${message}; nothing was sent`, { hint, retryable: true });
  }
}

/**
 * Writes a plan and shows the progress. After the first signal the run waits for requests in flight, and after the second
 * signal it abandons them. Then it writes journal and rejects.
 */
async function writeWithProgress(
  context: Context,
  session: Session,
  plan: Plan,
  { rejects, maxErrors }: SessionFlags,
  lock: TargetLock | undefined,
): Promise<Report> {
  const { stop, progress, run } = session;
  const stopBy = (signal: Signal) => {
    const { kind, message } = new InterruptedError(signal);
    stop.begin({ kind, message });
    void context.printStatus(
      'stopping: waiting up to 10 s for what is under way; a second signal ends at once',
    );
  };
  const total = plan.changes.length;
  const activity = {
    label: run.header.kind === 'undo' ? 'undoing' : 'applying',
    unit: 'rows',
    read: () => ({ done: progress.ended, total, failed: progress.failed }),
  };
  return inTwoSteps(context.interrupts, stop, stopBy, async () => {
    const journal = await openJournal(session.list, run, plan.rows);
    if (run.id !== undefined) lock?.nameRun(run.id);
    const options = { maxErrors, name: rejects, folder: context.io.cwd };
    const write = () => writeRun(session, plan, journal, options);
    return total > 0 ? withProgress(context, activity, write) : write();
  });
}
