import { appendFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { confirmWrite } from '../../asking.ts';
import { createReadChecks, createSelectedWriteChecks, type SmokeOptions } from '../../checks/check-table.ts';
import { type SmokeReport, toHumanReport } from '../../checks/report/human-report.ts';
import {
  toAnnotations,
  toJsonReport,
  toJunitReport,
  toStepSummary,
} from '../../checks/report/machine-reports.ts';
import { runSmoke } from '../../checks/run-smoke.ts';
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
import { ensureFolder, writeFileAtomic } from '../../process/files.ts';
import { inTwoSteps } from '../../process/signals.ts';
import { fileError } from '../../process/system-error.ts';
import { hasTls, openService } from './open-service.ts';
import type { SmokeFlags } from './smoke-flags.ts';

const defaults = { waitForMs: 60_000, maxTimeMs: 600_000 };

/** Runs the checks, shows their progress, writes the reports, and sets the exit code. */
export async function runSmokeCommand(context: Context, flags: SmokeFlags): Promise<Output | undefined> {
  const { interrupts, print } = context;
  const options = await toSmokeOptions(context, flags);
  const files = parseReports(flags.report);
  // Only the flag counts here. A format in the config or the environment is for records.
  const { output = 'table' } = context.flags;
  if (output !== 'table' && output !== 'json')
    throw new UsageError(`-o ${output}: smoke prints a report for people, or with -o json the JSON report`);
  if (context.flags.dryRun) return { pages: [toListRecords(options)] };
  if (options.write) await confirmWrite(context, { what: 'write test records and remove them' });
  const service = await openService(context, flags.strict);
  // Throws if a path leads out of the service.
  for (const { path } of [...options.waitFor, ...options.expect])
    if (path !== undefined) service.client.toRawRequest({ method: 'GET', path });
  const report = await runSmoke(service, options, print, interrupts);
  // A signal does not end the reports at once, but a pipe may have no reader.
  const steps = { stop: () => {}, stopMs: 1000 };
  const isJson = output === 'json';
  const errors = await inTwoSteps(context, steps, () => deliver(context, flags, report, files, isJson));
  await endWithResults(context, report, errors);
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

/** Returns the list of `--dry-run`. */
function toListRecords(options: SmokeOptions) {
  const checks = [...createReadChecks(options), ...createSelectedWriteChecks(options, new Set())];
  // A check that runs twice has one result.
  const planned = new Map(checks.map((check) => [check.id, check]));
  return Array.from(planned.values(), ({ id, operation }) => ({
    id,
    operation: operation?.id ?? null,
    stability: operation?.stability ?? null,
  }));
}

/** A report that goes to a file. */
interface FileReport {
  readonly path: string;
  print(report: SmokeReport): string;
}

/** Reads the values `junit=<file>` and `json=<file>` of `--report`. @throws UsageError for anything else but `github` */
function parseReports(values: readonly string[] = []): FileReport[] {
  return values
    .filter((value) => value !== 'github')
    .map((value) => {
      const [, format, path = ''] = /^(junit|json)=(.+)$/s.exec(value) ?? [];
      if (format === undefined)
        throw new UsageError(`--report '${value}': must be github, junit=<file> or json=<file>`);
      return { path, print: format === 'junit' ? toJunitReport : (report) => toJsonReport(report, 2) };
    });
}

/**
 * Prints the report for people on stdout, or on stderr if stdout has the JSON report, and writes the others.
 *
 * @returns the errors. One does not keep the next report from its place, and a reader may close its pipe.
 */
async function deliver(
  context: Context,
  flags: SmokeFlags,
  report: SmokeReport,
  files: readonly FileReport[],
  isJson: boolean,
): Promise<Error[]> {
  const { io, quiet } = context;
  const stream = isJson ? io.stderr : io.stdout;
  const layout = { style: await context.style(isJson ? 'stderr' : 'stdout'), brief: flags.brief === true };
  const summary = io.env.GITHUB_STEP_SUMMARY;
  const settlements = await Promise.allSettled([
    !(isJson && quiet) && stream.write(toHumanReport(report, layout)),
    flags.report?.includes('github') && stream.write(toAnnotations(report), { isRaw: true }),
    isJson && io.stdout.write(toJsonReport(report, io.stdout.isTerminal ? 2 : 0), { isRaw: true }),
    ...files.map((file) => writeReport(resolve(io.cwd, file.path), file.print(report))),
    flags.report?.includes('github') && summary && appendSummary(summary, toStepSummary(report)),
  ]);
  return settlements
    .flatMap((settlement) => (settlement.status === 'rejected' ? [settlement.reason as Error] : []))
    .filter((error) => !(error instanceof OutputClosedError));
}

async function writeReport(path: string, text: string): Promise<void> {
  await ensureFolder(dirname(path));
  await writeFileAtomic(path, text, 0o644);
}

async function appendSummary(path: string, text: string): Promise<void> {
  await appendFile(path, text).catch((error) => {
    throw fileError('write', path, error);
  });
}

/** Sets the exit code of the checks. If it is 0, the first report that could not be written decides. */
async function endWithResults(
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
    throw new UsageError(results.at(-1)?.findings[0].reason ?? '', '`petstore help checks` lists the checks');
  context.setExitCode(exitCode);
}
