import { monotonicMs, sleep } from '../deadline.ts';
import { type ExitCode, exitCodes, InterruptedError } from '../errors.ts';
import type { Interrupts } from '../interrupts.ts';
import type { Signal } from '../io.ts';
import { type Check, type CheckResult, isRed, runChecks, type State, states } from './check.ts';
import { cleanupCheck, sweepCheck } from './cleanup.ts';
import { waitForService } from './http.ts';
import { groupOf, type SmokeOptions } from './options.ts';
import { isSelected, planChecks, weighed } from './plan.ts';
import { createProbe, type Probe, type SmokeSubject } from './probe.ts';
import { gates } from './reach.ts';
import { SmokeStop } from './stop.ts';
import { durationText, latencyOf } from './text.ts';

/** The number of checks in each state; `flaky` counts some of the passed ones again. */
export type Totals = Readonly<Record<State | 'checks' | 'flaky', number>>;

/** The results of all checks; every report is generated from this. */
export interface SmokeReport {
  /** The base URL, or the name of another target. */
  readonly target: string;
  readonly startedAt: Date;
  readonly elapsedMs: number;
  /** Whether the run was allowed to write. */
  readonly write: boolean;
  /** How often the checks ran. */
  readonly runs: number;
  readonly results: readonly CheckResult[];
  readonly totals: Totals;
  readonly exitCode: ExitCode;
  /** The signal that ended the run early. */
  readonly signal?: Signal | undefined;
}

/** Shows the results as they come. */
interface Display {
  result(result: CheckResult): Promise<void>;
  /** Called with the results of each run, in place of `result`, if the checks run more than once. */
  run(results: readonly CheckResult[]): Promise<void>;
  /** Shows a line for people about the current activity. */
  notice(line: string): Promise<void>;
}

/**
 * Runs the checks, once or as often as the options say, and cleans up after each run, also after a signal; a second
 * signal ends the cleaning up too.
 *
 * @param target the name of the service in reports.
 */
export async function runSmoke(
  subject: SmokeSubject,
  target: string,
  display: Display,
  interrupts: Interrupts,
): Promise<SmokeReport> {
  const { client, options, now } = subject;
  const checks = planChecks(client.contract, options);
  const stop = new SmokeStop(interrupts, (signal) => void tellStop(display, probe, signal));
  let probe = createProbe(subject, stop);
  const startedAt = now();
  const startedMs = monotonicMs();
  const runs: CheckResult[][] = [];
  try {
    const limit = durationText(options.waitMs);
    probe.late = await waitForService(probe, (problem) =>
      display.notice(`waiting up to ${limit} for the service: ${problem}`),
    );
    const firstMs = monotonicMs();
    runs.push(await runOnce(probe, checks, display));
    const again = checks.filter(({ id }) => id !== sweepCheck.id);
    while (await goesOn(options, runs, stop.stopped, firstMs)) {
      probe = createProbe(subject, stop);
      runs.push(await runOnce(probe, again, display));
    }
    const results = isRepeated(options) ? mergeRuns(runs) : (runs[0] ?? []);
    return {
      target,
      startedAt,
      elapsedMs: monotonicMs() - startedMs,
      write: options.write,
      runs: runs.length,
      results,
      totals: totalsOf(results),
      exitCode: stop.reason ? new InterruptedError(stop.reason).exitCode : exitCodeOf(results),
      signal: stop.reason,
    };
  } finally {
    stop.release();
  }
}

async function runOnce(
  probe: Probe,
  checks: readonly Check<Probe>[],
  display: Display,
): Promise<CheckResult[]> {
  const { options, results, stop } = probe;
  const reported: CheckResult[] = [];
  const report = async (result: CheckResult) => {
    reported.push(result);
    if (!isRepeated(options)) await display.result(result);
  };
  try {
    for await (const result of runChecks(checks.map(weighed), probe, results, stop.stopped))
      if (isSelected(result.id, options) || isRed(result)) await report(result);
  } finally {
    const cleanup = checks.some(({ id }) => groupOf(id) === 'write') ? [weighed(cleanupCheck)] : [];
    probe.signal = stop.cut;
    for await (const result of runChecks(cleanup, probe)) await report(result);
  }
  if (isRepeated(options)) await display.run(reported);
  return reported;
}

