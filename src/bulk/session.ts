import { requireOperation, UnboundError } from '../api/contract.ts';
import type { Noun, NounName } from '../api/nouns.ts';
import { canAsk, confirmWrite } from '../asking.ts';
import { statusRule } from '../client/answer-table.ts';
import { Pace } from '../client/pace.ts';
import { rethrowAsUnsent } from '../config/file.ts';
import { defaultMaxErrors } from '../config/keys.ts';
import type { Context } from '../context.ts';
import type { View } from '../output/columns.ts';
import { inPages, type Output } from '../output/printer.ts';
import { withProgress } from '../output/progress.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError, exitCodes, type UsageError } from '../process/errors.ts';
import { graceMs } from '../process/signals.ts';
import { countText, durationText } from '../process/text.ts';
import { createRecordPort, type RecordPort } from '../writes/port.ts';
import { settleAll } from '../writes/settle.ts';
import { endSession } from './end-session.ts';
import { byHandFollowUp } from './follow-up.ts';
import { type Guards, guardErrorOf } from './guards.ts';
import { beginSession } from './journal.ts';
import { createRowKeeper } from './keep-rows.ts';
import { toRun } from './list-runs.ts';
import { type Plan, planRun, type SessionPorts } from './plan.ts';
import { type Report, reportOutput, runsView } from './report.ts';
import {
  countProblems,
  createRowView,
  largestChangesText,
  planNotices,
  rowsOfPlan,
  rowTerms,
} from './row-view.ts';
import { numbersOf, type RunHeader, type RunLog, runKinds, shardName } from './run.ts';
import type { SessionRuns } from './session-runs.ts';

/** The flags of a session. A resume takes them too. */
export interface SessionFlags extends Guards {
  readonly maxErrors?: number | undefined;
  readonly lockWaitMs?: number | undefined;
  readonly rejects?: string | undefined;
}

/** What a session does with its plan: it writes the plan, or only prints it. A diff has an exit code of its own. */
export type SessionMode = 'write' | 'dry-run' | 'diff';

/** Returns the mode of a command that is not a diff. */
export function sessionMode({ flags }: Context): SessionMode {
  return flags.dryRun ? 'dry-run' : 'write';
}

/** Returns the columns of the report or the plan that a session prints. */
export function sessionView(context: Context, noun: NounName, mode = sessionMode(context)): View<object> {
  return mode === 'write' ? runsView : createRowView(noun);
}

/**
 * Carries out a session: plans, asks, writes and reports. The caller has locked the target, unless the session only plans.
 *
 * @throws UsageError if the service lacks the operations, a guard stops the plan, or the user says no.
 */
export async function runSession(
  context: Context,
  runs: SessionRuns,
  flags: SessionFlags,
  mode: SessionMode,
): Promise<Output> {
  const { ports, plan, guardError } = await planSession(context, runs, flags);
  const { log } = runs;
  if (mode !== 'write') return previewOutput(log.header, plan, mode === 'diff', guardError);
  if (guardError) throw guardError;
  await confirmPlan(context, log.header, plan);
  return reportOutput(context, await writePlan(context, runs, ports, plan, flags));
}

/** Prints a plan, and asks whether to write it. @throws UsageError if the user says no. */
async function confirmPlan(context: Context, header: RunHeader, plan: Plan): Promise<void> {
  const isWrite = plan.rowsToWrite.length > 0;
  if (isWrite && !context.flags.yes && canAsk(context))
    await context.io.stderr.write(await largestChangesText(context.printer, header, plan));
  for (const notice of planNotices(header, plan)) await context.notice(...notice);
  if (!isWrite) return;
  const { singular, plural } = rowTerms(header.noun);
  const action = header.flags.relative ? 'change' : runKinds[header.kind].action;
  const what = `${action} ${countText(plan.rowsToWrite.length, singular, plural)}`;
  await confirmWrite(context, { what, needsYes: true });
}

/**
 * Returns the output of a plan that is not written. A diff exits 8 if a row is to be written or cannot be written, and a dry run exits
 * 3 if a row cannot be written. A plan that breaks a guard is printed nevertheless.
 */
function previewOutput(
  header: RunHeader,
  plan: Plan,
  isDiff: boolean,
  guardError: UsageError | undefined,
): Output {
  const problems = countProblems(plan);
  const hasFindings = isDiff ? problems + plan.rowsToWrite.length > 0 : problems > 0;
  const findingsCode = isDiff ? exitCodes.differs : exitCodes.partial;
  return {
    kind: 'list',
    pages: inPages(rowsOfPlan(header, plan)),
    notices: planNotices(header, plan),
    exitCode: hasFindings ? findingsCode : exitCodes.done,
    error: guardError,
  };
}

