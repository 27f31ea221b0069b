import { type ExitCode, exitCodes } from '../../process/errors.ts';
import type { Signal } from '../../process/io.ts';
import { type CheckResult, isRed, type State, states } from '../check.ts';
import { groupOf, groups, type Latency } from '../options.ts';

/** The number of checks in each state. */
export type Totals = Readonly<Record<State | 'checks', number>>;

/** A check over all runs. */
export interface Outcome extends CheckResult {
  /** The number of runs in which it ran, of failures among them, and its times; undefined if there is one run only. */
  readonly runs?: number | undefined;
  readonly failures?: number | undefined;
  readonly latency?: Latency | undefined;
}

/** The results of all checks; every report is made from this. */
export interface SmokeReport {
  /** The base URL, or the name of another target. */
  readonly target: string;
  readonly startedAt: Date;
  readonly elapsedMs: number;
  /** Whether the run was allowed to write. */
  readonly write: boolean;
  /** How often the checks ran. */
  readonly runs: number;
  readonly results: readonly Outcome[];
  readonly totals: Totals;
  readonly exitCode: ExitCode;
  /** The signal that ended the run early. */
  readonly signal?: Signal | undefined;
}

/** Gravest last. */
const gravity: readonly State[] = ['skip', 'pass', 'flaky', 'warn', 'error', 'fail'];

/** The results of each check over any number of runs, in memory that does not grow with them. */
export class Tally {
  private readonly checks = new Map<string, CheckTally>();
  /** How many runs were counted. */
  runs = 0;

  /** Counts one run. */
  add(results: readonly CheckResult[]): void {
    this.runs += 1;
    for (const result of results) {
      const known = this.checks.get(result.id);
      if (known) known.add(result);
      else this.checks.set(result.id, new CheckTally(result));
    }
  }

  /** One outcome a check, in the order of the groups. @param isRepeated whether more than one run was asked for. */
  outcomes(isRepeated: boolean): Outcome[] {
    const all = [...this.checks.values()].map((check) => (isRepeated ? check.merged : check.worst));
    return groups.flatMap((group) => all.filter(({ id }) => groupOf(id) === group));
  }
}

class CheckTally {
  worst: CheckResult;
  private readonly left: string[] = [];
  private readonly counts: Record<State, number>;
  private readonly times = new Times();

  constructor(first: CheckResult) {
    this.worst = first;
    this.counts = Object.fromEntries(states.map((state) => [state, 0])) as Record<State, number>;
    this.add(first);
  }

  add(result: CheckResult): void {
    if (gravity.indexOf(result.state) > gravity.indexOf(this.worst.state)) this.worst = result;
    this.counts[result.state] += 1;
    this.left.push(...(result.left ?? []));
    if (result.state !== 'skip') this.times.add(result.elapsedMs);
  }

  get merged(): Outcome {
    const { worst, counts, times, left } = this;
    const failures = counts.fail + counts.error;
    const runs = times.count;
    const { state, reason } = worst;
    const what = isRed(worst) ? failures : counts[state];
    const word = isRed(worst)
      ? 'failed'
      : state === 'warn'
        ? 'warned'
        : state === 'flaky'
          ? 'flaky'
          : 'passed';
    const counted = `${word} ${what} of ${runs}`;
    return {
      ...worst,
      reason: state === 'skip' ? reason : state === 'pass' ? counted : `${counted}: ${reason}`,
      left: left.length > 0 ? left : undefined,
      elapsedMs: times.sumMs,
      runs,
      failures,
      latency: runs === 0 ? undefined : times.latency,
    };
  }
}

/** Times in classes that are one hundredth wide, so that any number of them takes the same memory. */
class Times {
  private readonly classes = new Map<number, number>();
  private maxMs = 0;
  count = 0;
  sumMs = 0;

  add(ms: number): void {
    const key = Math.ceil(Math.log(Math.max(ms, 0.001)) / Math.log(1.01));
    this.classes.set(key, (this.classes.get(key) ?? 0) + 1);
    this.maxMs = Math.max(this.maxMs, ms);
    this.count += 1;
    this.sumMs += ms;
  }

  get latency(): Latency {
    return { p50: this.percentile(50), p95: this.percentile(95), max: this.maxMs };
  }

  /** By nearest rank. */
  private percentile(percent: number): number {
    let rank = Math.ceil((percent / 100) * this.count);
    for (const key of [...this.classes.keys()].sort((a, b) => a - b)) {
      rank -= this.classes.get(key) ?? 0;
      if (rank <= 0) return Math.min(1.01 ** key, this.maxMs);
    }
    return this.maxMs;
  }
}

export function totalsOf(results: readonly CheckResult[]): Totals {
  const counts = states.map((state) => [state, results.filter((each) => each.state === state).length]);
  return { checks: results.length, ...(Object.fromEntries(counts) as Record<State, number>) };
}

export function isGreen({ results }: SmokeReport): boolean {
  return !results.some(isRed);
}

/** That of a failed check of reach, which says whether there was an answer; 7 for any other failure. */
export function exitCodeOf(results: readonly Outcome[]): ExitCode {
  const red = results.filter(isRed);
  if (red.length === 0) return exitCodes.done;
  // A service that answered in some runs was reached.
  const isUnreached = ({ runs, failures }: Outcome) => runs === failures;
  const reach = red.find(({ id, exitCode }) => exitCode !== undefined && /^(reach|tls)\//.test(id));
  return reach && isUnreached(reach) ? (reach.exitCode ?? 7) : exitCodes['check-failed'];
}