async function tellStop(display: Display, { traces }: Probe, signal: Signal): Promise<void> {
  if (traces.isClean) return;
  const again = signal === 'SIGINT' ? '; Ctrl-C again leaves them' : '';
  await display.notice(`stopped: removing the records of this run${again}`);
}

export function isRepeated({ repeat, forMs }: SmokeOptions): boolean {
  return repeat !== undefined || forMs !== undefined;
}

/** Whether there is another run; waits until it should begin. */
async function goesOn(
  { repeat = 1, forMs, everyMs, untilFailure }: SmokeOptions,
  runs: readonly (readonly CheckResult[])[],
  stopped: AbortSignal,
  firstMs: number,
): Promise<boolean> {
  if (stopped.aborted || (untilFailure && runs.at(-1)?.some(isRed))) return false;
  if (forMs === undefined && runs.length >= repeat) return false;
  const elapsedMs = monotonicMs() - firstMs;
  // After a run longer than the interval, skip the missed times.
  const nextMs = everyMs === 0 ? elapsedMs : Math.floor(elapsedMs / everyMs + 1) * everyMs;
  if (forMs !== undefined && nextMs >= forMs) return false;
  if (nextMs > elapsedMs) await sleep(nextMs - elapsedMs, stopped).catch(() => {});
  return !stopped.aborted;
}

/** One result per check over several runs; it says if some runs failed and others passed. */
export function mergeRuns(runs: readonly (readonly CheckResult[])[]): CheckResult[] {
  const ids = new Set(runs.flatMap((results) => results.map(({ id }) => id)));
  return [...ids].map((id) => mergeResults(runs.flatMap((run) => run.filter((result) => result.id === id))));
}

const gravity: readonly State[] = ['skip', 'pass', 'warn', 'error', 'fail'];

function mergeResults(all: readonly CheckResult[]): CheckResult {
  const ran = all.filter(({ state }) => state !== 'skip');
  const grave = (result: CheckResult) => gravity.indexOf(result.state);
  const worst = all.reduce((one, other) => (grave(other) > grave(one) ? other : one));
  const failures = ran.filter(isRed).length;
  const timesMs = ran.map(({ elapsedMs }) => elapsedMs);
  const flaky = ran.find((result) => result.flaky !== undefined)?.flaky;
  return {
    ...worst,
    reason: mergedReason(worst, ran),
    elapsedMs: timesMs.reduce((sum, ms) => sum + ms, 0),
    flaky: worst.state === 'pass' ? flaky : undefined,
    runs: ran.length,
    failures,
    latency: ran.length === 0 ? undefined : latencyOf(timesMs),
  };
}

function mergedReason(worst: CheckResult, ran: readonly CheckResult[]): string {
  const { state, reason } = worst;
  if (state === 'skip') return reason;
  if (isRed(worst)) return `failed ${ran.filter(isRed).length} of ${ran.length}: ${reason}`;
  const warned = ran.filter((result) => result.state === 'warn').length;
  if (warned > 0) return `warned ${warned} of ${ran.length}: ${reason}`;
  const flaky = ran.filter((result) => result.flaky !== undefined).length;
  return flaky > 0 ? `flaky ${flaky} of ${ran.length}` : `passed ${ran.length} of ${ran.length}`;
}

export function totalsOf(results: readonly CheckResult[]): Totals {
  const counts = states.map((state) => [state, results.filter((each) => each.state === state).length]);
  return {
    checks: results.length,
    ...(Object.fromEntries(counts) as Record<State, number>),
    flaky: results.filter(({ flaky }) => flaky !== undefined).length,
  };
}

/**
 * 4 if every failure is a refused credential, 6 if the service could not be reached, 7 if a check failed, 2 if none ran,
 * else 0. Over several runs a service that answered in some of them was reached.
 */
export function exitCodeOf(results: readonly CheckResult[]): ExitCode {
  const red = results.filter(isRed);
  if (red.length === 0)
    return results.every(({ state }) => state === 'skip') ? exitCodes.usage : exitCodes.done;
  if (red.every(({ status }) => status === 401 || status === 403)) return exitCodes.auth;
  const isUnreached = ({ id, hardened, runs, failures }: CheckResult) =>
    gates.includes(id) && !hardened && runs === failures;
  return red.some(isUnreached) ? exitCodes.unavailable : exitCodes['check-failed'];
}
