import { appendFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { confirmWrite } from '../../asking.ts';
import { groupOf } from '../../checks/check.ts';
import { listCheckIds } from '../../checks/check-table.ts';
import { parseCondition } from '../../checks/condition.ts';
import { runSmoke } from '../../checks/run-smoke.ts';
import { type SelectedChecks, selectChecks } from '../../checks/select-checks.ts';
import {
  type SmokeReport,
  toAnnotations,
  toHumanReport,
  toJsonReport,
  toJunitReport,
  toStepSummary,
} from '../../checks/smoke-report.ts';
import { flag, type ValuesOf, value, values, writeFlags } from '../../cli/flag.ts';
import { action } from '../../cli/verb.ts';
import { parseDuration } from '../../config/keys.ts';
import { checkTimeoutMs, connectForChecks } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { propertyColumns } from '../../output/columns.ts';
import type { Output } from '../../output/printer.ts';
import { exitCodes, fileError, OutputClosedError, UsageError } from '../../process/errors.ts';
import { ensureFolder, writeFileAtomic } from '../../process/files.ts';
import { durationText } from '../../process/text.ts';

const checkIds = listCheckIds();
/** The groups and the ids of all checks, for the Tab key. */
const checkNames = [...new Set(checkIds.map(groupOf)), ...checkIds];

const defaults = { waitFor: '60s', maxTime: '10m' };
const smokeFlags = {
  wait: value('--wait <duration>', 'run the read checks again for up to this long, until they pass', {
    parse: parseDuration,
  }),
  waitFor: values(
    '--wait-for <condition>',
    `wait until the deployment meets this condition (up to ${defaults.waitFor}, or --wait), such as 'header x-commit=4f2a9c1' or 'GET /version text*=4f2a9c1'; can be repeated`,
    { parse: parseCondition },
  ),
  expect: values(
    '--expect <condition>',
    "a check of your own, such as 'GET /healthz 200 /status=ok'; can be repeated",
    { parse: parseCondition },
  ),
  write: flag('--write', 'also create, change and delete test records, and clean up'),
  only: values('--only <glob>', 'run only these checks, such as op or op/get*; can be repeated', {
    offers: checkNames,
    isList: true,
  }),
  skip: values('--skip <glob>', 'leave these checks out; reach always runs; can be repeated', {
    offers: checkNames,
    isList: true,
  }),
  strict: flag('--strict', 'also fail on warnings, flaky checks, and failed beta or experimental operations'),
  maxTime: value(
    '--max-time <duration>',
    `stop and fail after this time (default: ${defaults.maxTime}, or none with --wait)`,
    { parse: parseDuration },
  ),
  report: values('--report <report>', 'junit=<file>, json=<file>, or github; can be repeated', {
    offers: ['junit=', 'json=', 'github'],
  }),
  brief: flag('--brief', 'show failures and the total only'),
  dryRun: flag('--dry-run', 'list the checks, send nothing'),
  confirm: writeFlags.confirm,
};

type SmokeFlags = ValuesOf<typeof smokeFlags>;

export const smoke = action({
  description:
    'Checks that a deployment is reachable and does what its description says; read-only unless --write is given. A call ' +
    `ends within --timeout (${durationText(checkTimeoutMs)} by default). Exits 0 if no check failed, 7 if one failed, 6 if the service ` +
    'cannot be reached, 4 if it refused the credential, 2 if no check ran. `petstore help checks` lists the checks.',
  examples: [
    'petstore smoke',
    'petstore smoke --wait 2m --report junit=out/smoke.xml --report github',
    'petstore smoke --write --confirm staging',
    "petstore smoke --wait-for 'header x-commit=4f2a9c1' --expect 'GET /healthz 200 /status=ok'",
    'petstore serve --port 0 -- petstore smoke --write',
  ],
  defaultFormat: 'table',
  formats: ['table', 'json'],
  flags: smokeFlags,
  view: ({ flags: { dryRun } }) =>
    dryRun ? { plural: 'checks', columns: propertyColumns(['id', 'operation', 'stability']) } : undefined,
  run: runSmokeCommand,
});

/** Runs the checks, shows their progress, writes the reports, and returns the exit code. */
async function runSmokeCommand(context: Context, flags: SmokeFlags): Promise<Output> {
  const { stop, notice } = context;
  const { waitFor = [], expect = [], only = [], skip = [], write = false } = flags;
  const contract = await context.contract();
  const { baseUrl } = context.settings;
  const selected = selectChecks({ contract, baseUrl, waitFor, expect }, { only, skip, write });
  const files = parseReports(context.io.cwd, flags.report);
  if (context.flags.dryRun) return { kind: 'list', pages: [toListRecords(selected)] };
  if (write) await confirmWrite(context, { what: 'write test records and remove them' });
  const service = await connectForChecks(context, flags.strict);
  // A preview throws if a path is wrong or leaves the service.
  for (const { path } of [...waitFor, ...expect])
    if (path !== undefined) service.client.preview({ method: 'GET', path });
  const waitMs = flags.wait ?? (waitFor.length > 0 ? parseDuration(defaults.waitFor) : 0);
  const maxTimeMs = flags.maxTime ?? (flags.wait ? undefined : parseDuration(defaults.maxTime));
  const print = (line: string) => notice('status', line);
  const report = await runSmoke(service, selected, { waitMs, maxTimeMs }, print, stop);
  const errors = await deliver(context, flags, report, files, context.flags.output === 'json');
  const { exitCode } = report;
  const first = exitCode === exitCodes.done ? errors.shift() : undefined;
  for (const { message } of errors) await context.notice('warning', message);
  if (first) throw first;
  return { kind: 'nothing', exitCode };
}

/** Lists the checks that would run, with the operations that they are about. The check of --wait-for runs twice. */
function toListRecords({ reads, writes, cleanUp }: SelectedChecks) {
  return [...reads, ...writes, ...(writes.length > 0 ? [cleanUp] : [])].map(({ id, operation }) => ({
    id,
    operation: operation?.id ?? null,
    stability: operation?.stability ?? null,
  }));
}

type FileReport = readonly [path: string, print: (report: SmokeReport) => string];

/**
 * Reads the values `junit=<file>` and `json=<file>` of `--report`, with absolute paths.
 *
 * @throws UsageError for anything else but `github`, and for two reports in one file.
 */
function parseReports(cwd: string, values: readonly string[] = []): readonly FileReport[] {
  const files = new Map<string, FileReport[1]>();
  for (const value of values) {
    if (value === 'github') continue;
    const [, format, name = ''] = /^(junit|json)=(?!-$)(.+)$/s.exec(value) ?? [];
    if (format === undefined)
      throw new UsageError(`--report '${value}': must be github, junit=<file> or json=<file>`);
    const path = resolve(cwd, name);
    if (files.has(path)) throw new UsageError(`--report: two reports cannot be in one file: ${name}`);
    files.set(path, format === 'junit' ? toJunitReport : (report) => toJsonReport(report, 2));
  }
  return [...files];
}

/**
 * Prints the report for people on stdout, or on stderr if stdout has the JSON report, and writes the others.
 *
 * @returns the errors. An error in one report does not stop the others. A reader that closes its pipe is not an error.
 */
async function deliver(
  context: Context,
  flags: SmokeFlags,
  report: SmokeReport,
  files: readonly FileReport[],
  isJson: boolean,
): Promise<Error[]> {
  const { io, isQuiet } = context;
  const stream = isJson ? io.stderr : io.stdout;
  const style = await context.style(isJson ? 'stderr' : 'stdout');
  const summary = io.env.GITHUB_STEP_SUMMARY;
  const settlements = await Promise.allSettled([
    !(isJson && isQuiet) && stream.write(toHumanReport(report, style, flags.brief)),
    flags.report?.includes('github') && stream.write(toAnnotations(report), { isRaw: true }),
    isJson && io.stdout.write(toJsonReport(report, io.stdout.isTerminal ? 2 : 0), { isRaw: true }),
    ...files.map(async ([path, print]) => {
      ensureFolder(dirname(path), undefined, 0o777);
      writeFileAtomic(path, print(report), 0o644);
    }),
    flags.report?.includes('github') &&
      summary &&
      appendFile(summary, toStepSummary(report)).catch((error) => {
        throw fileError('write', summary, error);
      }),
  ]);
  return settlements
    .flatMap((settlement) => (settlement.status === 'rejected' ? [settlement.reason as Error] : []))
    .filter((error) => !(error instanceof OutputClosedError));
}
