import { resolve } from 'node:path';
import { offeredOperation } from '../../api/contract.ts';
import { confirmWrite } from '../../asking.ts';
import { checkReadable } from '../../bulk/counts.ts';
import { createFileSink, createStreamSink, Events } from '../../bulk/events.ts';
import { Journal } from '../../bulk/journal.ts';
import { checkNewFile, exists, type NewFile } from '../../bulk/new-file.ts';
import type { StopReason } from '../../bulk/pace.ts';
import { checkGuards, makePlan, type Plan, toRows } from '../../bulk/plan.ts';
import { createRun, type Run } from '../../bulk/run.ts';
import type { RunStore } from '../../bulk/runs.ts';
import { summarise } from '../../bulk/summary.ts';
import { tooManyErrors, verifyRows, writeRows } from '../../bulk/write.ts';
import { monotonicMs } from '../../clock.ts';
import type { Context } from '../../context.ts';
import { CliError, InterruptedError, UsageError } from '../../errors.ts';
import { StoppedError } from '../../interrupts.ts';
import type { Signal } from '../../io.ts';
import { type ProgressState, startProgress } from '../../output/progress.ts';
import { readPet } from '../../records/read-pet.ts';
import { counted } from '../../text.ts';
import { type SessionFlags, toErrorLimit, toRetryWait } from './flags.ts';
import type { Job } from './job.ts';
import { report, saveRejects, summaryView } from './report.ts';
import { checkChangesView, printChanges, showPlan, tellPlan } from './show-plan.ts';

/**
 * One session of a bulk command: plans the rows of a job, asks, writes them, reads them back with --verify, and
 * reports; with --dry-run it only shows the plan.
 *
 * @throws UsageError if the bound service offers no way to do it, or a guard refuses the plan; CliError after the
 *   report if not every row is as the job says.
 */
export async function runBulk(
  context: Context,
  runs: RunStore,
  job: Job,
  flags: SessionFlags,
): Promise<void> {
  const { contract } = await context.client('many');
  offeredOperation(contract, 'updateInventory');
  if (flags.verify) checkReadable(await context.client('many'), 'leave out --verify');
  if (context.flags.dryRun) {
    await preview(context, job, flags);
    return;
  }
  await (await context.printer()).check(summaryView);
  const files = await checkFiles(context, job, flags);
  const mostErrors = Math.max(1, toRows(toErrorLimit(flags), job.rows.length));
  const run = await openRun(context, job, flags);
  const clock = { planMs: 0, writeMs: 0 };

  const planStarted = monotonicMs();
  const plan = await planRows(context, run, job, flags);
  clock.planMs = monotonicMs() - planStarted;
  for (const guards of job.guards) checkGuards(plan, guards);
  const { ledger, stop, rows } = run;
  if (ledger.newErrorCount >= mostErrors) stop.stop(tooManyErrors(ledger.newErrorCount));
  if (plan.changes > 0 && !stop.reason) await confirmPlan(context, plan);

  const isKept = !stop.reason && (plan.changes > 0 || job.earlier !== undefined);
  const events = await openEvents(context, run, files);
  const journal = isKept ? await openJournal(context, runs, { job, plan, events, files }) : undefined;
  run.journal = journal;
  const problems: unknown[] = [];
  await events?.tellSettled(ledger);
  run.events = events;

  const settledBefore = ledger.settledCount;
  const writeStarted = monotonicMs();
  const verified = await whileWriting(context, run, async () => {
    if (!stop.reason && plan.changes > 0) {
      const total = plan.changes;
      const state = () => ({
        ...{ done: ledger.settledCount - settledBefore, total },
        ...{ failed: ledger.errorCount, concurrency: run.pace.limit },
      });
      await withProgress(context, { label: job.verb, unit: 'rows', flags, state }, () =>
        writeRows(plan, mostErrors),
      );
    }
    clock.writeMs = monotonicMs() - writeStarted;
    return flags.verify && !stop.reason ? readBack(run, job.name, problems) : undefined;
  });
  const elapsedMs = clock.planMs + (monotonicMs() - writeStarted);
  const written = ledger.settledCount - settledBefore;

  const isOpen = !rows.inState('unprocessed').next().done;
  settleUnknown(run);
  await collect(problems, () => journal?.end(isOpen ? 'stopped' : 'finished'));
  const rejected = { run, input: job.input, hasEarlier: job.earlier?.image.hasEnded === true };
  let rejects: string | undefined;
  await collect(problems, async () => {
    rejects = await saveRejects(context, { job, flags, rejected, named: files.rejects });
  });
  await collect(problems, () => events?.close());
  const { target } = job.identity;
  const summary = summarise(run, {
    ...{ run: isKept ? job.run : undefined, name: job.name, target, verified },
    ...{ elapsedMs, written, writingMs: clock.writeMs },
  });
  if (!isOpen && !stop.reason) {
    const isPartial = summary.failed + summary.unknown > 0;
    // What could not be taken back at all is not undone.
    const isInVain = isPartial && summary.failed === summary.rows;
    if (!isInVain) await collect(problems, () => job.finished?.(summary.run, isPartial));
  }
  const told = problems.filter((problem) => (problem as Error).message !== stop.reason?.message);
  await report(context, {
    job,
    flags,
    summary,
    rejects,
    isOpen: isOpen && isKept,
    problem: told[0] as Error,
  });
}

/** Prints the changes of a job; returns true if there are any, or if some row is not as the file says. */
export async function showDifferences(context: Context, job: Job, flags: SessionFlags): Promise<boolean> {
  const { plan, run } = await preview(context, job, flags);
  return plan.changes > 0 || run.ledger.errorCount > 0 || run.rows.countStates().invalid > 0;
}

