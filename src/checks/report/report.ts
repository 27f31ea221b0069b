import { type ExitCode, exitCodes } from '../../process/errors.ts';
import type { Signal } from '../../process/io.ts';
import { type CheckResult, isRed, type State, states } from '../check.ts';
import { gates } from '../options.ts';
import { latencyOf } from '../text.ts';

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
  const made = ran.flatMap((result) => result.made ?? []);
  const left = ran.flatMap((result) => result.left ?? []);
  return {
    ...worst,
    reason: mergedReason(worst, ran),
    // Each run leaves records of its own.
    made: made.length > 0 ? made : undefined,
    ...(left.length > 0 && { left, got: left.join('; ') }),
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
