import { longestTimerMs, monotonicMs } from '../process/deadline.ts';
import { StoppedError } from '../process/signals.ts';
import type { Check } from './check.ts';
import { type CheckResult, hasFailed, resultOf, skippedResult, verdictOf } from './check-result.ts';
import { createReadChecks, createSelectedWriteChecks, type SmokeOptions } from './check-table.ts';
import { type Finding, FindingError, findingOfError, skip } from './finding.ts';
import { checkVersion, foreignAnswers } from './first-answer.ts';
import { createCheckContext, createRound, type Round, type Service } from './round.ts';
import { cleanUp, type TestRecord } from './test-records.ts';

/** What the runner of checks needs. */
interface RunnerOptions {
  readonly round: Round;
  /** Aborted when the checks are stopped; the reason is a StoppedError with a clause. */
  readonly stopped: AbortSignal;
  /** Ends the writes; by default `stopped`. */
  readonly writeSignal?: AbortSignal;
  /** The results of checks that these checks may need. */
  readonly earlierResults?: readonly CheckResult[];
  /** The reason for which no check must begin, a clause. */
  readonly skipReason?: string | undefined;
  /** Called when a check begins. @param number its number, from 1, of `count`. */
  onBegin?(id: string, number: number, count: number): void;
}

/** Returns the reason for which checks were stopped, a clause; undefined if they were not. */
export function stopReasonOf(stopped: AbortSignal): string | undefined {
  return stopped.aborted ? (stopped.reason as StoppedError).message : undefined;
}

/** Runs checks one after another. If a check fails, the checks that need it are skipped. */
export async function runChecks(checks: readonly Check[], options: RunnerOptions): Promise<CheckResult[]> {
  const { earlierResults = [], stopped, skipReason: ownReason, onBegin } = options;
  const results: CheckResult[] = [];
  const skipIfNeeded = (check: Check): CheckResult | undefined => {
    const failed = [...earlierResults, ...results].find(
      (result) => (result.isPrerequisite || check.needs?.includes(result.id)) && hasFailed(result),
    );
    if (failed) {
      const skipReason = `${failed.id} failed`;
      return skippedResult(
        check,
        skipReason,
        `${skipReason}: ${verdictOf(failed, false).findings[0].reason}`,
      );
    }
    const skipReason = check.skipReason ?? stopReasonOf(stopped) ?? ownReason;
    return skipReason === undefined ? undefined : skippedResult(check, skipReason);
  };
  for (const [index, check] of checks.entries()) {
    const skipped = skipIfNeeded(check);
    if (skipped && check.isOptional) continue;
    if (!skipped) onBegin?.(check.id, index + 1, checks.length);
    const result = skipped ?? (await runCheck(check, options));
    if (result) results.push(result);
  }
  return results;
}

async function runCheck(
  check: Check,
  { round, stopped, writeSignal }: RunnerOptions,
): Promise<CheckResult | undefined> {
  const startedMs = monotonicMs();
  const { context, attempts } = createCheckContext(round, stopped, writeSignal);
  const findings = await check.run(context).catch((error: unknown) => {
    // A call that was cut off says nothing about the service.
    const stopReason = stopReasonOf(stopped);
    const isCutOff = stopReason !== undefined && !(error instanceof FindingError);
    return isCutOff ? skip(stopReason) : findingOfError(error);
  });
  const all = [findings].flat();
  if (check.isOptional && all.every(({ state }) => state === 'skip')) return undefined;
  const run = { elapsedMs: monotonicMs() - startedMs, findings: all, attempts };
  return resultOf(check, run, round.mask);
}

/** Shows the progress of the checks on the terminal. */
export interface Observer {
  /** Shows the check that begins. @param number its number in the round, from 1, of `count`. */
  showCheck(id: string, number: number, count: number): void;
  /** Prints a line for people. */
  print(line: string): Promise<void>;
}

