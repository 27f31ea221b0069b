import type { Contract } from '../api/contract.ts';
import { embeddedOrigin } from '../api/http.ts';
import { longestTimerMs, monotonicMs, sleep } from '../process/deadline.ts';
import { exitCodes, InterruptedError, type Signal } from '../process/errors.ts';
import { type Interrupts, inTwoSteps, StoppedError } from '../process/signals.ts';
import { durationText } from '../process/text.ts';
import { type Check, groupOf, groups, type Service } from './check.ts';
import type { Condition } from './condition.ts';
import { fail, isRed, skip } from './finding.ts';
import { createExpectChecks, createReachChecks, createVersionCheck } from './first-answer.ts';
import { createOperationChecks } from './operation-checks.ts';
import { createAuthCheck, createErrorChecks } from './refusal-checks.ts';
import type { SmokeReport } from './report/human-report.ts';
import { type CheckResult, exitCodeOf, resultOf, skippedResult } from './result.ts';
import { createCheckContext, readsOf, runChecks, stopReasonOf } from './round.ts';
import { cleanUp, createWriteChecks, type Leftovers } from './write-checks.ts';

/** The selection of the checks, and their limits. */
export interface SmokeOptions {
  readonly contract: Contract;
  /** True if the service is reached over TLS. */
  readonly hasTls: boolean;
  /** Patterns of the ids to run; an empty list selects all checks. */
  readonly only: readonly string[];
  /** Patterns of the ids to leave out. */
  readonly skip: readonly string[];
  readonly write: boolean;
  /** The conditions of `--wait-for`, and the time of the wait. */
  readonly waitFor: readonly Condition[];
  readonly waitMs: number;
  /** The conditions of `--expect`, each of which is a check. */
  readonly expect: readonly Condition[];
  /** The time limit of the command; undefined if it has none. */
  readonly maxTimeMs?: number | undefined;
}

/** What all parts of a run share. */
interface Setup {
  readonly service: Service;
  readonly options: SmokeOptions;
  /** Prints a line for people. */
  readonly print: (line: string) => Promise<void>;
  /** Aborted by the first signal of the user, or when the time is over. The reason of the abort says which. */
  readonly stopped: AbortSignal;
  /** Aborted by the second signal of the user, which also ends the cleanup. */
  readonly abandoned: AbortSignal;
}

/** The time limit of the cleanup. */
const cleanUpMs = 10_000;

/**
 * Runs the read checks, with `--wait` until they pass, then the write checks once, and cleans up. The first signal stops the
 * checks; the second one also ends the cleanup.
 */
export async function runSmoke(
  service: Service,
  options: SmokeOptions,
  print: Setup['print'],
  interrupts: Interrupts,
): Promise<SmokeReport> {
  const { maxTimeMs, write } = options;
  const [stop, abandon] = [new AbortController(), new AbortController()];
  let signal: Signal | undefined;
  const steps = {
    stop(name: Signal) {
      signal = name;
      stop.abort(new StoppedError(`stopped by ${name}`));
      const choice = signal === 'SIGINT' ? '; Ctrl-C again leaves them' : '';
      if (write) void print(`stopped: removing the records of this run${choice}`);
    },
    abandon: () => abandon.abort(new StoppedError('stopped by a second signal')),
  };
  if (maxTimeMs !== undefined)
    abortLater(stop, maxTimeMs, `the time of ${durationText(maxTimeMs)} is over (--max-time)`);
  const [stopped, abandoned] = [stop.signal, abandon.signal];
  const setup: Setup = { service, options, print, stopped, abandoned };
  const startedAt = service.now();
  const startedMs = monotonicMs();
  return inTwoSteps({ interrupts }, steps, async () => {
    const reads = await runUntilGreen(setup);
    const run = [...reads, ...(await runWriteChecks(setup, reads))];
    const unordered = [...failureOfCommand(setup, run, signal), ...run];
    const { baseUrl } = service.client;
    return {
      target: baseUrl === embeddedOrigin ? 'the embedded store' : baseUrl,
      startedAt,
      elapsedMs: monotonicMs() - startedMs,
      write,
      results: groups.flatMap((group) => unordered.filter(({ id }) => groupOf(id) === group)),
      exitCode: exitCodeOf(unordered),
      signal,
    };
  });
}

/** Aborts a controller after a time. @param why a clause */
function abortLater(controller: AbortController, ms: number, why: string): void {
  setTimeout(() => controller.abort(new StoppedError(why)), Math.min(ms, longestTimerMs)).unref();
}

/** The pause after the first round of a wait. It doubles after each round, up to the longest pause. */
const firstPauseMs = 1000;
const longestPauseMs = 5000;

/**
 * Runs rounds of the read checks until they pass or the time of `--wait` is over; without `--wait`, one round. A 401, a 403
 * and a TLS error end the wait, because they do not pass with time.
 */