/** Shows the plan. @throws UsageError if a guard would refuse it. */
async function preview(context: Context, job: Job, flags: SessionFlags): Promise<{ plan: Plan; run: Run }> {
  await checkChangesView(context);
  const run = await openRun(context, job, flags);
  const plan = await planRows(context, run, job, flags);
  await printChanges(context, plan);
  await tellPlan(context, plan);
  for (const guards of job.guards) checkGuards(plan, guards);
  return { plan, run };
}

async function openRun(context: Context, job: Job, flags: SessionFlags): Promise<Run> {
  const settings = await context.settings();
  const { rows, index, earlier } = job;
  const { blind, relative, createMissing } = job.identity.flags;
  const run = createRun({
    client: await context.client('many'),
    ...{ rows, index, blind, relative, createMissing },
    concurrency: settings.get('concurrency'),
    rate: settings.get('rate'),
    maxRetryWaitMs: toRetryWait(flags),
    readPetStatus: async (client, petId) =>
      (await readPet(context, client, petId, { isAside: true })).value.status ?? 'available',
  });
  for (const row of earlier?.failed ?? []) {
    const failure = earlier?.image.failures.get(row);
    run.ledger.restore(row, { ...failure, state: 'failed' });
  }
  return run;
}

/** Reads the counts and plans. @throws InterruptedError, or CliError if the run had to stop: then there is no plan. */
async function planRows(context: Context, run: Run, job: Job, flags: SessionFlags): Promise<Plan> {
  const { stop } = run;
  const onSignal = (signal: Signal) => {
    stop.stop(interruption(signal));
    stop.abandon();
  };
  const state = () => ({ done: run.entriesRead });
  const activity = { label: 'reading counts', unit: 'entries', flags, state };
  const release = context.interrupts.take(onSignal);
  try {
    return run.blind ? await makePlan(run) : await withProgress(context, activity, () => makePlan(run));
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
    ...{ path: resolve(io.cwd, name), name, flag, mayReplace: flags.force === true },
  });
  const rejects = flags.rejects === undefined ? undefined : toFile(flags.rejects, '--rejects');
  const known = job.earlier?.image.header.events ?? undefined;
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

async function openEvents({ io }: Context, { rows }: Run, files: RunFiles): Promise<Events | undefined> {
  if (files.events === undefined) return undefined;
  return new Events(
    rows,
    files.events === '-' ? createStreamSink(io.stdout) : createFileSink(files.events, files.continues),
  );
}

interface JournalOptions {
  readonly job: Job;
  readonly plan: Plan;
  readonly events: Events | undefined;
  readonly files: RunFiles;
}

/** Writes the plan to the disk. @throws CliError `failed` if that fails; then no journal is left. */
async function openJournal(
  context: Context,
  runs: RunStore,
  { job, plan, events, files }: JournalOptions,
): Promise<Journal> {
  const { run = '', earlier, rows } = job;
  const { now } = context;
  const { ledger } = plan.run;
  try {
    if (earlier) return await Journal.reopen(runs.pathOf(run), earlier.image, { plan, ledger, now });
    const { invalid, skipped } = rows.countStates();
    const { profile } = await context.settings();
    const { events: file } = files;
    const header = {
      ...({ journal: 3, run, ...job.identity, file: job.file, name: job.name } as const),
      profile: profile?.value ?? null,
      guards: job.guards[0] ?? { allowZero: true },
      events: file === undefined || file === '-' ? null : file.path,
      ...{ rows: rows.length, invalid, skipped, started: now().toISOString() },
    };
    return await Journal.create(runs.pathOf(run), header, { plan, ledger, now });
  } catch (error) {
    await events?.discard().catch(() => {});
    throw error;
  }
}

/** Does the work with signals turned into a stop: the first waits for pending requests, the second abandons them. */
async function whileWriting<Value>(
  { interrupts, notice }: Context,
  { stop }: Run,
  work: () => Promise<Value>,
): Promise<Value> {
  const release = stop.takeSignals(interrupts, (signal) => {
    stop.stop(interruption(signal));
    const waiting = 'stopping: waiting up to 10 s for requests in flight; press Ctrl-C again to abandon them';
    if (!stop.cut.aborted) void notice(waiting);
  });
  try {
    return await work();
  } finally {
    release();
  }
}

/** Reads the rows back; a failure is reported with the rest, because the rows are written in any case. */
async function readBack(run: Run, name: string, problems: unknown[]): Promise<number | undefined> {
  try {
    return await verifyRows(run);
  } catch (error) {
    if (error instanceof StoppedError) return undefined;
    if (!(error instanceof CliError)) throw error;
    problems.push(new CliError(error.kind, `read back ${name}: ${error.message}`, error.details));
    return undefined;
  }
}

/** A row that an earlier session may have written, and that this session did not reach, stays unknown. */
function settleUnknown({ rows, ledger }: Run): void {
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

async function collect(problems: unknown[], work: () => Promise<void> | undefined): Promise<void> {
  try {
    await work();
  } catch (error) {
    problems.push(error);
  }
}

interface Activity {
  /** Such as `applying`. */
  readonly label: string;
  readonly unit: string;
  readonly flags: SessionFlags;
  state(): ProgressState;
}

/** Shows the progress of the work on stderr. */
async function withProgress<Value>(
  context: Context,
  { label, unit, flags, state }: Activity,
  work: () => Promise<Value>,
): Promise<Value> {
  const { io, liveLine } = context;
  const style = await context.style('stderr');
  const mode = flags.progress ?? (context.flags.quiet ? 'none' : 'auto');
  const progress = startProgress(io, liveLine, { mode, label, unit, style, read: state });
  try {
    return await work();
  } finally {
    await progress.stop();
  }
}
