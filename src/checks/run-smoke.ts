import { shownUrl } from '../api/http.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { type ExitCode, exitCodes, InterruptedError, UsageError } from '../process/errors.ts';
import type { Signal } from '../process/io.ts';
import type { Interrupts } from '../process/signals.ts';
import { counted, durationText } from '../process/text.ts';
import { type CheckRun, type Round, type SmokeOptions, type SmokeTarget, startCheck } from './ask.ts';
import {
  type Check,
  type CheckResult,
  groupOf,
  interrupted,
  isRed,
  runChecks,
  skip,
  type Verdict,
  VerdictError,
  verdictOfError,
} from './check.ts';
import { cleanUp, Ownership } from './ownership.ts';
import { exitCodeOf, type Outcome, type SmokeReport, Tally, totalsOf } from './report/smoke-report.ts';
import { asksForReach, type Selection, selectChecks } from './select.ts';
import { SmokeStop } from './smoke-stop.ts';
import { DeploymentCount, type Waited, waitForService } from './wait.ts';

/** Sees what a run is doing, for the terminal. */
export interface Observer {
  /** A check begins; `at` counts from 1, in every run again. */
  check(id: string, at: number, count: number): void;
  /** A line for people about the current activity. */
  print(line: string): Promise<void>;
}

/**
 * Runs the checks, once or as often as the options say, and cleans up after each run, also after a signal; a second
 * signal ends the cleaning up too.
 *
 * @param name of the service in reports.
 */
export async function runSmoke(
  target: SmokeTarget,
  name: string,
  observer: Observer,
  interrupts: Interrupts,
): Promise<SmokeReport> {
  const { options, now } = target;
  let ownership = new Ownership();
  const stop = new SmokeStop(interrupts, (signal) => void noticeStop(observer, ownership, signal));
  const startedAt = now();
  const startedMs = monotonicMs();
  const tally = new Tally();
  try {
    let waited = await waitIfAsked(target, stop, observer);
    const firstMs = monotonicMs();
    do {
      ownership = new Ownership();
      tally.add(await runRound({ target, stop, ownership, observer, waited }));
      waited = undefined;
    } while (await hasNext(options, tally.runs, stop.stopped, firstMs));
    const outcomes = tally.outcomes(isRepeated(options));
    const end = endOf(options, outcomes, stop.reason);
    const results = [...outcomes, ...(end ? [end] : [])];
    return {
      target: name,
      startedAt,
      elapsedMs: monotonicMs() - startedMs,
      write: options.write,
      runs: tally.runs,
      results,
      totals: totalsOf(results),
      exitCode: end?.exitCode ?? exitCodeOf(results),
      signal: stop.reason,
    };
  } finally {
    stop.release();
  }
}

async function waitIfAsked(
  target: SmokeTarget,
  stop: SmokeStop,
  { print }: Observer,
): Promise<Waited | undefined> {
  const { waitMs } = target.options;
  if (waitMs === 0) return undefined;
  const round: Round = { ...target, visits: new Map(), onAnswer: () => {} };
  const onWaiting = (why: string) =>
    print(`waiting up to ${durationText(waitMs)} for the service: ${target.mask(shownUrl(why))}`);
  try {
    return await waitForService(round, stop.stopped, onWaiting);
  } catch (error) {
    if (stop.stopped.aborted) return undefined;
    throw error;
  }
}

interface RoundOptions {
  readonly target: SmokeTarget;
  readonly stop: SmokeStop;
  readonly ownership: Ownership;
  readonly observer: Observer;
  /** What the wait before the first run came to. */
  readonly waited: Waited | undefined;
}

/** Runs every check once, and cleans up. */
async function runRound({ target, stop, ownership, observer, waited }: RoundOptions): Promise<CheckResult[]> {
  const { client, options } = target;
  const sockets = target.sockets.again();
  const deployments = new DeploymentCount(options.waitFor);
  const round: Round = {
    ...target,
    sockets,
    visits: new Map(),
    onAnswer: (answer) => deployments.add(answer),
  };
  const selection: Selection = {
    contract: client.contract,
    options,
    hasTls: sockets.encrypted && sockets.absence === undefined,
  };
  const checks = selectChecks(selection, ownership, waited);
  const seen = checks.map((check, at) => ({
    ...check,
    run(target: Round) {
      observer.check(check.id, at + 1, checks.length);
      const run = startCheck(target, { signal: stop.stopped, createSignal: stop.creating });
      return judged(check, run, options);
    },
  }));
  const results: CheckResult[] = [];
  for await (const result of runChecks(seen, round, stop.stopped)) results.push(result);
  const version = deployments.failure;
  const at = results.findIndex(({ id, state }) => id === 'reach/version' && state === 'pass');
  if (version && at !== -1) results[at] = { ...version, id: 'reach/version', elapsedMs: 0 };
  if (!checks.some(({ id }) => groupOf(id) === 'write')) return results;
  const startedMs = monotonicMs();
  const verdict = await stop.whileCleaning(async () => {
    const run = startCheck(round, { signal: stop.cut, timeoutMs: stop.cleanUpMs });
    return masked(await cleanUp(run, ownership), round);
  });
  return [...results, { ...verdict, id: 'write/cleanup', elapsedMs: monotonicMs() - startedMs }];
}

