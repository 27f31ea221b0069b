import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { type CheckResult, groupOf, groups } from '../check.ts';
import { isRed, type State, states } from '../finding.ts';
import { totalNames } from './smoke-report.ts';

/** The results of a check over any number of runs, in memory that does not grow with them. */
interface CheckTally {
  /** The gravest result. */
  readonly gravest: CheckResult;
  readonly counts: Readonly<Partial<Record<State, number>>>;
  readonly left: readonly string[];
  readonly elapsedMs: number;
  /** The durations of the requests, in microseconds. */
  readonly requests: RecordableHistogram;
}

/** The results of each check over any number of runs. */
export class Tally {
  private readonly checks = new Map<string, CheckTally>();
  /** The number of runs that were added. */
  runs = 0;

  /** Adds the results of one run. */
  add(results: readonly CheckResult[]): void {
    this.runs += 1;
    for (const result of results) this.checks.set(result.id, addTo(this.checks.get(result.id), result));
  }

  /** One outcome for each check, in the order of the groups. @param isRepeated whether to merge the runs. */
  outcomes(isRepeated: boolean): CheckResult[] {
    const outcomes = [...this.checks.values()].map((tally) => (isRepeated ? merge(tally) : tally.gravest));
    return groups.flatMap((group) => outcomes.filter(({ id }) => groupOf(id) === group));
  }
}

function addTo(tally: CheckTally | undefined, result: CheckResult): CheckTally {
  const { gravest = result, counts = {}, left = [], elapsedMs = 0 } = tally ?? {};
  const { requests = createHistogram({ figures: 3 }) } = tally ?? {};
  const { state, requestsMs = [] } = result;
  for (const ms of requestsMs) requests.record(Math.max(1, Math.round(ms * 1000)));
  return {
    gravest: states.indexOf(state) < states.indexOf(gravest.state) ? result : gravest,
    counts: { ...counts, [state]: (counts[state] ?? 0) + 1 },
    left: [...left, ...(result.left ?? [])],
    elapsedMs: elapsedMs + result.elapsedMs,
    requests,
  };
}

function merge({ gravest, counts, left, elapsedMs, requests }: CheckTally): CheckResult {
  const { state, reason } = gravest;
  const failures = (counts.fail ?? 0) + (counts.error ?? 0);
  const runs = states.reduce((sum, name) => sum + (name === 'skip' ? 0 : (counts[name] ?? 0)), 0);
  const share = isRed(gravest)
    ? `failed ${failures} of ${runs}`
    : `${totalNames[state]} ${counts[state]} of ${runs}`;
  const latency = { median: requests.percentile(50) / 1000, max: requests.max / 1000 };
  return {
    ...gravest,
    reason: state === 'skip' ? reason : state === 'pass' ? share : `${share}: ${reason}`,
    left: left.length > 0 ? left : undefined,
    elapsedMs,
    runs,
    failures,
    latency: requests.count === 0 ? undefined : latency,
  };
}
