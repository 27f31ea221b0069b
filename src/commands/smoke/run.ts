import { confirmWrite } from '../../asking.ts';
import { cleanupCheck } from '../../checks/cleanup.ts';
import { checkConditions } from '../../checks/conditions.ts';
import { listChecks } from '../../checks/plan.ts';
import { parseReports, prepareReports, writeReports } from '../../checks/report/files.ts';
import type { SmokeReport } from '../../checks/report/report.ts';
import { runSmoke } from '../../checks/smoke.ts';
import { openSockets } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { propertyColumns } from '../../output/columns.ts';
import { errorText } from '../../output/error.ts';
import { race } from '../../process/deadline.ts';
import { CliError, exitCodes, InterruptedError, UsageError } from '../../process/errors.ts';
import { createDisplay } from './display.ts';
import { type SmokeFlags, toSmokeOptions } from './flags.ts';

/** Runs the checks, shows them, writes the reports, and sets the exit code. */
export async function smoke(context: Context, flags: SmokeFlags): Promise<void> {
  const settings = await context.settings();
  const contract = await context.contract();
  const options = toSmokeOptions(flags, settings, contract);
  const reports = parseReports(flags.report ?? [], context.io.cwd);
  const checks = listChecks(contract, options);
  if (context.flags.dryRun) {
    const printer = await context.printer();
    const planned = checks.map(({ id, operation }) => ({
      id,
      operation: operation?.id ?? null,
      stability: operation?.stability ?? null,
    }));
    const columns = propertyColumns(['id', 'operation', 'stability']);
    return printer.records([planned], { noun: 'checks', columns });
  }
  if (options.write) await confirmWrite(context, { what: 'write test records and remove them' });
  const client = await context.client();
  const target = settings.offline ? 'the embedded store' : client.baseUrl;
  checkConditions(client, [...options.waitFor, ...options.expect]);
  const sockets = await openSockets(context, client.baseUrl);
  await prepareReports(reports, flags.force === true);
  const display = await createDisplay(context, {
    target,
    ids: [...checks.map(({ id }) => id), ...(options.write ? [cleanupCheck.id] : [])],
    options,
    brief: flags.brief === true,
    annotations: reports.github,
  });
  const subject = { client, options, sockets, mask: context.secrets.mask, now: context.now };
  const report = await runSmoke(subject, target, display, context.interrupts);
  const [unshown, unwritten] = await despiteSignals(context, async () => [
    await display.end(report),
    await writeReports(report, reports, context.io.env.GITHUB_STEP_SUMMARY),
  ]);
  await leave(context, report, unshown ? [unshown, ...unwritten] : unwritten);
}

/** Finishes the reports although a signal comes; a pipe that nobody reads is given up a second after it. */
function despiteSignals<Value>({ interrupts }: Context, work: () => Promise<Value>): Promise<Value> {
  const late = new AbortController();
  const giveBack = interrupts.take((signal) => {
    setTimeout(() => late.abort(new InterruptedError(signal)), 1000).unref();
  });
  return race({ signals: [late.signal] }, work).finally(giveBack);
}

/** The exit code of the checks takes precedence over a report that could not be written. */
async function leave(
  context: Context,
  { exitCode, signal }: SmokeReport,
  failures: readonly Error[],
): Promise<void> {
  const [failure] = failures;
  if (failure && exitCode === exitCodes.done) throw failure;
  const style = await context.style('stderr');
  for (const error of failures)
    if (error instanceof CliError) await context.io.stderr.write(errorText(error, style));
  if (signal) throw new InterruptedError(signal);
  if (exitCode === exitCodes.usage) throw new UsageError('no check ran: every one was skipped');
  context.exitCode = exitCode;
}
