import { longestTimerMs, monotonicMs } from '../process/deadline.ts';
import { UsageError } from '../process/errors.ts';
import { StoppedError } from '../process/signals.ts';
import type { Check, Verdict } from './check.ts';
import {
  createReadChecks,
  createSelectedWriteChecks,
  prerequisites,
  type SmokeOptions,
} from './check-table.ts';
import { DeploymentTracker } from './deployment-tracker.ts';
import { type Finding, FindingError, fail, findingOfError, isRed, skip, statusText } from './finding.ts';
import { createCheckContext, createRound, type Round, type Service } from './round.ts';
import { cleanUp, type TestRecord } from './test-records.ts';
import { type CompletedCheck, verdictOf } from './verdict.ts';
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

/** The time limit of the cleanup. */
const cleanUpMs = 10_000;

/** Returns the reason for which the checks were stopped, a clause; undefined if they were not. */
export function stopReasonOf({ stopped }: SmokeSetup): string | undefined {
  return stopped.aborted ? (stopped.reason as StoppedError).message : undefined;
}

/** A round, and the verdicts of its read checks. */
export interface RoundResult {
  readonly round: Round;
  readonly verdicts: readonly Verdict[];
  /** The reason why the write checks must not follow, a clause. */
  readonly obstacle?: string;
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
export async function runReadChecks(setup: SmokeSetup, tracker = createTracker(setup)): Promise<RoundResult> {
  const { service, options, stopped } = setup;
  const round = createRound(service, tracker);
  const findObstacle = () =>
    stopReasonOf(setup) ?? (hasForeignAnswer(round) ? 'reach/version failed' : undefined);
  const verdicts = await runChecks(setup, round, createReadChecks(options), [], findObstacle);
  const isUnreached = verdicts.some((verdict) => isRed(verdict) && prerequisites.includes(verdict.id));
  if (options.waitFor.length === 0 || isUnreached || stopped.aborted)
    return { round, verdicts: addSteadyVerdict(verdicts) };
  const fault = hasForeignAnswer(round)
    ? tracker.failure()
    : await checkVersionAgain(createCheckContext(round, stopped).context, options);
  return { round, verdicts: fault ? failVersion(setup, verdicts, fault) : addSteadyVerdict(verdicts) };
}

/** Whether another deployment has answered in this round. */
function hasForeignAnswer({ tracker, earlierForeignAnswers }: Round): boolean {
  return tracker.foreignAnswers > earlierForeignAnswers;
}

/** Replaces the verdict on `reach/version`, which passed before, by one with this fault. */
function failVersion(setup: SmokeSetup, verdicts: readonly Verdict[], fault: Finding): Verdict[] {
  return verdicts.map((verdict) => {
    if (verdict.id !== 'reach/version') return verdict;
    return judgeCheck(setup, { ...verdict, findings: [fault], attempts: [] }) ?? verdict;
  });
}

function judgeCheck({ options, service }: SmokeSetup, check: CompletedCheck): Verdict | undefined {
  return verdictOf(check, { strict: options.strict, mask: service.mask });
}

/** The fewest flaky checks that make a failure. */
const minFlakyChecks = 3;

/**
 * Adds a failure of `reach/steady` if more than a third of the checks are flaky. A check whose first attempt got a 429 does
 * not count, because a service may limit the rate.
 */
function addSteadyVerdict(verdicts: readonly Verdict[]): readonly Verdict[] {
  const count = verdicts.filter(({ state }) => state !== 'skip').length;
  const flaky = verdicts.filter(({ state, first }) => state === 'flaky' && first !== statusText(429));
  if (flaky.length < minFlakyChecks || flaky.length * 3 <= count) return verdicts;
  const outcomes = [...new Set(flaky.map(({ first, reason }) => first ?? reason))].slice(0, 3).join(', ');
  const fault = fail(`${flaky.length} of ${count} checks are flaky: ${outcomes} first`, {
    expected: 'at most a third of them',
  });
  return [...verdicts, { ...fault, id: 'reach/steady', elapsedMs: 0 }];
}

/**
 * Runs the write checks of a round and removes the records that they made.
 *
 * @returns the verdicts on the read checks and the write checks.
 */
export async function addWriteChecks(
  setup: SmokeSetup,
  { round, verdicts, obstacle }: RoundResult,
): Promise<readonly Verdict[]> {
  const records = new Set<TestRecord>();
  const checks = createSelectedWriteChecks(setup.options, records);
  if (checks.length === 0) return verdicts;
  const writeVerdicts = await runChecks(
    setup,
    round,
    checks,
    verdicts,
    () => stopReasonOf(setup) ?? obstacle,
  );
  const hasRequests = writeVerdicts.some(({ requestsMs = [] }) => requestsMs.length > 0);
  const startedMs = monotonicMs();
  const limit = new AbortController();
  abortLater(limit, cleanUpMs, 'the time for cleaning up is over');
  const { context, attempts } = createCheckContext(round, AbortSignal.any([setup.abandoned, limit.signal]));
  const finding = hasRequests ? await cleanUp(context, records) : skip('nothing was written');
  const cleanup = judgeCheck(setup, {
    id: 'write/cleanup',
    elapsedMs: monotonicMs() - startedMs,
    findings: [finding],
    attempts,
  });
  const allVerdicts = [...verdicts, ...writeVerdicts, ...(cleanup ? [cleanup] : [])];
  return hasRequests && hasForeignAnswer(round)
    ? failVersion(setup, allVerdicts, round.tracker.failure())
    : allVerdicts;
}

/**
 * Runs checks one after another. If a check fails, the checks that need it are skipped, unless it fails only because of
 * `--strict`.
 *
 * @param earlierVerdicts the verdicts on checks that these checks may need.
 * @param findObstacle returns the reason for which the next check must not begin, a clause; undefined if it may begin.
 */
async function runChecks(
  setup: SmokeSetup,
  round: Round,
  checks: readonly Check[],
  earlierVerdicts: readonly Verdict[],
  findObstacle: () => string | undefined,
): Promise<Verdict[]> {
  const { observer, stopped, createSignal } = setup;
  const verdicts: Verdict[] = [];
  for (const [index, { id, operation, needs = [], isOptional, run }] of checks.entries()) {
    const failure = [...earlierVerdicts, ...verdicts].find(
      (verdict) =>
        isRed(verdict) &&
        !verdict.isStrictFailure &&
        (prerequisites.includes(verdict.id) || needs.includes(verdict.id)),
    );
    const obstacle = failure ? `${failure.id} failed` : findObstacle();
    if (obstacle !== undefined) {
      const reason = failure ? `${obstacle}: ${failure.reason}` : obstacle;
      if (!isOptional) verdicts.push({ operation, ...skip(reason), obstacle, id, elapsedMs: 0 });
      continue;
    }
    observer.showCheck(id, index + 1, checks.length);
    const startedMs = monotonicMs();
    const { context, attempts } = createCheckContext(round, stopped, createSignal);
    const findings = await run(context).catch((error: unknown) => {
      // A call that was cut off says nothing about the service.
      const stopReason = stopReasonOf(setup);
      if (stopReason !== undefined && !(error instanceof FindingError)) return skip(stopReason);
      // The contract requires a parameter for which the check has no value.
      return error instanceof UsageError ? skip(error.message) : findingOfError(error);
    });
    const elapsedMs = monotonicMs() - startedMs;
    const verdict = judgeCheck(setup, { id, operation, elapsedMs, findings: [findings].flat(), attempts });
    if (verdict) verdicts.push(verdict);
  }
  return verdicts;
}
