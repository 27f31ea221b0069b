import { monotonicMs } from '../process/deadline.ts';
import type { StoppedError } from '../process/signals.ts';
import type { Check } from './check.ts';
import { FindingError, findingOfError, isRed, skip } from './finding.ts';
import { type CheckResult, resultOf, skippedResult } from './result.ts';
import { createCheckContext, type Round } from './round.ts';

/** What the runner of checks needs. */
interface RunnerOptions {
  readonly round: Round;
  /** Aborted when the checks are stopped; the reason is a StoppedError with a clause. */
  readonly stopped: AbortSignal;
  /** The results of checks that these checks may need. */
  readonly earlierResults?: readonly CheckResult[];
  /** The reason for which no check must begin, a clause. */
  readonly skipReason?: string | undefined;
  /** Called when a check begins. @param number its number, from 1, of `count` */
  onBegin?(id: string, number: number, count: number): void;
}

/** Returns the reason for which checks were stopped, a clause; undefined if they were not. */
export function stopReasonOf(stopped: AbortSignal): string | undefined {
  return stopped.aborted ? (stopped.reason as StoppedError).message : undefined;
}

/**
 * Runs checks one after another. If a check fails, the checks that need it are skipped. The result of a check that runs again
 * replaces its earlier result.
 */
export async function runChecks(checks: readonly Check[], options: RunnerOptions): Promise<CheckResult[]> {
  const { round, stopped, earlierResults = [], onBegin } = options;
  let results: CheckResult[] = [];
  for (const [index, check] of checks.entries()) {
    const failed = [...earlierResults, ...results].find(
      (result) => isRed(result) && (result.isPrerequisite || check.needs?.includes(result.id)),
    );
    const others = results.filter(({ id }) => id !== check.id);
    const skipReason = failed ? `${failed.id} failed` : (stopReasonOf(stopped) ?? options.skipReason);
    if (skipReason === undefined) {
      onBegin?.(check.id, index + 1, checks.length);
      const { context, attempts } = createCheckContext(round, stopped);
      const startedMs = monotonicMs();
      const findings = await check.run(context).catch((error: unknown) => {
        // A call that was cut off says nothing about the service.
        const stopReason = error instanceof FindingError ? undefined : stopReasonOf(stopped);
        return stopReason === undefined ? findingOfError(error) : skip(stopReason);
      });
      const run = { elapsedMs: monotonicMs() - startedMs, findings: [findings].flat(), attempts };
      results = [...others, resultOf(check, run, round)];
    } else if (others.length === results.length) results.push(skippedResult(check, skipReason));
  }
  return results;
}
