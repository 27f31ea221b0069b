import { embeddedOrigin } from '../api/http.ts';
import { longestTimerMs, monotonicMs, sleep } from '../process/deadline.ts';
import { type ExitCode, exitCodes, InterruptedError, type Signal, UsageError } from '../process/errors.ts';
import { type Interrupts, StoppedError } from '../process/signals.ts';
import { counted, durationText } from '../process/text.ts';
import { type Check, type CheckResult, groupOf } from './check.ts';
import {
  namesReach,
  prerequisites,
  readChecks,
  type SmokeOptions,
  selectedWriteChecks,
} from './check-table.ts';
import { Deployment } from './deployment.ts';
import { type Finding, FindingError, fail, findingOfError, isRed, skip, statusText } from './finding.ts';
import { cleanUp, type PossibleRecord } from './own-records.ts';
import { exitCodeOf, type SmokeReport } from './report/smoke-report.ts';
import { Tally } from './report/tally.ts';
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

/** A run of the checks. */
interface SmokeRun {
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

/** A pending create may still be answered for this long after the run was stopped. */
const createMs = 2000;
/** The longest time of the cleaning up of a run. */
const cleanUpMs = 10_000;

/**
 * Runs the checks, once or as often as the options say, and cleans up after each run, also after a signal; a second
 * signal ends the cleaning up too.
 */
export async function runSmoke(
  service: Service,
  options: SmokeOptions,
  observer: Observer,
  interrupts: Interrupts,
): Promise<SmokeReport> {
  const { maxTimeMs, write, repeat, forMs } = options;
  const stopping = new AbortController();
  const creating = new AbortController();
  const abandoning = new AbortController();
  let signal: Signal | undefined;
  const release = interrupts.take((name) => {
    if (signal) return abandoning.abort(new StoppedError('stopped by a second signal'));
    signal = name;
    stopping.abort(new StoppedError('the run was interrupted'));
    const choice = signal === 'SIGINT' ? '; Ctrl-C again leaves them' : '';
    if (write) void observer.print(`stopped: removing the records of this run${choice}`);
  });
  if (maxTimeMs !== undefined)
    abortLater(stopping, maxTimeMs, `the time of ${durationText(maxTimeMs)} is over (--max-time)`);
  const { signal: stopped } = stopping;
  const { signal: abandoned } = abandoning;
  stopped.addEventListener('abort', () => abortLater(creating, createMs, 'the run was interrupted'));
  const createSignal = AbortSignal.any([creating.signal, abandoned]);
  const run: SmokeRun = { service, options, observer, stopped, createSignal, abandoned };
  const startedAt = service.now();
  const startedMs = monotonicMs();
  const tally = new Tally();
  try {
    const first = await runUntilGreen(run);
    const firstMs = monotonicMs();
    tally.add(await withWrites(run, first));
    while (await hasNext(options, tally.runs, stopped, firstMs))
      tally.add(await withWrites(run, await runReads(run)));
    const outcomes = tally.outcomes(repeat !== undefined || forMs !== undefined);
    const end = endOf(options, outcomes, whyStopped(run), signal);
    const results = [...outcomes, ...(end ? [end] : [])];
    const { baseUrl } = service.client;
    return {
      target: baseUrl === embeddedOrigin ? 'the embedded store' : baseUrl,
      startedAt,
      elapsedMs: monotonicMs() - startedMs,
      write,
      rounds: first.rounds,
      runs: tally.runs,
      results,
      exitCode: end?.exitCode ?? exitCodeOf(results),
      signal,
    };
  } finally {
    release();
  }
}

function abortLater(controller: AbortController, ms: number, why: string): void {
  setTimeout(() => controller.abort(new StoppedError(why)), Math.min(ms, longestTimerMs)).unref();
}

/** Why the checks were stopped, a clause; undefined if they were not. */
function whyStopped({ stopped }: SmokeRun): string | undefined {
  return stopped.aborted ? (stopped.reason as StoppedError).message : undefined;
}

/** The results of the read checks of a round. */
interface RoundResult {
  readonly round: Round;
  readonly results: readonly CheckResult[];
  /** The number of this round, from 1. */
  readonly rounds: number;
  /** Why nothing may be written after them, a clause. */
  readonly obstacle?: string;
}

/** The pause between two rounds is doubled after each round. */
const firstPauseMs = 1000;
const longestPauseMs = 5000;

/**
 * Runs the read checks until they pass or the time of `--wait` is over; without `--wait`, once. 401, 403 and TLS errors
 * end the wait, because time does not change them.
 */
async function runUntilGreen(run: SmokeRun): Promise<RoundResult> {
  const { options, stopped, observer } = run;
  const { waitMs } = options;
  const deployment = createDeployment(run);
  const endMs = monotonicMs() + waitMs;
  for (let rounds = 1, pauseMs = firstPauseMs; ; rounds += 1) {
    const result = { ...(await runReads(run, deployment)), rounds };
    const fault = result.results.find(isRed);
    if (waitMs === 0 || !fault || stopped.aborted) return result;
    const leftMs = endMs - monotonicMs();
    const isFinal = fault.exitCode === exitCodes.auth || groupOf(fault.id) === 'tls';
    if (leftMs <= 0 || isFinal) {
      const wait = isFinal ? '' : `, after waiting ${durationText(waitMs)}`;
      const results = result.results.map((check) =>
        groupOf(check.id) === 'reach' && isRed(check)
          ? { ...check, reason: `${check.reason}${wait}` }
          : check,
      );
      return { ...result, results, obstacle: 'the read checks did not pass' };
    }
    const waiting = `waiting up to ${durationText(waitMs)} for the service`;
    if (rounds === 1) await observer.print(`${waiting}: ${fault.id}: ${fault.reason}`);
    // The last round begins when the time is over.
    await sleep(Math.min(pauseMs, leftMs), stopped).catch(() => {});
    if (stopped.aborted) return result;
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

function createDeployment({ service, options }: SmokeRun): Deployment {
  return new Deployment(options.waitFor, service.client);
}

/**
 * Runs the read checks once. An answer of another deployment than that of `--wait-for` ends the round.
 *
 * @param deployment counts the answers of all rounds of a wait.
 */
async function runReads(run: SmokeRun, deployment = createDeployment(run)): Promise<RoundResult> {
  const { service, options, stopped } = run;
  const round = startRound(service, deployment);
  const { foreignAnswers } = deployment;
  const hasForeign = () => deployment.foreignAnswers > foreignAnswers;
  const findObstacle = () => whyStopped(run) ?? (hasForeign() ? 'reach/version failed' : undefined);
  const results = await examineChecks(run, round, readChecks(options), [], findObstacle);
  const isUnreached = results.some((result) => isRed(result) && prerequisites.includes(result.id));
  if (options.waitFor.length === 0 || isUnreached || stopped.aborted)
    return { round, rounds: 1, results: withSteady(results) };
  const fault = hasForeign()
    ? deployment.failure()
    : await checkVersionAgain(startCheck(round, stopped).context, options);
  return { round, rounds: 1, results: fault ? withVersion(run, results, fault) : withSteady(results) };
}

/** The results with the failure of `reach/version`, which had passed before. */
function withVersion(run: SmokeRun, results: readonly CheckResult[], fault: Finding): CheckResult[] {
  return results.map((result) => {
    const examination = { ...result, findings: [fault], attempts: [] };
    return result.id === 'reach/version' ? (verdictOf(examination, weights(run)) ?? result) : result;
  });
}

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

/** The results of a round and of the write checks after it, which clean up. */
async function withWrites(
  run: SmokeRun,
  { round, results, obstacle }: RoundResult,
): Promise<readonly CheckResult[]> {
  const records = new Set<PossibleRecord>();
  const checks = selectedWriteChecks(run.options, records);
  if (checks.length === 0) return results;
  const { deployment } = round;
  const { foreignAnswers } = deployment;
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
  return deployment.foreignAnswers > foreignAnswers ? withVersion(run, all, deployment.failure()) : all;
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
      if (why !== undefined && !(error instanceof FindingError)) return [skip(why)];
      // The contract requires a parameter without a value.
      return [error instanceof UsageError ? skip(error.message) : findingOfError(error)];
    });
    const elapsedMs = monotonicMs() - startedMs;
    const result = verdictOf({ id, operation, elapsedMs, findings, attempts }, weights(run));
    if (result) results.push(result);
  }
  return results;
}