async function runUntilGreen({ service, options, stopped, print }: Setup): Promise<CheckResult[]> {
  const { waitMs } = options;
  const endMs = monotonicMs() + waitMs;
  for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
    const reads = await runChecks(createReadChecks(options), service, stopped);
    const failure = reads.find(isRed);
    const remainingMs = endMs - monotonicMs();
    if (!failure || failure.isLasting || remainingMs <= 0 || stopped.aborted) return reads;
    const first = `${failure.id}: ${failure.reason}`;
    if (pauseMs === firstPauseMs)
      await print(`waiting up to ${durationText(waitMs)} for the service: ${first}`);
    await sleep(Math.min(pauseMs, longestPauseMs, remainingMs), stopped).catch(() => {});
    if (stopped.aborted) return reads;
  }
}

/** Runs the write checks, if the read checks have passed, and removes the records that they made. */
async function runWriteChecks(
  { options, service, stopped, abandoned }: Setup,
  reads: readonly CheckResult[],
): Promise<readonly CheckResult[]> {
  const left: Leftovers = new Set();
  const checks = createSelectedWriteChecks(options, left);
  if (checks.length === 0) return [];
  const failed = reads.find(isRed);
  if (failed) return checks.map((check) => skippedResult(check, `${failed.id} failed`));
  const results = await runChecks(checks, service, stopped);
  const startedMs = monotonicMs();
  const limit = new AbortController();
  abortLater(limit, cleanUpMs, 'the time for cleaning up is over');
  const { context, attempts } = createCheckContext(service, AbortSignal.any([abandoned, limit.signal]));
  const hasWritten = left.size > 0 || results.some(({ state }) => state !== 'skip');
  const finding = hasWritten ? await cleanUp(context, left) : skip('nothing was written');
  const run = { elapsedMs: monotonicMs() - startedMs, attempts };
  return [...results, resultOf({ id: 'write/cleanup' }, [finding], service, run)];
}

/**
 * Returns a failure if the checks were stopped, or if no check ran besides reach: the exit code is then not 0, so the report
 * must not be green.
 */
function failureOfCommand(
  { service, options, stopped }: Setup,
  results: readonly CheckResult[],
  signal: Signal | undefined,
): CheckResult[] {
  const isEnough = ({ id, state }: CheckResult) =>
    state !== 'skip' && (hasReachPattern(options) || groupOf(id) !== 'reach' || isRed({ state }));
  if (!stopped.aborted && results.some(isEnough)) return [];
  const nothing = 'no check besides reach ran: none is selected, or every one was skipped';
  const otherCode = stopped.aborted ? exitCodes['check-failed'] : exitCodes.usage;
  const exitCode = signal ? new InterruptedError(signal).exitCode : otherCode;
  const finding = fail(stopReasonOf(stopped) ?? nothing, { exitCode });
  return [resultOf({ id: 'run/complete', isPrerequisite: true }, [finding], service)];
}

/** Makes the read checks, in order: the checks of reach, which always run, and the selected checks. */
export function createReadChecks(options: SmokeOptions): Check[] {
  const { contract, hasTls, expect, waitFor, waitMs } = options;
  const reads = readsOf(contract);
  const fallback = expect.find(({ path }) => path !== undefined);
  const version = waitFor.length > 0 ? [createVersionCheck(waitFor, waitMs)] : [];
  const checks: Check[] = [
    ...createReachChecks(hasTls, fallback),
    ...version,
    ...createOperationChecks(contract),
    ...createErrorChecks(reads),
    createAuthCheck(reads),
    ...createExpectChecks(expect),
    // Another deployment may have answered since.
    ...version,
  ];
  return checks.filter(({ id }) => groupOf(id) === 'reach' || isSelected(id, options));
}

/** Makes the selected checks of `--write`. @param left gets the records that they create. */
export function createSelectedWriteChecks(options: SmokeOptions, left: Leftovers): Check[] {
  const checks = options.write ? createWriteChecks(options.contract, left) : [];
  return checks.filter(({ id }) => isSelected(id, options));
}

/** Returns true if `--only` names reach, so that the checks of reach alone are enough. */
export function hasReachPattern({ only }: SmokeOptions): boolean {
  return only.some((pattern) => pattern.split('/', 1)[0] === 'reach');
}

/** Returns true if a check is selected. `--only` does not leave out the checks of `--expect`. */
function isSelected(id: string, { only, skip }: SmokeOptions): boolean {
  const isIncluded =
    only.length === 0 || groupOf(id) === 'expect' || only.some((pattern) => matches(id, pattern));
  return isIncluded && !skip.some((pattern) => matches(id, pattern));
}

/** In a pattern, `*` is any text, and `?` one character. A pattern without a slash selects groups. */
function matches(id: string, pattern: string): boolean {
  const expression = (pattern.includes('/') ? pattern : `${pattern}/*`)
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('?', '.')
    .replace(/\*+/g, '.*');
  return new RegExp(`^${expression}$`).test(id);
}
