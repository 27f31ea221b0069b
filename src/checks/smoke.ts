import type { Contract } from '../api/contract.ts';
import type { Client } from '../client/client.ts';
import { monotonicMs } from '../clock.ts';
import { sleep } from '../deadline.ts';
import { type ExitCode, exitCodes, InterruptedError } from '../errors.ts';
import type { Interrupts } from '../interrupts.ts';
import type { Signal } from '../io.ts';
import { type Check, type CheckResult, isRed, runChecks, type State, states } from './check.ts';
import { checkConditions } from './conditions.ts';
import { createTraces, type Traces } from './made.ts';
import { groupOf, type SmokeOptions } from './options.ts';
import { cleanupCheck, isSelected, planChecks, weighed } from './plan.ts';
import { createProbe, type Probe } from './probe.ts';
import { gates, waitForService } from './reach.ts';
import type { Sockets } from './sockets.ts';
import { SmokeStop } from './stop.ts';
import { durationText, percentile } from './text.ts';

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

interface SmokeParts {
  readonly client: Client;
  /** The name of the service in reports. */
  readonly target: string;
  readonly sockets: Sockets;
  readonly options: SmokeOptions;
  readonly interrupts: Interrupts;
  /** Masks the known secrets. */
  mask(text: string): string;
  now(): Date;
  /** Called before the first result with the ids that the report may have. */
  onPlan(ids: readonly string[]): Promise<void>;
  onResult(result: CheckResult): Promise<void>;
  /** Called with the results of each run, if the checks run more than once. */
  onRun(results: readonly CheckResult[]): Promise<void>;
  /** Shows a line for people about the current activity. */
  onNotice(line: string): Promise<void>;
}

/**
 * Runs the checks, once or as often as the options say, and cleans up after each run, also after a signal; a second
 * signal ends the cleaning up too.
 *
 * @throws UsageError if the selection leaves no check.
 */
export async function runSmoke(parts: SmokeParts): Promise<SmokeReport> {
  const { client, target, options, now } = parts;
  checkConditions(parts, [...options.waitFor, ...options.expect]);
  const ids = listChecks(client.contract, options).map(({ id }) => id);
  let traces: Traces | undefined;
  const stop = new SmokeStop(parts.interrupts, (signal) => void tellStop(parts, traces, signal));
  const startedAt = now();
  const startedMs = monotonicMs();
  const runs: CheckResult[][] = [];
  try {
    await parts.onPlan(options.write ? [...ids, 'write/cleanup'] : ids);
    const late = await wait(parts, stop);
    const firstMs = monotonicMs();
    do {
      traces = createTraces();
      // Only the first run waits and sweeps.
      const swept = runs.length === 0 ? options : { ...options, sweepMs: undefined };
      runs.push(
        await runOnce({ ...parts, options: swept }, { traces, stop, late: runs[0] ? undefined : late }),
      );
      if (isRepeated(options)) await parts.onRun(runs.at(-1) ?? []);
    } while (await goesOn(options, { runs, stop, firstMs }));
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

/** The checks that a run would have. @throws UsageError if the selection leaves none. */
export function listChecks(contract: Contract, options: SmokeOptions): Check<Probe>[] {
  const never = new AbortController().signal;
  const checks = planChecks(contract, options, createTraces(), never);
  return checks.filter(({ id }) => isSelected(id, options));
}

interface Run {
  readonly traces: Traces;
  readonly stop: SmokeStop;
  readonly late: string | undefined;
}

async function runOnce(parts: SmokeParts, { traces, stop, late }: Run): Promise<CheckResult[]> {
  const { client, options } = parts;
  const checks = planChecks(client.contract, options, traces, stop.creating);
  const reported: CheckResult[] = [];
  const report = async (result: CheckResult) => {
    reported.push(result);
    if (!isRepeated(options)) await parts.onResult(result);
  };
  const results = new Map<string, CheckResult>();
  const probe = createProbe({ ...parts, results, late, signal: stop.stopped });
  const writes = checks.some(({ id }) => groupOf(id) === 'write');
  try {
    for await (const result of runChecks(checks.map(weighed), probe, { signal: stop.stopped, results }))
      if (isSelected(result.id, options) || isRed(result)) await report(result);
  } finally {
    const cleaner = createProbe({ ...parts, results, signal: stop.cut });
    const cleanup = writes ? [weighed(cleanupCheck(traces, stop))] : [];
    for await (const result of runChecks(cleanup, cleaner)) await report(result);
  }
  return reported;
}

export function isRepeated({ repeat, forMs }: SmokeOptions): boolean {
  return repeat !== undefined || forMs !== undefined;
}

interface Repetition {
  readonly runs: readonly (readonly CheckResult[])[];
  readonly stop: SmokeStop;
  readonly firstMs: number;
}

/** Whether there is another run; waits until it should begin. */
async function goesOn(
  { repeat = 1, forMs, everyMs, untilFailure }: SmokeOptions,
  { runs, stop, firstMs }: Repetition,
): Promise<boolean> {
  const isOver = () => stop.stopped.aborted;
  if (isOver() || (untilFailure && runs.at(-1)?.some(isRed))) return false;
  if (forMs === undefined && runs.length >= repeat) return false;
  const elapsedMs = monotonicMs() - firstMs;
  // After a run longer than the interval, skip the missed times.
  const nextMs = everyMs === 0 ? elapsedMs : Math.floor(elapsedMs / everyMs + 1) * everyMs;
  if (forMs !== undefined && nextMs >= forMs) return false;
  if (nextMs > elapsedMs) await sleep(nextMs - elapsedMs, stop.stopped).catch(() => {});
  return !isOver();
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
  const latency = {
    p50: percentile(timesMs, 50),
    p95: percentile(timesMs, 95),
    max: percentile(timesMs, 100),
  };
  const flaky = ran.find((result) => result.flaky !== undefined)?.flaky;
  return {
    ...worst,
    reason: mergedReason(worst, ran),
    elapsedMs: timesMs.reduce((sum, ms) => sum + ms, 0),
    flaky: worst.state === 'pass' ? flaky : undefined,
    runs: ran.length,
    failures,
    latency: ran.length === 0 ? undefined : latency,
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

async function wait(parts: SmokeParts, stop: SmokeStop): Promise<string | undefined> {
  const probe = createProbe({ ...parts, results: new Map(), signal: stop.stopped });
  const limit = durationText(parts.options.waitMs);
  return waitForService(probe, (problem) =>
    parts.onNotice(`waiting up to ${limit} for the service: ${problem}`),
  );
}

async function tellStop({ onNotice }: SmokeParts, traces: Traces | undefined, signal: Signal): Promise<void> {
  if (!traces || (traces.made.size === 0 && traces.suspected.size === 0)) return;
  const again = signal === 'SIGINT' ? '; Ctrl-C again leaves them' : '';
  await onNotice(`stopped: removing the records of this run${again}`);
}