/** What all rounds share: the service, the options, the observer, and the signals that end the checks. */
export interface SmokeSetup {
  readonly service: Service;
  readonly options: SmokeOptions;
  readonly observer: Observer;
  /** Aborted by the first signal of the user, or when the time is over. The reason of the abort says which. */
  readonly stopped: AbortSignal;
  /** Aborted a little later than `stopped`, so that the answer to a create can still name the record to remove. */
  readonly createSignal: AbortSignal;
  /** Aborted by the second signal of the user, which also ends the cleanup. */
  readonly abandoned: AbortSignal;
}

/** Aborts a controller after a time. @param why a clause. */
export function abortLater(controller: AbortController, ms: number, why: string): void {
  setTimeout(() => controller.abort(new StoppedError(why)), Math.min(ms, longestTimerMs)).unref();
}

/** A round, and the results of its read checks. */
export interface RoundResult {
  readonly round: Round;
  readonly results: readonly CheckResult[];
}

/**
 * Begins a round and runs its read checks. With `--wait-for`, the deployment is compared with its conditions once more after
 * them.
 */
export async function runReadChecks(setup: SmokeSetup): Promise<RoundResult> {
  const { service, options, stopped } = setup;
  const round = createRound(service);
  const results = await runRoundChecks(setup, round, createReadChecks(options), []);
  const isUnreached = results.some((result) => result.isPrerequisite && hasFailed(result));
  if (options.waitFor.length === 0 || isUnreached || stopped.aborted) return { round, results };
  const { context } = createCheckContext(round, stopped);
  const fault = await checkVersion(context, options).catch(findingOfError);
  return { round, results: withVersion(setup, round, results, fault) };
}

function runRoundChecks(
  { observer, stopped, createSignal }: SmokeSetup,
  round: Round,
  checks: readonly Check[],
  earlierResults: readonly CheckResult[],
  skipReason?: string,
): Promise<CheckResult[]> {
  return runChecks(checks, {
    round,
    stopped,
    writeSignal: createSignal,
    earlierResults,
    skipReason,
    onBegin: observer.showCheck,
  });
}

/**
 * Replaces the result of `reach/version`, which passed before, if another deployment has answered since.
 *
 * @param fault the failure of a later comparison with the conditions; undefined if there was none.
 */
function withVersion(
  { service, options }: SmokeSetup,
  { heads }: Round,
  results: readonly CheckResult[],
  fault?: Finding,
): readonly CheckResult[] {
  const finding = foreignAnswers(options.waitFor, heads) ?? fault;
  if (!finding) return results;
  return results.map((result) => {
    const { id, elapsedMs } = result;
    if (id !== 'reach/version') return result;
    return resultOf(result, { elapsedMs, findings: [finding], attempts: [] }, service.mask);
  });
}

/** The time limit of the cleanup. */
const cleanUpMs = 10_000;

/**
 * Runs the write checks of a round and removes the records that they made.
 *
 * @param skipReason the reason why they must not run, a clause.
 * @returns the results of the read checks and of the write checks.
 */
export async function addWriteChecks(
  setup: SmokeSetup,
  { round, results }: RoundResult,
  skipReason: string | undefined,
): Promise<readonly CheckResult[]> {
  const { abandoned, options, service } = setup;
  const records = new Set<TestRecord>();
  const checks = createSelectedWriteChecks(options, records);
  if (checks.length === 0) return results;
  const writeResults = await runRoundChecks(setup, round, checks, results, skipReason);
  const hasRequests = writeResults.some(({ requests }) => requests > 0);
  const startedMs = monotonicMs();
  const limit = new AbortController();
  abortLater(limit, cleanUpMs, 'the time for cleaning up is over');
  const { context, attempts } = createCheckContext(round, AbortSignal.any([abandoned, limit.signal]));
  const finding = hasRequests ? await cleanUp(context, records) : skip('nothing was written');
  const run = { elapsedMs: monotonicMs() - startedMs, findings: [finding], attempts };
  const cleanup = resultOf({ id: 'write/cleanup' }, run, service.mask);
  const allResults = [...results, ...writeResults, cleanup];
  return hasRequests ? withVersion(setup, round, allResults) : allResults;
}
