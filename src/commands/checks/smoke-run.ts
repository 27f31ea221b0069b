import { confirmWrite } from '../../asking.ts';
import type { Check } from '../../checks/check.ts';
import {
  checkSelection,
  createReadChecks,
  createSelectedWriteChecks,
  type SmokeOptions,
} from '../../checks/check-table.ts';
import { type SmokeReport, toHumanReport } from '../../checks/report/human-report.ts';
import {
  parseReports,
  prepareReports,
  rejectionsOf,
  toAnnotations,
  toJsonReport,
  writeReports,
} from '../../checks/report/machine-reports.ts';
import { type Observer, runSmoke } from '../../checks/run-smoke.ts';
import type { Context } from '../../context.ts';
import { errorText } from '../../output/error.ts';
import type { Output } from '../../output/print.ts';
import {
  CliError,
  exitCodes,
  InterruptedError,
  OutputClosedError,
  UsageError,
} from '../../process/errors.ts';
import { inTwoSteps } from '../../process/signals.ts';
import { hasTls, openService } from './open-service.ts';
import type { SmokeFlags } from './smoke-flags.ts';

const defaults = { waitForMs: 60_000, maxTimeMs: 600_000 };

/** Runs the checks, shows their progress, writes the reports, and sets the exit code. */
export async function runSmokeCommand(context: Context, flags: SmokeFlags): Promise<Output | undefined> {
  const { io, interrupts, liveLine, print, quiet } = context;
  const options = await toSmokeOptions(context, flags);
  const reports = parseReports(flags.report ?? [], io.cwd);
  const checks = [...createReadChecks(options), ...createSelectedWriteChecks(options, new Set())];
  checkSelection(options, checks);
  if (context.flags.dryRun) return { pages: [toListRecords(checks)] };
  if (options.write) await confirmWrite(context, { what: 'write test records and remove them' });
  const service = await openService(context, flags.strict);
  // Throws if a path leads out of the service.
  for (const { path } of [...options.waitFor, ...options.expect])
    if (path !== undefined) service.client.toRawRequest({ method: 'GET', path });
  await prepareReports(reports);
  // Only the flag counts here. A format in the config or the environment is for records.
  const { output = 'table' } = context.flags;
  if (output !== 'table' && output !== 'json')
    throw new UsageError(`-o ${output}: smoke prints a report for people, or with -o json the JSON report`);
  let label = '';
  const hide = quiet ? () => {} : liveLine.show(() => label);
  const observer: Observer = {
    onBegin(id, number, count) {
      label = `${id} (${number} of ${count})`;
    },
    print,
  };
  const report = await runSmoke(service, options, observer, interrupts);
  hide();
  // A signal does not end the reports at once, but a pipe may have no reader.
  const steps = { stop: () => {}, stopMs: 1000 };
  const reportErrors = await inTwoSteps(context, steps, async () => [
    ...(await printReport(context, report, {
      ...reports,
      brief: flags.brief === true,
      isJson: output === 'json',
    })),
    ...(await writeReports(report, reports, io.env.GITHUB_STEP_SUMMARY)),
  ]);
  await endWithVerdicts(context, report, reportErrors);
  return undefined;
}

/** Makes the options from flags and settings. */
async function toSmokeOptions(context: Context, flags: SmokeFlags): Promise<SmokeOptions> {
  const { waitFor = [], expect = [], only = [], skip = [] } = flags;
  const waitMs = flags.wait ?? (waitFor.length > 0 ? defaults.waitForMs : 0);
  return {
    contract: await context.contract(),
    waitMs,
    waitFor,
    expect,
    only: only.flat(),
    skip: skip.flat(),
    hasTls: hasTls(context.settings),
    write: flags.write === true,
    maxTimeMs: flags.maxTime ?? (waitMs > 0 ? undefined : defaults.maxTimeMs),
  };
}

/**
 * Prints the report for people on stdout, or on stderr if stdout has the JSON report.
 *
 * @returns the first error, unless a reader closed its pipe.
 */
async function printReport(
  context: Context,
  report: SmokeReport,
  { brief, isJson, github }: { readonly brief: boolean; readonly isJson: boolean; readonly github: boolean },
): Promise<Error[]> {
  const { io, quiet } = context;
  const name = isJson ? 'stderr' : 'stdout';
  const layout = { style: await context.style(name), brief };
  const errors = await rejectionsOf([
    !(isJson && quiet) && io[name].write(toHumanReport(report, layout)),
    github && io[name].write(toAnnotations(report), { isRaw: true }),
    isJson && io.stdout.write(toJsonReport(report, io.stdout.isTerminal ? 2 : 0), { isRaw: true }),
  ]);
  return errors.filter((error) => !(error instanceof OutputClosedError)).slice(0, 1);
}

/** Returns the list of `--dry-run`. */
function toListRecords(checks: readonly Check[]) {
  // A check that runs twice has one result.
  const planned = new Map(checks.map((check) => [check.id, check]));
  return [...planned.values()].map(({ id, operation }) => ({
    id,
    operation: operation?.id ?? null,
    stability: operation?.stability ?? null,
  }));
}

/** Sets the exit code of the checks. If it is 0, the first report that could not be written decides. */
async function endWithVerdicts(
  context: Context,
  { exitCode, signal, results }: SmokeReport,
  reportErrors: readonly Error[],
): Promise<void> {
  const [firstError] = reportErrors;
  if (firstError && exitCode === exitCodes.done) throw firstError;
  const style = await context.style('stderr');
  for (const error of reportErrors)
    if (error instanceof CliError) await context.io.stderr.write(errorText(error, style));
  if (signal) throw new InterruptedError(signal);
  if (exitCode === exitCodes.usage)
    throw new UsageError(results.at(-1)?.findings[0].reason ?? 'no check ran');
  context.setExitCode(exitCode);
}
