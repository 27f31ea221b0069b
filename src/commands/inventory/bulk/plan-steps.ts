import { confirmWrite } from '../../../asking/confirmation.ts';
import type { Plan } from '../../../bulk/plan.ts';
import type { Session } from '../../../bulk/session.ts';
import type { Context } from '../../../context.ts';
import { counted } from '../../../text.ts';
import type { BulkJob } from './job.ts';
import { totalsBlock, totalsLines } from './plan-totals.ts';
import { showPlan } from './plan-view.ts';

interface Planned {
  readonly plan: Plan;
  readonly session: Session;
}

/** Shows the plan to whoever can be asked, and asks. @throws UsageError where the answer is no, or nobody can be asked. */
export async function confirmPlan(context: Context, job: BulkJob, { plan, session }: Planned): Promise<void> {
  // A run that goes on by its own plan has been confirmed before.
  const destructive = job.earlier === undefined || job.earlier.mustPlan;
  const isAsked = destructive && !context.flags.yes;
  if (isAsked && context.prompt()) await showPlan(context, await context.client('many'), plan);
  await tellPlan(context, plan, session);
  await confirmWrite(context, { what: deedsText(plan), destructive });
}

/** As `set 12 counts and remove 1 entry`. */
function deedsText({ changes, removed }: Plan): string {
  const set = changes - removed;
  return [
    ...(set > 0 ? [`set ${counted(set, 'count', 'counts')}`] : []),
    ...(removed > 0 ? [`remove ${counted(removed, 'entry', 'entries')}`] : []),
  ].join(' and ');
}

/** What the plan adds up to, and what it finds that cannot be done: aligned for a person, plain lines in a log. */
export async function tellPlan(context: Context, plan: Plan, { ledger }: Session): Promise<void> {
  const { io, quiet } = context;
  const failures = ledger.failures();
  if (quiet) return;
  if (io.stderr.isTerminal && !io.env.CI)
    await io.stderr.write(totalsBlock(plan, failures, await context.style('stderr')));
  else for (const line of totalsLines(plan, failures)) await context.notice(line);
}
