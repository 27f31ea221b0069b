import type { Contract, Operation } from '../../api/contract.ts';
import { successOf, wrongStatus } from '../answer.ts';
import { type Check, fail, isRed, pass, skip, type Verdict } from '../check.ts';
import { durationText } from '../duration.ts';
import { detailsOf } from '../exchange.ts';
import type { Statistic } from '../options.ts';
import { readsOf, type Session } from '../session.ts';

/** One check for every GET: how long it takes, and whether that is short enough. */
export function latencyChecks(contract: Contract): Check[] {
  return readsOf(contract).map((operation) => ({
    group: 'latency',
    name: operation.id,
    operation,
    run: (session) => check(session, operation),
  }));
}

async function check(session: Session, operation: Operation): Promise<Verdict> {
  const before = session.results.get(`op/${operation.id}`);
  if (before && isRed(before)) return skip(`op/${operation.id} says what is wrong`);
  const visit = await session.visit(operation);
  if ('none' in visit) return skip(visit.none);
  const timesMs: number[] = [];
  for (let sample = 0; sample < session.options.samples; sample += 1) {
    const answer = await session.send(visit.exchange.request);
    const { isStatus, statuses } = successOf(operation);
    if (!isStatus(answer.status)) return wrongStatus(operation, answer, statuses);
    timesMs.push(answer.elapsedMs);
  }
  return judgeTimes(session, timesMs, { ...detailsOf(visit.exchange), operation });
}

function judgeTimes(
  { options: { maxLatency, samples } }: Session,
  timesMs: readonly number[],
  details: Partial<Verdict>,
): Verdict {
  const figures: Record<Statistic, number> = {
    p50: percentile(timesMs, 50),
    p95: percentile(timesMs, 95),
    max: percentile(timesMs, 100),
  };
  const text = `p50 ${durationText(figures.p50)}, p95 ${durationText(figures.p95)}, max ${durationText(figures.max)}`;
  if (!maxLatency || figures[maxLatency.statistic] <= maxLatency.ms)
    return pass(`${text} of ${samples}`, details);
  const { statistic, ms } = maxLatency;
  return fail(`${statistic} is over the limit`, {
    ...details,
    expected: `${statistic} of at most ${durationText(ms)}`,
    got: `${text} of ${samples}`,
  });
}

/** By nearest rank. */
function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}
