import { checkGuards } from '../../../bulk/guards.ts';
import type { NewFile } from '../../../bulk/new-file.ts';
import type { Plan } from '../../../bulk/plan.ts';
import type { Keeper } from '../../../bulk/run-keeper.ts';
import type { Session } from '../../../bulk/session.ts';
import type { StopReason } from '../../../bulk/stop.ts';
import { summarise } from '../../../bulk/summary.ts';
import { monotonicMs } from '../../../clock.ts';
import type { Context } from '../../../context.ts';
import { CliError, InterruptedError } from '../../../errors.ts';
import type { Signal } from '../../../io.ts';
import type { BulkRun } from './job.ts';
import { startEvents } from './open-session.ts';
import { confirmPlan, tellPlan } from './plan-steps.ts';
import { printChanges } from './plan-view.ts';
import { report, saveRejects } from './report.ts';
import { withProgress, withSignals } from './while-running.ts';

/** One session of a bulk command, from its plan to its report. */
export class BulkRunner {
  private readonly context: Context;
  private readonly run: BulkRun;
  private readonly session: Session;
  private elapsedMs = 0;

  constructor(context: Context, run: BulkRun, session: Session) {
    this.context = context;
    this.run = run;
    this.session = session;
  }

  /** Shows the plan. @throws UsageError where a guard would stop it. */
  async preview(): Promise<Plan> {
    const { context, session, run } = this;
    const plan = await this.plan();
    await printChanges(context, await context.client('many'), plan);
    await tellPlan(context, plan, session);
    if (run.job.guards) checkGuards(plan, run.job.guards);
    return plan;
  }

  async execute(keeper: Keeper, rejects: NewFile | undefined): Promise<void> {
    const { plan, endEvents } = await this.prepare(keeper);
    try {
      keeper.begin(plan);
      const readBack = await this.write(plan);
      await this.finish(keeper, { ...readBack, plan, rejects, eventsError: await problemOf(endEvents()) });
    } finally {
      await keeper.end();
    }
  }

  /** Opens what is told, plans, and asks; a session that goes no further leaves nothing behind. */
  private async prepare(keeper: Keeper): Promise<{ plan: Plan; endEvents: () => Promise<void> }> {
    const { context, run, session } = this;
    let endEvents = async () => {};
    try {
      endEvents = await startEvents(context, session, run.flags);
      const plan = await this.plan();
      if (run.job.guards) checkGuards(plan, run.job.guards);
      if (plan.changes > 0 && !session.stop.reason) await confirmPlan(context, run.job, { plan, session });
      return { plan, endEvents };
    } catch (error) {
      await problemOf(endEvents());
      await keeper.leave();
      throw error;
    }
  }

  private async plan(): Promise<Plan> {
    const { context, session, run } = this;
    const { earlier, write } = run.job;
    if (write.blind || (earlier && !earlier.mustPlan)) return session.planAsKnown();
    const state = () => ({ done: session.entriesRead });
    const reading = { label: 'reading counts', unit: 'entries', mode: run.flags.progress, read: state };
    const stop = (signal: Signal) => {
      session.stop.stop(interruption(signal));
      session.stop.giveUp();
    };
    const plan = await this.timed(() =>
      withSignals(context, stop, () => withProgress(context, reading, () => session.plan())),
    );
    const { reason } = session.stop;
    if (reason?.kind === 'interrupted' || reason?.kind === 'terminated')
      throw new InterruptedError(reason.kind === 'interrupted' ? 'SIGINT' : 'SIGTERM');
    return plan;
  }

  /** Writes, and reads back where that is wanted. */
  private write(plan: Plan): Promise<ReadBack> {
    const { context, session, run } = this;
    const { ledger, stop, pace } = session;
    const settledBefore = ledger.settledCount;
    const state = () => ({
      done: ledger.settledCount - settledBefore,
      total: plan.changes,
      failed: ledger.errorCount,
      concurrency: pace.limit,
    });
    const writing = { label: run.job.verb, unit: 'rows', mode: run.flags.progress, read: state };
    const onSignal = (signal: Signal) => {
      if (stop.reason) return stop.giveUp();
      stop.stop(interruption(signal));
      const waiting = 'stopping: waits up to 10 s for requests in flight; once more gives them up';
      if (!stop.cut.aborted) void context.notice(waiting);
    };
    return this.timed(() =>
      withSignals(context, onSignal, async () => {
        await withProgress(context, writing, () => session.write(plan));
        return run.flags.verify ? this.readBack() : {};
      }),
    );
  }

  /** What was written is told of, whether it can be read back or not. */
  private async readBack(): Promise<ReadBack> {
    try {
      return { verified: await this.session.verify() };
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      const { kind, message, details } = error;
      return { unread: new CliError(kind, `read back ${this.run.job.name}: ${message}`, details) };
    }
  }

  private async finish(keeper: Keeper, facts: FinishFacts): Promise<void> {
    const { context, run, session, elapsedMs } = this;
    const { plan, verified, unread, eventsError } = facts;
    const { ledger, pace, stop } = session;
    const { job } = run;
    const isWorthKeeping = plan.changes > 0 || ledger.errorCount > 0 || job.earlier !== undefined;
    const lost = await problemOf(isWorthKeeping ? keeper.end() : keeper.leave());
    const saved = await saveRejects(context, run, { session, keeper, file: facts.rejects });
    const { target } = job.identity;
    const id = isWorthKeeping ? keeper.run : undefined;
    const ended = { run: id, name: job.name, target, verified, stop: stop.reason, ledger, pace, elapsedMs };
    const summary = summarise(ended);
    if (summary.unprocessed === 0) await job.finished?.(id);
    const isTold = lost?.message === stop.reason?.message;
    const problem = (isTold ? undefined : lost) ?? unread ?? eventsError ?? saved.error;
    await report(context, run, { summary, rejects: saved.path, problem });
  }

  private async timed<Value>(work: () => Promise<Value>): Promise<Value> {
    const started = monotonicMs();
    try {
      return await work();
    } finally {
      this.elapsedMs += monotonicMs() - started;
    }
  }
}

interface ReadBack {
  /** How many rows were read; undefined where they were not to be, or could not. */
  readonly verified?: number | undefined;
  /** Why they could not. */
  readonly unread?: CliError | undefined;
}

interface FinishFacts extends ReadBack {
  readonly plan: Plan;
  readonly rejects: NewFile | undefined;
  readonly eventsError: Error | undefined;
}

function interruption(signal: Signal): StopReason {
  return signal === 'SIGINT'
    ? { kind: 'interrupted', message: 'interrupted' }
    : { kind: 'terminated', message: 'terminated' };
}

function problemOf(work: Promise<void>): Promise<Error | undefined> {
  return work.then(
    () => undefined,
    (error) => error,
  );
}
