import { resolve } from 'node:path';
import { offeredOperation } from '../../api/contract.ts';
import { confirmWrite } from '../../asking.ts';
import { checkReadable } from '../../bulk/counts.ts';
import { Events, linesOfFile, linesOfStream } from '../../bulk/events.ts';
import { Journal } from '../../bulk/journal.ts';
import { type JournalHeader, version } from '../../bulk/journal-lines.ts';
import { checkNewFile, exists, type NewFile } from '../../bulk/new-file.ts';
import type { StopReason } from '../../bulk/pace.ts';
import { checkGuards, makePlan, type Plan } from '../../bulk/plan.ts';
import { toRows } from '../../bulk/run-flags.ts';
import { type Job, Session } from '../../bulk/session.ts';
import { type Summary, summarise } from '../../bulk/summary.ts';
import { graceMs, verifyRows, writeRows } from '../../bulk/write.ts';
import type { Context } from '../../context.ts';
import { CliError, InterruptedError, UsageError } from '../../errors.ts';
import { StoppedError } from '../../interrupts.ts';
import type { Signal } from '../../io.ts';
import { type ProgressState, startProgress } from '../../output/progress.ts';
import { readPet } from '../../records/pets.ts';
import { counted } from '../../text.ts';
import type { SessionFlags } from './flags.ts';
import { runStore } from './job.ts';
import { report, saveRejects, summaryView } from './report.ts';
import { checkChangesView, printChanges, showPlan, tellPlan } from './show-plan.ts';

/**
 * One session of a run: plans the rows of a job, asks, writes them, reads them back with --verify, and reports; with
 * --dry-run it only shows the plan.
 *
 * @throws UsageError if the bound service offers no way to do it, or a guard refuses the plan; CliError after the
 *   report if not every row is as the job says.
 */
export async function runSession(context: Context, job: Job, flags: SessionFlags): Promise<void> {
  const client = await context.client('many');
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
  await openRecords(context, plan, files);
  await withSignals(context, session, () => carryOut(context, plan, flags, files));
}

function mayWrite({ changes, session }: Plan): boolean {
  return changes > 0 && !session.stop.reason;
}

/** Writes the rows of a plan, reads them back with --verify, and reports. */
async function carryOut(context: Context, plan: Plan, flags: SessionFlags, files: RunFiles): Promise<void> {
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
    await attempt(() => concludeUndone(context, summary, job.leavesEntries === true));
  await report(context, job, flags, { summary, rejects, isOpen: isOpen && isKept, problem: problems[0] });
}

/** Marks the run that was undone, unless nothing of it could be set back. */
async function concludeUndone(
  context: Context,
  { name, run, rows, failed, unknown }: Summary,
  leavesEntries: boolean,
): Promise<void> {
  const isPartial = leavesEntries || failed + unknown > 0;
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
    client: await context.client('many'),
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
  if (!context.flags.yes && context.prompt()) await showPlan(context, plan);
  await tellPlan(context, plan);
  const { changes, removed } = plan;
  const set = changes - removed;
  const deeds = [
    ...(set > 0 ? [`set ${counted(set, 'count', 'counts')}`] : []),
    ...(removed > 0 ? [`remove ${counted(removed, 'entry', 'entries')}`] : []),
  ];
  await confirmWrite(context, { what: deeds.join(' and '), destructive: true });
}

interface RunFiles {
  /** Of `--rejects`; undefined for the default. */
  readonly rejects: NewFile | undefined;
  /** Of `--events`, `-` for stdout. */
  readonly events: NewFile | '-' | undefined;
  /** True if the file of the events is from the run's earlier sessions. */
  readonly continues: boolean;
}

/** Checks the files for rejects and events before anything is sent. @throws UsageError if one cannot be created. */
async function checkFiles({ io }: Context, job: Job, flags: SessionFlags): Promise<RunFiles> {
  const toFile = (name: string, flag: string): NewFile => ({
    path: resolve(io.cwd, name),
    name,
    flag,
    mayReplace: flags.force === true,
  });
  const rejects = flags.rejects === undefined ? undefined : toFile(flags.rejects, '--rejects');
  const known = job.earlier?.header.events ?? undefined;
  const named = flags.events ?? known;
  const events = named === undefined || named === '-' ? named : toFile(named, '--events');
  const isFile = events !== undefined && events !== '-';
  const continues = isFile && events.path === known && (await exists(events.path));
  if (rejects && isFile && rejects.path === events.path)
    throw new UsageError(`--rejects and --events: both are ${rejects.name}`);
  for (const file of [rejects, isFile ? events : undefined])
    if (file && file.path === job.file) throw new UsageError(`${file.flag} ${file.name}: it is the input`);
  if (rejects) await checkNewFile(rejects);
  if (isFile && !continues) await checkNewFile(events);
  return { rejects, events, continues };
}

/**
 * Opens the journal and the events of a session, and writes its plan. A session that neither writes nor resumes a run has
 * no journal.
 *
 * @throws CliError `failed` if one cannot be written; then neither is left.
 */
async function openRecords(context: Context, plan: Plan, files: RunFiles): Promise<void> {
  const { session } = plan;
  const { job, ledger } = session;
  const events = openEvents(context, session, files);
  if (mayWrite(plan) || job.earlier)
    try {
      ledger.journal = await beginJournal(context, session, files);
    } catch (error) {
      await events?.discard().catch(() => {});
      throw error;
    }
  await events?.tellSettled(ledger.outcomes());
  ledger.events = events;
}

function openEvents({ io }: Context, { rows }: Session, files: RunFiles): Events | undefined {
  if (files.events === undefined) return undefined;
  return new Events(
    rows,
    files.events === '-' ? linesOfStream(io.stdout) : linesOfFile(files.events, files.continues),
  );
}

async function beginJournal(
  context: Context,
  { job, ledger, rows }: Session,
  { events }: RunFiles,
): Promise<Journal> {
  const { run = '', earlier, identity, file, name } = job;
  const { profile } = await context.settings();
  const { invalid, skipped } = rows.countStates();
  const header: JournalHeader = {
    journal: version,
    run,
    ...identity,
    file,
    name,
    profile: profile?.value ?? null,
    guards: job.guards[0] ?? { allowZero: true },
    events: events === undefined || events === '-' ? null : events.path,
    rows: rows.length,
    invalid,
    skipped,
    started: new Date().toISOString(),
  };
  return Journal.begin(runStore(context).pathOf(run), earlier ?? header, rows, ledger.outcomes());
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