/** Waits until the next run should begin, and says whether there is one. */
async function hasNext(
  { repeat = 1, forMs, everyMs }: SmokeOptions,
  runs: number,
  stopped: AbortSignal,
  firstMs: number,
): Promise<boolean> {
  if (stopped.aborted || (forMs === undefined && runs >= repeat)) return false;
  const elapsedMs = monotonicMs() - firstMs;
  // After a run longer than the interval, skip the missed times.
  const nextMs = everyMs === 0 ? elapsedMs : Math.floor(elapsedMs / everyMs + 1) * everyMs;
  if (forMs !== undefined && nextMs >= forMs) return false;
  if (nextMs > elapsedMs) await sleep(nextMs - elapsedMs, stopped).catch(() => {});
  return !stopped.aborted;
}

/** A failure for a run that was stopped or checked nothing, because a report must not be green if the exit code is not 0. */
function endOf(
  options: SmokeOptions,
  outcomes: readonly CheckResult[],
  why: string | undefined,
  signal: Signal | undefined,
): (CheckResult & { readonly exitCode: ExitCode }) | undefined {
  const failure = { id: 'run/complete', state: 'fail', elapsedMs: 0 } as const;
  if (why !== undefined) {
    const skips = outcomes.filter(({ obstacle }) => obstacle === why).length;
    const rest = skips === 0 ? '' : ` before ${counted(skips, 'check', 'checks')}`;
    const exitCode = signal ? new InterruptedError(signal).exitCode : exitCodes['check-failed'];
    return { ...failure, reason: `${signal ? `stopped by ${signal}` : why}${rest}`, exitCode };
  }
  const isTest = ({ id, state }: CheckResult) =>
    state !== 'skip' && (namesReach(options) || groupOf(id) !== 'reach' || state === 'fail');
  if (outcomes.some(isTest)) return undefined;
  const reason = 'no check beside reach ran: every one was skipped';
  return { ...failure, reason, exitCode: exitCodes.usage };
}
