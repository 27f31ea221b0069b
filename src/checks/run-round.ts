import { longestTimerMs, monotonicMs } from '../process/deadline.ts';
import { UsageError } from '../process/errors.ts';
import { StoppedError } from '../process/signals.ts';
import type { Check, CheckResult } from './check.ts';
import { prerequisites, readChecks, type SmokeOptions, selectedWriteChecks } from './check-table.ts';
import { Deployment } from './deployment.ts';
import { type Finding, FindingError, fail, findingOfError, isRed, skip, statusText } from './finding.ts';
import { cleanUp, type PossibleRecord } from './own-records.ts';
import { type Round, type Service, startCheck, startRound } from './round.ts';
import { verdictOf } from './verdict.ts';
import { checkVersionAgain } from './version-check.ts';

/** Shows on the terminal what a run is doing. */
export interface Observer {
  /** A check begins. `at` is its number in the round, from 1. */
  check(id: string, at: number, count: number): void;
  /** A line for people about the current activity. */
  print(line: string): Promise<void>;
}

/** A run of the checks: what it tests and how, where it shows its progress, and the signals that end it. */
export interface SmokeRun {
  readonly service: Service;
  readonly options: SmokeOptions;
  readonly observer: Observer;
  /** Aborted when the checks are stopped, by the first signal or because the time is over; its reason says which. */
  readonly stopped: AbortSignal;
  /** Aborted later, so that the answer to a pending create can still name the record to remove. */
  readonly createSignal: AbortSignal;
  /** Aborted by the second signal, which ends the cleaning up too. */
  readonly abandoned: AbortSignal;
}

/** Aborts a controller after a time. @param why a clause. */
export function abortLater(controller: AbortController, ms: number, why: string): void {
  setTimeout(() => controller.abort(new StoppedError(why)), Math.min(ms, longestTimerMs)).unref();
}

/** The longest time of the cleaning up of a run. */
const cleanUpMs = 10_000;

/** Why the checks were stopped, a clause; undefined if they were not. */
export function whyStopped({ stopped }: SmokeRun): string | undefined {
  return stopped.aborted ? (stopped.reason as StoppedError).message : undefined;
}

/** The results of the read checks of a round. */
export interface RoundResult {
  readonly round: Round;
  readonly results: readonly CheckResult[];
  /** Why nothing may be written after them, a clause. */
  readonly obstacle?: string;
}

export function createDeployment({ service, options }: SmokeRun): Deployment {
  return new Deployment(options.waitFor, service.client);
}

/**
 * Runs the read checks once. An answer of another deployment than that of `--wait-for` ends the round.
 *
 * @param deployment counts the answers of all rounds of a wait.
 */
export async function runReadChecks(run: SmokeRun, deployment = createDeployment(run)): Promise<RoundResult> {
  const { service, options, stopped } = run;
  const round = startRound(service, deployment);
  const findObstacle = () => whyStopped(run) ?? (hasForeign(round) ? 'reach/version failed' : undefined);
  const results = await examineChecks(run, round, readChecks(options), [], findObstacle);
  const isUnreached = results.some((result) => isRed(result) && prerequisites.includes(result.id));
  if (options.waitFor.length === 0 || isUnreached || stopped.aborted)
    return { round, results: withSteady(results) };
  const fault = hasForeign(round)
    ? deployment.failure()
    : await checkVersionAgain(startCheck(round, stopped).context, options);
  return { round, results: fault ? withVersion(run, results, fault) : withSteady(results) };
}

/** Whether another deployment has answered in a round. */
function hasForeign({ deployment, foreignBefore }: Round): boolean {
  return deployment.foreignAnswers > foreignBefore;
}

/** The results with the failure of `reach/version`, which had passed before. */
function withVersion(run: SmokeRun, results: readonly CheckResult[], fault: Finding): CheckResult[] {
  return results.map((result) => {
    const examination = { ...result, findings: [fault], attempts: [] };
    return result.id === 'reach/version' ? (verdictOf(examination, weights(run)) ?? result) : result;
  });
}

/** What decides on a verdict beside the findings. */
function weights({ options: { strict }, service: { mask } }: SmokeRun) {
  return { strict, mask };
}