/** @throws UsageError if the service cannot read or write the records of the run. */
async function openPorts(context: Context, log: RunLog): Promise<SessionPorts> {
  const { settings, stop } = context;
  const { noun, flags } = log.header;
  const client = await context.client('bulk');
  const pace = new Pace(settings.get('rate'), stop, settings.get('timeout'));
  const run = { pace, mayCreate: flags.createMissing };
  const port = createRecordPort(client, noun, run);
  requireOperations(port, log);
  const deletesPets = noun === 'pets' && log.rows.some(({ intent }) => intent.kind === 'remove');
  const entries = deletesPets ? createRecordPort(client, 'inventory', run) : undefined;
  return { port, entries, pace };
}

/** @throws UsageError if the service lacks an operation that the rows of a run need. */
function requireOperations({ contract, noun, abilities }: RecordPort, { header, rows }: RunLog): void {
  const { kind, undoes } = header;
  const { operations }: Noun = noun;
  const sets = rows.some(({ intent }) => intent.kind === 'set' || intent.kind === 'add');
  if (undoes === undefined || sets) requireOperation(contract, operations[runKinds[kind].operation]);
  if (rows.length > 0 && rows.every(({ intent }) => intent.kind === 'remove'))
    requireOperation(contract, operations.delete);
  if (kind !== 'create' && !abilities.canRead)
    throw new UnboundError(
      `the service offers neither ${operations.get} nor ${operations.list}, so nothing can be planned`,
    );
}

/** Reads the records and plans. @throws CliError also if the run had to stop, such as for a service that gives no answer. */
async function planSession(context: Context, runs: SessionRuns, flags: SessionFlags) {
  const { log } = runs;
  const { stop } = context;
  const ports = await openPorts(context, log);
  let recordsRead = 0;
  const activity = {
    label: `reading ${rowTerms(log.header.noun).plural}`,
    unit: 'records',
    read: () => ({ done: recordsRead, wait: ports.pace.waitText }),
  };
  try {
    const plan = await withProgress(context, activity, () =>
      planRun(runs, ports, () => {
        recordsRead += 1;
      }),
    );
    // After a stop the counts of deleted pets may be missing.
    if (stop.cause) throw stop.cause;
    return { ports, plan, guardError: guardErrorOf(log, plan, flags) };
  } catch (error) {
    // After a stop, the reading failed only because of the stop.
    if (stop.cause) throw stop.cause;
    // A record that can never be read would end each resume here.
    if (!runs.run || !(error instanceof CliError) || error.details.hint) throw error;
    const { status } = error.details;
    const { mayBeOutage, pauses } = statusRule(status);
    if (status === undefined || mayBeOutage || pauses) throw error;
    const { hint } = byHandFollowUp(context, runs.run.id, ['<id>']);
    throw error.with({ hint: `if the record can never be read, ${hint}` });
  }
}

/**
 * Writes the rows of a plan with its progress, then the rejects, then the end of the session. After the first signal the run waits
 * for requests in flight, and after the second signal it abandons them. Then it still writes the file of rejects and the journal.
 */
async function writePlan(
  context: Context,
  runs: SessionRuns,
  { port, pace }: SessionPorts,
  plan: Plan,
  { rejects, maxErrors = defaultMaxErrors }: SessionFlags,
): Promise<Report> {
  const { stop } = context;
  const tellFirst = () => {
    void context.notice(
      'status',
      `stopping: waiting up to ${durationText(graceMs)} for requests in flight; a second signal stops at once`,
    );
  };
  const total = plan.rowsToWrite.length;
  return stop.inTwoSteps(tellFirst, async () => {
    using journal = await beginSession(runs, plan.rows).catch(rethrowAsUnsent);
    const { rowsToWrite } = plan;
    const options = { port, rowsToWrite, maxErrors, stop };
    const keeper = createRowKeeper(journal, options);
    const { counts } = keeper;
    const { begin, log } = journal;
    const { kind, flags } = log.header;
    const activity = {
      label: runKinds[kind].progress + (flags.shard ? ` shard ${shardName(flags.shard)}` : ''),
      unit: 'rows',
      read: () => ({ done: counts.ended, total, failed: counts.failed, wait: pace.waitText }),
    };
    const writeRows = async () => {
      try {
        await settleAll(port, rowsToWrite, stop.stopped, keeper);
      } finally {
        await keeper.flush();
      }
    };
    const startedMs = monotonicMs();
    if (total > 0) await withProgress(context, activity, writeRows);
    const seconds = Math.round(monotonicMs() - startedMs) / 1000;
    const ending = endSession(rowsToWrite, journal, context.io.cwd, rejects);
    const run = toRun(begin, numbersOf(log), log.isEnded);
    const isFirstSession = runs.run === undefined;
    return { run, rows: log.rows, isFirstSession, seconds, stop: stop.cause, ...ending };
  });
}