async function noticeStop({ print }: Observer, ownership: Ownership, signal: Signal): Promise<void> {
  if (ownership.rest.length === 0) return;
  const again = signal === 'SIGINT' ? '; Ctrl-C again leaves them' : '';
  await print(`stopped: removing the records of this run${again}`);
}

export function isRepeated({ repeat, forMs }: SmokeOptions): boolean {
  return repeat !== undefined || forMs !== undefined;
}

/** Whether there is another run; waits until it should begin. */
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

/** The case that keeps a report from being green if the exit code is not: the run did not come to its end. */
function endOf(
  options: SmokeOptions,
  outcomes: readonly Outcome[],
  signal: Signal | undefined,
): (Outcome & { readonly exitCode: ExitCode }) | undefined {
  const at = { id: 'run/complete', state: 'fail', elapsedMs: 0 } as const;
  const missed = outcomes.filter(({ barredBy }) => barredBy === interrupted).length;
  if (signal) {
    const rest = missed === 0 ? '' : ` before ${counted(missed, 'check', 'checks')}`;
    return { ...at, reason: `stopped by ${signal}${rest}`, exitCode: new InterruptedError(signal).exitCode };
  }
  const counts = ({ id, state }: Outcome) =>
    state !== 'skip' && (asksForReach(options) || groupOf(id) !== 'reach' || state === 'fail');
  if (outcomes.some(counts)) return undefined;
  return { ...at, reason: 'no check beside reach ran: every one was skipped', exitCode: exitCodes.usage };
}

/** The check's verdict, weighed by what came before it, by retries and by the options. */
async function judged(
  check: Check<CheckRun>,
  run: CheckRun,
  options: SmokeOptions,
): Promise<Verdict | undefined> {
  const found = await check.run(run).catch((error: unknown) => toVerdict(error, run));
  if (!found) return undefined;
  const { first } = run;
  const isFlaky = found.state === 'pass' && first !== undefined;
  const verdict: Verdict = isFlaky
    ? { ...found, state: 'flaky', first, reason: `${first} first, then: ${found.reason}` }
    : found;
  return masked(weigh(check, verdict, options), run);
}

function toVerdict(error: unknown, { signal }: CheckRun): Verdict {
  if (signal.aborted && !(error instanceof VerdictError)) return skip(interrupted);
  // The contract requires a parameter without a value.
  if (error instanceof UsageError) return skip(error.message);
  return verdictOfError(error);
}

/**
 * Softens a failure of an operation that is not stable to a warning. `--strict` does not, and turns warnings and flaky
 * passes into failures.
 */
function weigh(check: Check<CheckRun>, verdict: Verdict, { strict }: SmokeOptions): Verdict {
  const blamed = verdict.operation ?? check.operation;
  const isSettled = strict || !blamed || blamed.stability === 'stable';
  if (isRed(verdict) && !isSettled)
    return { ...verdict, state: 'warn', reason: `${verdict.reason} (${blamed.id} is ${blamed.stability})` };
  const isSoft = verdict.state === 'warn' || verdict.state === 'flaky';
  if (!strict || !isSoft) return verdict;
  const reason = verdict.state === 'flaky' ? `flaky: ${verdict.reason}` : verdict.reason;
  return { ...verdict, state: 'fail', reason, hardened: true };
}

/** Masks secrets before the escapes of a report can hide them from a search. */
function masked(verdict: Verdict, { mask }: Pick<Round, 'mask'>): Verdict {
  const safe = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(safe) : typeof value === 'string' ? mask(shownUrl(value)) : value;
  const texts = Object.fromEntries(Object.entries(verdict).map(([name, value]) => [name, safe(value)]));
  return { ...verdict, ...texts, state: verdict.state };
}
