import { offeredOperation } from '../../../api/contract.ts';
import { toRows } from '../../../bulk/guards.ts';
import { type Keeper, keepEarlierRun, keepNewRun } from '../../../bulk/run-keeper.ts';
import type { RunStore } from '../../../bulk/run-store.ts';
import type { Session } from '../../../bulk/session.ts';
import type { Context } from '../../../context.ts';
import { type RunFlags, toErrorLimit } from './flags.ts';
import type { BulkJob, BulkRun } from './job.ts';
import { openSession, rejectsFile } from './open-session.ts';
import { checkChangesView } from './plan-view.ts';
import { BulkRunner } from './runner.ts';
import { summaryView } from './summary-view.ts';

/**
 * Plans the rows of a job, asks, writes them and reports; with --dry-run shows the plan and ends.
 *
 * @throws UsageError where the service, as it is bound, offers no way to write a count; CliError where not every row is as
 *   the job says, when all has been reported.
 */
export async function runBulk(context: Context, runs: RunStore, run: BulkRun): Promise<void> {
  offeredOperation((await context.client('many')).contract, 'updateInventory');
  await checkView(context);
  const rejects = await rejectsFile(context, run.flags);
  const errorLimit = toErrorLimit(run.flags);
  const session = await openSession(context, run.job, run.flags);
  const runner = new BulkRunner(context, run, session);
  if (context.flags.dryRun) {
    await runner.preview();
    return;
  }
  session.limitErrors(Math.max(1, toRows(errorLimit, run.job.rows.length)));
  await runner.execute(await keep(context, runs, { session, job: run.job }), rejects);
}

/** Settles `--fields` and `--sort` of what will be printed while nothing has been sent. */
async function checkView(context: Context): Promise<void> {
  if (context.flags.dryRun) await checkChangesView(context);
  else await (await context.printer()).check(summaryView);
}

/** Prints what applying a job would change, and gives whether that is anything. */
export async function showDifferences(context: Context, job: BulkJob, flags: RunFlags): Promise<boolean> {
  await checkChangesView(context);
  const session = await openSession(context, job, flags);
  const plan = await new BulkRunner(context, { job, flags }, session).preview();
  return plan.changes > 0 || session.ledger.errorCount > 0;
}

/** Opens the journal that a job is kept in. */
async function keep(
  context: Context,
  runs: RunStore,
  { session, job }: { readonly session: Session; readonly job: BulkJob },
): Promise<Keeper> {
  const { now } = context;
  if (job.earlier) return keepEarlierRun(runs, session, { ...job.earlier, now });
  const { invalid, skipped } = job.rows.countStates();
  const { profile } = await context.settings();
  const header = {
    ...job.identity,
    file: job.file,
    name: job.name,
    profile: profile?.value ?? null,
    options: job.write,
    rows: job.rows.length,
    invalid,
    skipped,
    started: now().toISOString(),
  };
  return keepNewRun(runs, session, { header, now });
}
