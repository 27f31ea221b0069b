import { longestTimerMs, monotonicMs } from '../process/deadline.ts';
import { StoppedError } from '../process/signals.ts';
import type { Check } from './check.ts';
import { type CheckResult, resultOf } from './check-result.ts';
import { createReadChecks, createSelectedWriteChecks, type SmokeOptions } from './check-table.ts';
import { DeploymentTracker } from './deployment-tracker.ts';
import { type Finding, skip } from './finding.ts';
import { createCheckContext, createRound, type Round, type Service } from './round.ts';
import { runChecks } from './run-checks.ts';
import { cleanUp, type TestRecord } from './test-records.ts';
import { hasFailed } from './verdict.ts';
import { checkVersionAgain } from './version-check.ts';

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

/** Creates the tracker of one wait. */
export function createTracker({ service, options }: SmokeSetup): DeploymentTracker {
  return new DeploymentTracker(options.waitFor, service.client);
}

/**
 * Begins a round and runs its read checks. If a deployment answers that `--wait-for` does not name, the other checks are
 * skipped.
 *
 * @param tracker counts the answers of all rounds of a wait.
 */
export async function runReadChecks(setup: SmokeSetup, tracker: DeploymentTracker): Promise<RoundResult> {
  const { service, options, stopped } = setup;
  const round = createRound(service, tracker);
  const findSkipReason = () => (hasForeignAnswer(round) ? 'reach/version failed' : undefined);
  const results = await runRoundChecks(setup, round, createReadChecks(options), [], findSkipReason);
  const isUnreached = results.some((result) => result.isPrerequisite && hasFailed(result));
  if (options.waitFor.length === 0 || isUnreached || stopped.aborted) return { round, results };
  const fault = hasForeignAnswer(round)
    ? tracker.failure()
    : await checkVersionAgain(createCheckContext(round, stopped).context, options);
  return { round, results: fault ? failVersion(setup, results, fault) : results };
}

function runRoundChecks(
  { observer, stopped, createSignal }: SmokeSetup,
  round: Round,
  checks: readonly Check[],
  earlierResults: readonly CheckResult[],
  findSkipReason: () => string | undefined,
): Promise<CheckResult[]> {
  return runChecks(checks, {
    open: () => createCheckContext(round, stopped, createSignal),
    mask: round.mask,
    stopped,
    earlierResults,
    findSkipReason,
    onBegin: observer.showCheck,
  });
}

/** Whether another deployment has answered in this round. */
function hasForeignAnswer({ tracker, earlierForeignAnswers }: Round): boolean {
  return tracker.foreignAnswers > earlierForeignAnswers;
}

/** Replaces the result of `reach/version`, which passed before, by a failure. */
function failVersion(
  { service }: SmokeSetup,
  results: readonly CheckResult[],
  fault: Finding,
): CheckResult[] {
  return results.map((result) => {
    if (result.id !== 'reach/version') return result;
    const { elapsedMs } = result;
    return resultOf(result, { elapsedMs, findings: [fault], attempts: [] }, service.mask) ?? result;
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
  const writeResults = await runRoundChecks(setup, round, checks, results, () => skipReason);
  const hasRequests = writeResults.some(({ requests }) => requests > 0);
  const startedMs = monotonicMs();
  const limit = new AbortController();
  abortLater(limit, cleanUpMs, 'the time for cleaning up is over');
  const { context, attempts } = createCheckContext(round, AbortSignal.any([abandoned, limit.signal]));
  const finding = hasRequests ? await cleanUp(context, records) : skip('nothing was written');
  const run = { elapsedMs: monotonicMs() - startedMs, findings: [finding], attempts };
  const cleanup = resultOf({ id: 'write/cleanup' }, run, service.mask);
  const allResults = [...results, ...writeResults, ...(cleanup ? [cleanup] : [])];
  return hasRequests && hasForeignAnswer(round)
    ? failVersion(setup, allResults, round.tracker.failure())
    : allResults;
}
