import { confirmWrite } from '../../asking.ts';
import type { Check } from '../../checks/check.ts';
import { checkSelection, readChecks, selectedWriteChecks } from '../../checks/check-table.ts';
import { toAnnotations } from '../../checks/report/github-report.ts';
import { toHumanReport } from '../../checks/report/human-report.ts';
import { toJsonReport } from '../../checks/report/machine-reports.ts';
import {
  addStepSummary,
  parseReports,
  prepareReports,
  type Reports,
  writeReports,
} from '../../checks/report/report-files.ts';
import type { SmokeReport } from '../../checks/report/smoke-report.ts';
import type { CheckContext } from '../../checks/round.ts';
import { type Observer, runSmoke } from '../../checks/run-smoke.ts';
import { openSockets } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { propertyColumns } from '../../output/columns.ts';
import { errorText } from '../../output/error.ts';
import { monotonicMs, race } from '../../process/deadline.ts';
import {
  CliError,
  exitCodes,
  InterruptedError,
  messageOf,
  OutputClosedError,
  UsageError,
} from '../../process/errors.ts';
import { type SmokeFlags, toSmokeOptions } from './smoke-flags.ts';

/** Runs the checks, shows them, writes the reports, and sets the exit code. */
export async function runSmokeCommand(context: Context, flags: SmokeFlags): Promise<void> {
  const { settings } = context;
  const contract = await context.contract();
  const options = toSmokeOptions(flags, settings, contract);
  const reports = parseReports(flags.report ?? [], context.io.cwd);
  const hasTls = !settings.offline && settings.get('base-url')?.startsWith('https:') === true;
  const selection = { contract, options, hasTls, hasToken: false };
  const writing = { creations: new Set<never>(), createSignal: context.interrupts.signal };
  const checks = [...readChecks(selection), ...selectedWriteChecks(selection, writing)];
  checkSelection(options, checks);
  if (context.flags.dryRun) return printList(context, checks);
  if (options.write) await confirmWrite(context, { what: 'write test records and remove them' });
  const client = await context.client();
  // A path must not lead out of the service.
  for (const { path } of [...options.waitFor, ...options.expect])
    if (path !== undefined) client.toRawRequest({ method: 'GET', path });
  const sockets = await openSockets(context, client.baseUrl, options.timeoutMs);
  await prepareReports(reports, flags.force === true);
  const { observer, printReport } = await createDisplay(context, flags);
  const name = settings.offline ? 'the embedded store' : client.baseUrl;
  const target = { name, client, options, sockets, mask: context.secrets.mask, now: context.now };
  const report = await runSmoke(target, observer, context.interrupts);
  const failures = await despiteSignals(context, async () => [
    ...(await printReport(report, reports)),
    ...(await writeReports(report, reports)),
  ]);
  await writeStepSummary(context, report, reports);
  await setExitCode(context, report, failures);
}

/**
 * Shows the current check on the live line, and at the end the report for people: on stdout, or on stderr if stdout
 * carries JSON. A reader that goes away, or a full disk, does not end a run.
 */
async function createDisplay(context: Context, flags: SmokeFlags) {
  const { io, quiet, liveLine } = context;
  const { format } = await context.printer();
  // A format of the config or the environment is meant for records.
  const { output = 'table' } = context.flags;
  if (output !== 'table' && output !== 'json')
    throw new UsageError(`-o ${output}: smoke prints a report for people, or with -o json the JSON report`);
  const name = format === 'json' ? 'stderr' : 'stdout';
  const style = await context.style(name);
  let label = '';
  let startedMs = monotonicMs();
  const hide = quiet
    ? () => {}
    : liveLine.show(() => {
        const seconds = Math.floor((monotonicMs() - startedMs) / 1000);
        return seconds === 0 ? label : `${label}, ${seconds} s`;
      });
  const observer: Observer = {
    check(id, at, count) {
      label = `${id} (${at} of ${count})`;
      startedMs = monotonicMs();
    },
    print: context.print,
  };
  /** Prints the report. @returns the error, if it could not be written completely. */
  const printReport = async (report: SmokeReport, { github }: Reports) => {
    hide();
    const isSilent = name === 'stderr' && quiet;
    const brief = flags.brief === true;
    const text = isSilent ? '' : toHumanReport(report, { style, width: io[name].width, brief });
    const outcomes = await Promise.allSettled([
      text && io[name].write(text),
      github && io[name].write(toAnnotations(report), { isRaw: true }),
      format === 'json' && io.stdout.write(toJsonReport(report, io.stdout.isTerminal ? 2 : 0)),
    ]);
    const failures = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as Error] : [],
    );
    return failures.filter((error) => !(error instanceof OutputClosedError)).slice(0, 1);
  };
  return { observer, printReport };
}

/** Prints the list of `--dry-run`. */
async function printList(context: Context, checks: readonly Check<CheckContext>[]): Promise<void> {
  const printer = await context.printer();
  const plannedChecks = checks.filter(({ isOptional }) => !isOptional);
  const rows = plannedChecks.map(({ id, operation }) => ({
    id,
    operation: operation?.id ?? null,
    stability: operation?.stability ?? null,
  }));
  const columns = propertyColumns(['id', 'operation', 'stability']);
  await printer.records([rows], { noun: 'checks', columns });
}

/** Finishes the reports although a signal comes. A pipe that nobody reads is abandoned a second after the signal. */
function despiteSignals<Value>({ interrupts }: Context, work: () => Promise<Value>): Promise<Value> {
  const limit = new AbortController();
  const release = interrupts.take((signal) => {
    setTimeout(() => limit.abort(new InterruptedError(signal)), 1000).unref();
  });
  return race({ signals: [limit.signal] }, work).finally(release);
}

/** Adds the report to the file that GitHub names. An error does not change the exit code. */
async function writeStepSummary(
  { io, warn }: Context,
  report: SmokeReport,
  { github }: Reports,
): Promise<void> {
  const file = io.env.GITHUB_STEP_SUMMARY;
  if (!github || !file) return;
  await addStepSummary(report, file).catch((error) => warn(`note: the step summary: ${messageOf(error)}`));
}

/** Sets the exit code of the checks. It takes precedence over a report that could not be written. */
async function setExitCode(
  context: Context,
  { exitCode, signal, results }: SmokeReport,
  failures: readonly Error[],
): Promise<void> {
  const [failure] = failures;
  if (failure && exitCode === exitCodes.done) throw failure;
  const style = await context.style('stderr');
  for (const error of failures)
    if (error instanceof CliError) await context.io.stderr.write(errorText(error, style));
  if (signal) throw new InterruptedError(signal);
  if (exitCode === exitCodes.usage) throw new UsageError(results.at(-1)?.reason ?? 'no check ran');
  context.exitCode = exitCode;
}
