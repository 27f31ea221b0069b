import { confirmWrite } from '../../asking.ts';
import type { Check } from '../../checks/check.ts';
import {
  checkSelection,
  createReadChecks,
  createSelectedWriteChecks,
  type SmokeOptions,
} from '../../checks/check-table.ts';
import { toHumanReport } from '../../checks/report/human-report.ts';
import { toAnnotations, toJsonReport } from '../../checks/report/machine-reports.ts';
import {
  addStepSummary,
  parseReports,
  prepareReports,
  type Reports,
  writeReports,
} from '../../checks/report/report-files.ts';
import type { SmokeReport } from '../../checks/report/smoke-report.ts';
import { runSmoke } from '../../checks/run-smoke.ts';
import type { Context } from '../../context.ts';
import { errorText } from '../../output/error.ts';
import type { Output } from '../../output/print.ts';
import { monotonicMs } from '../../process/deadline.ts';
import {
  CliError,
  exitCodes,
  InterruptedError,
  messageOf,
  OutputClosedError,
  UsageError,
} from '../../process/errors.ts';
import { inTwoSteps } from '../../process/signals.ts';
import { openService, timeoutOfChecks } from './open-service.ts';
import type { SmokeFlags } from './smoke-flags.ts';

const defaults = { waitForMs: 60_000, maxTimeMs: 600_000 };

/** Runs the checks, shows their progress, writes the reports, and sets the exit code. */
export async function runSmokeCommand(context: Context, flags: SmokeFlags): Promise<Output | undefined> {
  const options = await toSmokeOptions(context, flags);
  const reports = parseReports(flags.report ?? [], context.io.cwd);
  const checks = [...createReadChecks(options), ...createSelectedWriteChecks(options, new Set())];
  checkSelection(options, checks);
  if (context.flags.dryRun) return { pages: [toListRecords(checks)] };
  if (options.write) await confirmWrite(context, { what: 'write test records and remove them' });
  const service = await openService(context);
  // Throws if a path leads out of the service.
  for (const { path } of [...options.waitFor, ...options.expect])
    if (path !== undefined) service.client.toRawRequest({ method: 'GET', path });
  await prepareReports(reports);
  const display = await createDisplay(context, flags.brief === true);
  const report = await runSmoke(service, options, display.observer, context.interrupts);
  // A signal does not end the reports at once, but a pipe may have no reader.
  const steps = { stop: () => {}, stopMs: 1000 };
  const reportErrors = await inTwoSteps(context, steps, async () => [
    ...(await display.printReport(report, reports)),
    ...(await writeReports(report, reports)),
  ]);
  await writeStepSummary(context, report, reports);
  await endWithVerdicts(context, report, reportErrors);
  return undefined;
}

/** Makes the options from flags and settings. */
async function toSmokeOptions(context: Context, flags: SmokeFlags): Promise<SmokeOptions> {
  const { offline, service } = context.settings;
  const { waitFor = [], expect = [], only = [], skip = [] } = flags;
  const waitMs = flags.wait ?? (waitFor.length > 0 ? defaults.waitForMs : 0);
  return {
    contract: await context.contract(),
    timeoutMs: timeoutOfChecks(context),
    waitMs,
    waitFor,
    expect,
    only: only.flat(),
    skip: skip.flat(),
    hasTls: !offline && service?.startsWith('https:') === true,
    strict: flags.strict === true,
    write: flags.write === true,
    maxTimeMs: flags.maxTime ?? (waitMs > 0 ? undefined : defaults.maxTimeMs),
  };
}

/**
 * Creates the display. It shows the current check on the live line, and at the end the report for people: on stdout, or on
 * stderr if stdout has the JSON report.
 */
async function createDisplay(context: Context, brief: boolean) {
  const { io, quiet, liveLine } = context;
  // Only the flag counts here. A format in the config or the environment is for records.
  const { output = 'table' } = context.flags;
  if (output !== 'table' && output !== 'json')
    throw new UsageError(`-o ${output}: smoke prints a report for people, or with -o json the JSON report`);
  const isJson = output === 'json';
  const name = isJson ? 'stderr' : 'stdout';
  const style = await context.style(name);
  let label = '';
  let startedMs = monotonicMs();
  const hide = quiet
    ? () => {}
    : liveLine.show(() => {
        const seconds = Math.floor((monotonicMs() - startedMs) / 1000);
        return seconds === 0 ? label : `${label}, ${seconds} s`;
      });
  return {
    observer: {
      showCheck(id: string, number: number, count: number) {
        label = `${id} (${number} of ${count})`;
        startedMs = monotonicMs();
      },
      print: context.print,
    },
    /** Prints the report. @returns the first error, unless a reader closed its pipe. */
    async printReport(report: SmokeReport, { github }: Reports): Promise<Error[]> {
      hide();
      const isSilent = name === 'stderr' && quiet;
      const text = isSilent ? '' : toHumanReport(report, { style, isTerminal: io[name].isTerminal, brief });
      const settlements = await Promise.allSettled([
        text && io[name].write(text),
        github && io[name].write(toAnnotations(report), { isRaw: true }),
        isJson && io.stdout.write(toJsonReport(report, io.stdout.isTerminal ? 2 : 0), { isRaw: true }),
      ]);
      const errors = settlements.flatMap((settlement) =>
        settlement.status === 'rejected' ? [settlement.reason] : [],
      );
      return errors.filter((error) => !(error instanceof OutputClosedError)).slice(0, 1);
    },
  };
}

/** Returns the list of `--dry-run`. */
function toListRecords(checks: readonly Check[]) {
  const plannedChecks = checks.filter(({ isOptional }) => !isOptional);
  return plannedChecks.map(({ id, operation }) => ({
    id,
    operation: operation?.id ?? null,
    stability: operation?.stability ?? null,
  }));
}

/** Appends the report to the step summary of GitHub. An error does not change the exit code. */
async function writeStepSummary(
  { io, warn }: Context,
  report: SmokeReport,
  { github }: Reports,
): Promise<void> {
  const file = io.env.GITHUB_STEP_SUMMARY;
  if (!github || !file) return;
  await addStepSummary(report, file).catch((error) => warn(`note: the step summary: ${messageOf(error)}`));
}

/** Sets the exit code of the checks. If it is 0, the first report that could not be written decides. */
async function endWithVerdicts(
  context: Context,
  { exitCode, signal, verdicts }: SmokeReport,
  reportErrors: readonly Error[],
): Promise<void> {
  const [firstError] = reportErrors;
  if (firstError && exitCode === exitCodes.done) throw firstError;
  const style = await context.style('stderr');
  for (const error of reportErrors)
    if (error instanceof CliError) await context.io.stderr.write(errorText(error, style));
  if (signal) throw new InterruptedError(signal);
  if (exitCode === exitCodes.usage)
    throw new UsageError(verdicts.at(-1)?.findings[0].reason ?? 'no check ran');
  context.setExitCode(exitCode);
}
