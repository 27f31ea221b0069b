import type { Attempt } from '../client/attempt.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { type ExitCode, exitCodes, InterruptedError, UsageError } from '../process/errors.ts';
import type { Interrupts } from '../process/signals.ts';
import { counted, durationText } from '../process/text.ts';
import {
  type Check,
  type CheckResult,
  type Finding,
  FindingError,
  fail,
  findingOfError,
  groupOf,
  isRed,
  runChecks,
  skip,
  type Verdict,
} from './check.ts';
import { asksForReach, readChecks, type Selection, selectedWriteChecks } from './check-table.ts';
import { Deployment } from './deployment.ts';
import { type Creation, cleanUp } from './ownership.ts';
import { gates } from './reach.ts';
import { exitCodeOf, type SmokeReport } from './report/smoke-report.ts';
import { Tally } from './report/tally.ts';
import { type CheckContext, type Round, type SmokeOptions, startCheck } from './round.ts';
import { SmokeStop } from './smoke-stop.ts';
import { verdictOf } from './verdict.ts';
import { sample, samplesAfter } from './version-check.ts';

/** The service under test, and how to test it. */
interface SmokeTarget extends Omit<Round, 'visits' | 'deployment'> {
  /** Its name in reports. */
  readonly name: string;
}

/** Shows on the terminal what a run is doing. */
export interface Observer {
  /** A check begins. `at` is its number in the round, from 1. */
  check(id: string, at: number, count: number): void;
  /** A line for people about the current activity. */
  print(line: string): Promise<void>;
}

interface Run {
  readonly target: SmokeTarget;
  readonly stop: SmokeStop;
  readonly observer: Observer;
}

/**
 * Runs the checks, once or as often as the options say, and cleans up after each run, also after a signal; a second
 * signal ends the cleaning up too.
 */
export async function runSmoke(
  target: SmokeTarget,
  observer: Observer,
  interrupts: Interrupts,
): Promise<SmokeReport> {
  const { options, now } = target;
  const stop = new SmokeStop(interrupts, options.maxTimeMs, (signal) => {
    if (!options.write) return;
    const choice = signal === 'SIGINT' ? '; Ctrl-C again leaves them' : '';
    void observer.print(`stopped: removing the records of this run${choice}`);
  });
  const startedAt = now();
  const startedMs = monotonicMs();
  const run: Run = { target, stop, observer };
  const tally = new Tally();
  try {
    const { rounds, ...first } = await runUntilGreen(run);
    const firstMs = monotonicMs();
    tally.add(await withWrites(run, first));
    while (await hasNext(options, tally.runs, stop, firstMs))
      tally.add(await withWrites(run, await runReads(run)));
    const outcomes = tally.outcomes(isRepeated(options));
    const end = endOf(options, outcomes, stop);
    const results = [...outcomes, ...(end ? [end] : [])];
    return {
      target: target.name,
      startedAt,
      elapsedMs: monotonicMs() - startedMs,
      write: options.write,
      rounds,
      runs: tally.runs,
      results,
      exitCode: end?.exitCode ?? exitCodeOf(results),
      signal: stop.signal,
    };
  } finally {
    stop.release();
  }
}

/** The results of the read checks of a round. */
interface RoundResult {
  readonly round: Round;
  readonly results: readonly CheckResult[];
  /** Why nothing may be written after them, a clause. */
  readonly obstacle?: string | undefined;
}

/** The pause between two rounds is doubled after each round. */
const firstPauseMs = 1000;
const longestPauseMs = 5000;

/**
 * Runs the read checks until they pass or the time of `--wait` is over; without `--wait`, once. 401, 403 and TLS errors
 * end the wait, because time does not change them.
 */
