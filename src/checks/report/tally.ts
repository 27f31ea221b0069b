import { createHistogram } from 'node:perf_hooks';
import { byGravity, type CheckResult, groupOf, groups, isRed, type State, states } from '../check.ts';
import { totalNames } from './smoke-report.ts';

/** The results of each check over any number of runs, in memory that does not grow with them. */
export class Tally {
  private readonly checks = new Map<string, CheckTally>();
  /** The number of runs that were added. */
  runs = 0;

  /** Adds the results of one run. */
  add(results: readonly CheckResult[]): void {
    this.runs += 1;
    for (const result of results) {
      const tally = this.checks.get(result.id) ?? new CheckTally(result);
      tally.add(result);
      this.checks.set(result.id, tally);
    }
  }

  /** One outcome for each check, in the order of the groups. @param isRepeated whether to merge the runs. */
  outcomes(isRepeated: boolean): CheckResult[] {
    const outcomes = [...this.checks.values()].map((check) => (isRepeated ? check.merged : check.worst));
    return groups.flatMap((group) => outcomes.filter(({ id }) => groupOf(id) === group));
  }
}

class CheckTally {
  worst: CheckResult;
  private readonly left: string[] = [];
  private readonly counts: Record<State, number>;
  /** The durations of the requests, in microseconds. The memory does not grow with their number. */
  private readonly requests = createHistogram({ figures: 3 });
  private sumMs = 0;

  constructor(first: CheckResult) {
    this.worst = first;
    this.counts = Object.fromEntries(states.map((state) => [state, 0])) as Record<State, number>;
  }

  add(result: CheckResult): void {
    if (byGravity.indexOf(result.state) < byGravity.indexOf(this.worst.state)) this.worst = result;
    this.counts[result.state] += 1;
    this.left.push(...(result.left ?? []));
    this.sumMs += result.elapsedMs;
    for (const ms of result.requestsMs ?? []) this.requests.record(Math.max(1, Math.round(ms * 1000)));
  }

  get merged(): CheckResult {
    const { worst, counts, requests, left } = this;
    const failures = counts.fail + counts.error;
    const runs = states.reduce((sum, state) => sum + (state === 'skip' ? 0 : counts[state]), 0);
    const { state, reason } = worst;
    const share = isRed(worst)
      ? `failed ${failures} of ${runs}`
      : `${totalNames[state]} ${counts[state]} of ${runs}`;
    const latency = { median: requests.percentile(50) / 1000, max: requests.max / 1000 };
    return {
      ...worst,
      reason: state === 'skip' ? reason : state === 'pass' ? share : `${share}: ${reason}`,
      left: left.length > 0 ? left : undefined,
      elapsedMs: this.sumMs,
      runs,
      failures,
      latency: requests.count === 0 ? undefined : latency,
    };
  }
}
