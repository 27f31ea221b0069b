import type { Contract } from '../../api/contract.ts';
import { confirmWrite } from '../../asking.ts';
import type { Check } from '../../checks/check.ts';
import {
  checkSelection,
  readChecks,
  type SmokeOptions,
  selectedWriteChecks,
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
import type { SocketAddress } from '../../checks/sockets.ts';
import { credentialPlace, planToken } from '../../config/token.ts';
import { openAddress } from '../../connect.ts';
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
import type { SmokeFlags } from './smoke-flags.ts';

const defaults = { waitForMs: 60_000, everyMs: 30_000, maxTimeMs: 600_000, retries: 1, timeoutMs: 10_000 };

/** Runs the checks, shows them, writes the reports, and sets the exit code. */
export async function runSmokeCommand(context: Context, flags: SmokeFlags): Promise<void> {
  const { settings, secrets, now } = context;
  const contract = await context.contract();
  const timeout = settings.explain('timeout');
  const timeoutMs = timeout.source === 'default' ? defaults.timeoutMs : timeout.value;
  const retries = settings.explain('retries');
  const address = await openAddress(context, timeoutMs);
  const options = toSmokeOptions(context, flags, { contract, timeoutMs, address });
  const reports = parseReports(flags.report ?? [], context.io.cwd);
  const checks = [...readChecks(options), ...selectedWriteChecks(options, new Set())];
  checkSelection(options, checks);
  if (context.flags.dryRun) return printList(context, checks);
  if (options.write) await confirmWrite(context, { what: 'write test records and remove them' });
  const client = await context.client();
  // A path must not lead out of the service.
  for (const { path } of [...options.waitFor, ...options.expect])
    if (path !== undefined) client.toRawRequest({ method: 'GET', path });
  await prepareReports(reports, flags.force === true);
  const display = await createDisplay(context, flags.brief === true);
  const service = {
    // There is an address, because there is a client.
    ...{ client, address: address as SocketAddress, mask: secrets.mask, now, timeoutMs },
    retries: retries.source === 'default' ? defaults.retries : retries.value,
    credentialPlace: credentialPlace(settings, contract.credentialPlaces),
  };
  const report = await runSmoke(service, options, display.observer, context.interrupts);
  const failures = await despiteSignals(context, async () => [
    ...(await display.printReport(report, reports)),
    ...(await writeReports(report, reports)),
  ]);
  await writeStepSummary(context, report, reports);
  await setExitCode(context, report, failures);
}

/** The options of the flags and settings. @throws UsageError if a flag has no effect, so that the user sees it. */
function toSmokeOptions(
  context: Context,
  flags: SmokeFlags,
  target: Pick<SmokeOptions, 'contract' | 'timeoutMs'> & { readonly address: SocketAddress | undefined },
): SmokeOptions {
  const { address, ...rest } = target;
  const { repeat, for: forMs, every, waitFor = [], expect = [], only = [], skip = [] } = flags;
  const waitMs = flags.wait ?? (waitFor.length > 0 ? defaults.waitForMs : 0);
  const isLong = repeat !== undefined || forMs !== undefined || waitMs > 0;
  if (repeat !== undefined && forMs !== undefined)
    throw new UsageError('--repeat and --for: give only one of them');
  if (repeat === undefined && forMs === undefined && every !== undefined)
    throw new UsageError('--every: needs --repeat <n> or --for <duration>');
  return {
    ...{ ...rest, waitMs, waitFor, expect, repeat, forMs, only: only.flat(), skip: skip.flat() },
    hasTls: address?.isEncrypted === true && address.whyUnchecked === undefined,
    hasToken: hasCredential(context, rest.contract),
    strict: flags.strict === true,
    write: flags.write === true,
    maxLatencyMs: flags.maxLatency,
    maxTimeMs: flags.maxTime ?? (isLong ? undefined : defaults.maxTimeMs),
    everyMs: every ?? (forMs === undefined ? 0 : defaults.everyMs),
  };
}

/** Whether requests will carry a credential, as far as that is clear before the token is read. */
function hasCredential({ flags, settings }: Context, { credentialPlaces }: Contract): boolean {
  const baseUrl = settings.get('base-url');
  if (flags.headers?.some((header) => /^authorization\s*:/i.test(header))) return true;
  if (settings.offline || baseUrl === undefined) return false;
  return planToken(settings, { baseUrl, places: credentialPlaces })?.kind === 'sent';
}

/**
 * Shows the current check on the live line, and at the end the report for people: on stdout, or on stderr if stdout
 * carries JSON. A reader that goes away, or a full disk, does not end a run.
 */
async function createDisplay(context: Context, brief: boolean) {
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
  return {
    observer: {
      check(id: string, at: number, count: number) {
        label = `${id} (${at} of ${count})`;
        startedMs = monotonicMs();
      },
      print: context.print,
    },
    /** Prints the report. @returns the error, if it could not be written completely. */
    async printReport(report: SmokeReport, { github }: Reports): Promise<Error[]> {
      hide();
      const isSilent = name === 'stderr' && quiet;
      const text = isSilent ? '' : toHumanReport(report, { style, width: io[name].width, brief });
      const outcomes = await Promise.allSettled([
        text && io[name].write(text),
        github && io[name].write(toAnnotations(report), { isRaw: true }),
        format === 'json' && io.stdout.write(toJsonReport(report, io.stdout.isTerminal ? 2 : 0)),
      ]);
      const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      return errors.filter((error) => !(error instanceof OutputClosedError)).slice(0, 1);
    },
  };
}

/** Prints the list of `--dry-run`. */
async function printList(context: Context, checks: readonly Check[]): Promise<void> {
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