const minUnsteady = 3;

/**
 * The results with a failure of `reach/steady` if more than a third of the checks are flaky. A service that limits the
 * rate is steady.
 */
function withSteady(results: readonly CheckResult[]): readonly CheckResult[] {
  const ran = results.filter(({ state }) => state !== 'skip');
  const unsteady = ran.filter(({ state, first }) => state === 'flaky' && first !== statusText(429));
  if (unsteady.length < minUnsteady || unsteady.length * 3 <= ran.length) return results;
  const firsts = [...new Set(unsteady.map(({ first, reason }) => first ?? reason))].slice(0, 3).join(', ');
  const fault = fail(`${unsteady.length} of ${ran.length} checks are flaky: ${firsts} first`, {
    expected: 'at most a third of them',
  });
  return [...results, { ...fault, id: 'reach/steady', elapsedMs: 0 }];
}

/** Runs the write checks after a round, and removes their records. @returns the results of both. */
export async function withWriteChecks(
  run: SmokeRun,
  { round, results, obstacle }: RoundResult,
): Promise<readonly CheckResult[]> {
  const records = new Set<PossibleRecord>();
  const checks = selectedWriteChecks(run.options, records);
  if (checks.length === 0) return results;
  const writes = await examineChecks(run, round, checks, results, () => whyStopped(run) ?? obstacle);
  const hasRequests = writes.some(({ requestsMs = [] }) => requestsMs.length > 0);
  const startedMs = monotonicMs();
  const limit = new AbortController();
  abortLater(limit, cleanUpMs, 'the time for cleaning up is over');
  const { context, attempts } = startCheck(round, AbortSignal.any([run.abandoned, limit.signal]));
  const finding = hasRequests ? await cleanUp(context, records) : skip('nothing was written');
  const examination = {
    id: 'write/cleanup',
    elapsedMs: monotonicMs() - startedMs,
    findings: [finding],
    attempts,
  };
  const cleanup = verdictOf(examination, weights(run));
  const all = [...results, ...writes, ...(cleanup ? [cleanup] : [])];
  return hasRequests && hasForeign(round) ? withVersion(run, all, round.deployment.failure()) : all;
}

/**
 * Carries out checks one after another. If a check fails, checks that need it are skipped; a failure that counts only
 * because of `--strict` keeps no check from running.
 *
 * @param earlier results of checks that some of them need.
 * @param findObstacle says before each check why it is not carried out, a clause; undefined if it is.
 */
async function examineChecks(
  run: SmokeRun,
  round: Round,
  checks: readonly Check[],
  earlier: readonly CheckResult[],
  findObstacle: () => string | undefined,
): Promise<CheckResult[]> {
  const { observer, stopped, createSignal } = run;
  const results: CheckResult[] = [];
  for (const [at, { id, operation, needs = [], isOptional, run: check }] of checks.entries()) {
    const failed = [...earlier, ...results].find(
      (result) =>
        isRed(result) &&
        !result.isStrictFailure &&
        (prerequisites.includes(result.id) || needs.includes(result.id)),
    );
    const obstacle = failed ? `${failed.id} failed` : findObstacle();
    if (obstacle !== undefined) {
      const reason = failed ? `${obstacle}: ${failed.reason}` : obstacle;
      if (!isOptional) results.push({ operation, ...skip(reason), obstacle, id, elapsedMs: 0 });
      continue;
    }
    observer.check(id, at + 1, checks.length);
    const startedMs = monotonicMs();
    const { context, attempts } = startCheck(round, stopped, createSignal);
    const findings = await check(context).catch((error: unknown) => {
      // A call that was cut says nothing about the service.
      const why = whyStopped(run);
      if (why !== undefined && !(error instanceof FindingError)) return skip(why);
      // The contract requires a parameter without a value.
      return error instanceof UsageError ? skip(error.message) : findingOfError(error);
    });
    const elapsedMs = monotonicMs() - startedMs;
    const result = verdictOf(
      { id, operation, elapsedMs, findings: [findings].flat(), attempts },
      weights(run),
    );
    if (result) results.push(result);
  }
  return results;
}
