import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { groupOf, groups, type Verdict } from '../check.ts';
import { isRed, type State, states } from '../finding.ts';
import { totalNames } from './smoke-report.ts';

/** The verdicts on one check over any number of repetitions, in memory that does not grow with their number. */
interface CheckTally {
  readonly gravest: Verdict;
  readonly counts: Readonly<Partial<Record<State, number>>>;
  readonly leftovers: readonly string[];
  readonly elapsedMs: number;
  /** The durations of the requests, in microseconds. */
  readonly requests: RecordableHistogram;
}

/** The verdicts on all checks over any number of repetitions. */
export class Tally {
  private readonly tallies = new Map<string, CheckTally>();
  /** The number of repetitions that were added. */
  repetitions = 0;

  /** Adds the verdicts of one repetition. */
  add(verdicts: readonly Verdict[]): void {
    this.repetitions += 1;
    for (const verdict of verdicts)
      this.tallies.set(verdict.id, addVerdict(this.tallies.get(verdict.id), verdict));
  }

  /** Returns one verdict for each check, in the order of the groups. @param isRepeated whether to merge repetitions. */
  verdicts(isRepeated: boolean): Verdict[] {
    const verdicts = [...this.tallies.values()].map((tally) => (isRepeated ? merge(tally) : tally.gravest));
    return groups.flatMap((group) => verdicts.filter(({ id }) => groupOf(id) === group));
  }
}

function addVerdict(tally: CheckTally | undefined, verdict: Verdict): CheckTally {
  const { gravest = verdict, counts = {}, leftovers = [], elapsedMs = 0 } = tally ?? {};
  const { requests = createHistogram({ figures: 3 }) } = tally ?? {};
  const { state, requestsMs = [] } = verdict;
  for (const ms of requestsMs) requests.record(Math.max(1, Math.round(ms * 1000)));
  return {
    gravest: states.indexOf(state) < states.indexOf(gravest.state) ? verdict : gravest,
    counts: { ...counts, [state]: (counts[state] ?? 0) + 1 },
    leftovers: [...leftovers, ...(verdict.leftovers ?? [])],
    elapsedMs: elapsedMs + verdict.elapsedMs,
    requests,
  };
}

function merge({ gravest, counts, leftovers, elapsedMs, requests }: CheckTally): Verdict {
  const { state, reason } = gravest;
  const failures = (counts.fail ?? 0) + (counts.error ?? 0);
  const repetitions = states.reduce((sum, name) => sum + (name === 'skip' ? 0 : (counts[name] ?? 0)), 0);
  const share = isRed(gravest)
    ? `failed ${failures} of ${repetitions}`
    : `${totalNames[state]} ${counts[state]} of ${repetitions}`;
  const latency = { median: requests.percentile(50) / 1000, max: requests.max / 1000 };
  return {
    ...gravest,
    reason: state === 'skip' ? reason : state === 'pass' ? share : `${share}: ${reason}`,
    leftovers: leftovers.length > 0 ? leftovers : undefined,
    elapsedMs,
    repetitions,
    failures,
    latency: requests.count === 0 ? undefined : latency,
  };
}