async function runUntilGreen(run: Run): Promise<RoundResult & { readonly rounds: number }> {
  const { target, stop, observer } = run;
  const { waitMs } = target.options;
  const deployment = createDeployment(target);
  const endMs = monotonicMs() + waitMs;
  for (let rounds = 1, pauseMs = firstPauseMs; ; rounds += 1) {
    const result = await runReads(run, deployment);
    const [fault] = result.results.filter(isRed);
    if (waitMs === 0 || !fault || stop.reason !== undefined) return { ...result, rounds };
    const leftMs = endMs - monotonicMs();
    const obstacle = 'the read checks did not pass';
    if (leftMs <= 0 || isFinal(fault)) {
      const wait = isFinal(fault) ? '' : `, after waiting ${durationText(waitMs)}`;
      const results = result.results.map((check) =>
        groupOf(check.id) === 'reach' && isRed(check)
          ? { ...check, reason: `${check.reason}${wait}` }
          : check,
      );
      return { ...result, results, rounds, obstacle };
    }
    if (rounds === 1)
      await observer.print(
        `waiting up to ${durationText(waitMs)} for the service: ${fault.id}: ${fault.reason}`,
      );
    // The last round begins when the time is over.
    await sleep(Math.min(pauseMs, leftMs), stop.stopped).catch(() => {});
    if (stop.reason !== undefined) return { ...result, rounds };
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

function isFinal({ id, exitCode }: CheckResult): boolean {
  return exitCode === exitCodes.auth || id.startsWith('tls/');
}

function createDeployment({ client, options }: SmokeTarget): Deployment {
  return new Deployment(options.waitFor, (path) => client.toRawRequest({ method: 'GET', path }).url);
}

/**
 * Runs the read checks once. An answer of another deployment than that of `--wait-for` ends the round.
 *
 * @param deployment counts the answers of all rounds of a wait.
 */
async function runReads(run: Run, deployment = createDeployment(run.target)): Promise<RoundResult> {
  const { target, stop } = run;
  const round = { ...target, sockets: target.sockets.again(), visits: new Map(), deployment };
  const { foreignAnswers } = deployment;
  const hasForeign = () => deployment.foreignAnswers > foreignAnswers;
  const whyStopped = () => stop.reason ?? (hasForeign() ? 'reach/version failed' : undefined);
  const results = await examineChecks(run, round, readChecks(selectionOf(target)), [], whyStopped);
  const version = results.find(({ id }) => id === 'reach/version');
  const isReached = !results.some((result) => isRed(result) && gates.includes(result.id));
  if (version && isReached && stop.reason === undefined) {
    const fault = hasForeign() ? deployment.failure() : await sampleAgain(round, stop.stopped);
    if (fault) return { round, results: withFailure(round, results, version, fault) };
  }
  return { round, results: withSteady(results) };
}

async function sampleAgain(round: Round, signal: AbortSignal): Promise<Finding | undefined> {
  return sample(startCheck(round, signal).context, samplesAfter).catch(findingOfError);
}

function selectionOf({ client, options, sockets }: SmokeTarget): Selection {
  const hasTls = sockets.encrypted && sockets.absence === undefined;
  return { contract: client.contract, options, hasTls, hasToken: client.credential !== undefined };
}

/** The results with the failure of a check that had passed before. */
function withFailure(
  round: Round,
  results: readonly CheckResult[],
  check: CheckResult,
  fault: Finding,
): CheckResult[] {
  const failure = toCheckResult(round, check, fault, []);
  return results.map((result) => (result.id === check.id ? failure : result));
}

function toCheckResult(
  round: Round,
  { id, elapsedMs }: Pick<CheckResult, 'id' | 'elapsedMs'>,
  finding: Finding,
  attempts: readonly Attempt[],
): CheckResult {
  return { ...finding, ...verdictOf({}, [finding], attempts, weights(round)), id, elapsedMs };
}

function weights({ options: { strict }, mask }: Round) {
  return { strict, mask };
}

const minUnsteady = 3;

/**
 * The results with a failure of `reach/steady` if more than a third of the checks are flaky. A service that limits the
 * rate is steady.
 */
function withSteady(results: readonly CheckResult[]): readonly CheckResult[] {
  const ran = results.filter(({ state }) => state !== 'skip');
  const unsteady = ran.filter(({ state, first }) => state === 'flaky' && !first?.startsWith('429'));
  if (unsteady.length < minUnsteady || unsteady.length * 3 <= ran.length) return results;
  const firsts = [...new Set(unsteady.map(({ first, reason }) => first ?? reason))].slice(0, 3).join(', ');
  const fault = fail(`${unsteady.length} of ${ran.length} checks are flaky: ${firsts} first`, {
    expected: 'at most a third of them',
  });
  return [...results, { ...fault, id: 'reach/steady', elapsedMs: 0 }];
}

/** The results of a round and of the write checks after it, which clean up. */
async function withWrites(run: Run, reads: RoundResult): Promise<CheckResult[]> {
  const { target, stop } = run;
  const { round, results, obstacle } = reads;
  const creations = new Set<Creation>();
  const checks = selectedWriteChecks(selectionOf(target), { creations, createSignal: stop.createSignal });
  if (checks.length === 0) return [...results];
  const { foreignAnswers } = round.deployment;
  const writes = await examineChecks(run, round, checks, results, () => stop.reason ?? obstacle);
  const startedMs = monotonicMs();
  const { context, attempts } = startCheck(round, stop.cleanUpSignal());
  const hasRequests = writes.some(({ requestsMs = [] }) => requestsMs.length > 0);
  const finding = hasRequests ? await cleanUp(context, creations) : skip('nothing was written');
  const elapsedMs = monotonicMs() - startedMs;
  const cleanup = toCheckResult(round, { id: 'write/cleanup', elapsedMs }, finding, attempts);
  const allResults = [...results, ...writes, cleanup];
  const version = results.find(({ id }) => id === 'reach/version');
  const isForeign = version?.state === 'pass' && round.deployment.foreignAnswers > foreignAnswers;
  return isForeign ? withFailure(round, allResults, version, round.deployment.failure()) : allResults;
}

/** Carries out checks one after another. @param earlier results of checks that some of them need. */
async function examineChecks(
  { observer, stop }: Run,
  round: Round,
  checks: readonly Check<CheckContext>[],
  earlier: readonly CheckResult[],
  whyStopped: () => string | undefined,
): Promise<CheckResult[]> {
  const examine = async (check: Check<CheckContext>): Promise<Verdict | undefined> => {
    const obstacle = whyStopped();
    if (obstacle !== undefined) return { ...skip(obstacle), barredBy: obstacle };
    observer.check(check.id, checks.indexOf(check) + 1, checks.length);
    const { context, attempts } = startCheck(round, stop.stopped);
    const findings = await check.run(context).catch((error: unknown) => {
      // A call that was cut says nothing about the service.
      if (stop.reason !== undefined && !(error instanceof FindingError)) return [skip(stop.reason)];
      // The contract requires a parameter without a value.
      return [error instanceof UsageError ? skip(error.message) : findingOfError(error)];
    });
    return verdictOf(check, findings, attempts, weights(round));
  };
  const results: CheckResult[] = [];
  for await (const result of runChecks(checks, examine, earlier)) results.push(result);
  return results;
}

function isRepeated({ repeat, forMs }: SmokeOptions): boolean {
  return repeat !== undefined || forMs !== undefined;
}

/** Waits until the next run should begin, and says whether there is one. */
async function hasNext(
  { repeat = 1, forMs, everyMs }: SmokeOptions,
  runs: number,
  { stopped }: SmokeStop,
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
  { signal, reason }: SmokeStop,
): (CheckResult & { readonly exitCode: ExitCode }) | undefined {
  const failure = { id: 'run/complete', state: 'fail', elapsedMs: 0 } as const;
  if (reason !== undefined) {
    const skips = outcomes.filter(({ barredBy }) => barredBy === reason).length;
    const rest = skips === 0 ? '' : ` before ${counted(skips, 'check', 'checks')}`;
    const exitCode = signal ? new InterruptedError(signal).exitCode : exitCodes['check-failed'];
    return { ...failure, reason: `${signal ? `stopped by ${signal}` : reason}${rest}`, exitCode };
  }
  const isTest = ({ id, state }: CheckResult) =>
    state !== 'skip' && (asksForReach(options) || groupOf(id) !== 'reach' || state === 'fail');
  if (outcomes.some(isTest)) return undefined;
  return {
    ...failure,
    reason: 'no check beside reach ran: every one was skipped',
    exitCode: exitCodes.usage,
  };
}
