import { longestTimerMs, monotonicMs } from '../process/deadline.ts';
import { StoppedError } from '../process/signals.ts';
import type { Check } from './check.ts';
import { type CheckResult, hasFailed, resultOf } from './check-result.ts';
import { createReadChecks, createSelectedWriteChecks, type SmokeOptions } from './check-table.ts';
import { type Finding, findingOfError, skip } from './finding.ts';
import { createCheckContext, createRound, type Round, type Service } from './round.ts';
import { runChecks } from './run-checks.ts';
import { cleanUp, type TestRecord } from './test-records.ts';
import { checkVersion, foreignAnswers } from './version-check.ts';

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
