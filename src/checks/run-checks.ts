import { monotonicMs } from '../process/deadline.ts';
import type { StoppedError } from '../process/signals.ts';
import type { Check } from './check.ts';
import { type CheckResult, hasFailed, resultOf, skippedResult, verdictOf } from './check-result.ts';
import { FindingError, findingOfError, skip } from './finding.ts';
import { createCheckContext, type Round } from './round.ts';

/** What the runner of checks needs. */
interface RunnerOptions {
  readonly round: Round;
  /** Aborted when the checks are stopped; the reason is a StoppedError with a clause. */
  readonly stopped: AbortSignal;
  /** Ends the writes; by default `stopped`. */
  readonly writeSignal?: AbortSignal;
  /** The results of checks that these checks may need. */
  readonly earlierResults?: readonly CheckResult[];
  /** The reason for which no check must begin, a clause. */
  readonly skipReason?: string | undefined;
  /** Called when a check begins. @param number its number, from 1, of `count`. */
  onBegin?(id: string, number: number, count: number): void;
}

/** Returns the reason for which checks were stopped, a clause; undefined if they were not. */
export function stopReasonOf(stopped: AbortSignal): string | undefined {
  return stopped.aborted ? (stopped.reason as StoppedError).message : undefined;
}

/** Runs checks one after another. If a check fails, the checks that need it are skipped. */
export async function runChecks(checks: readonly Check[], options: RunnerOptions): Promise<CheckResult[]> {
  const { earlierResults = [], stopped, skipReason: ownReason, onBegin } = options;
  const results: CheckResult[] = [];
  const skipIfNeeded = (check: Check): CheckResult | undefined => {
    const failed = [...earlierResults, ...results].find(
      (result) => (result.isPrerequisite || check.needs?.includes(result.id)) && hasFailed(result),
    );
    if (failed) {
      const skipReason = `${failed.id} failed`;
      return skippedResult(
        check,
        skipReason,
        `${skipReason}: ${verdictOf(failed, false).findings[0].reason}`,
      );
    }
    const skipReason = check.skipReason ?? stopReasonOf(stopped) ?? ownReason;
    return skipReason === undefined ? undefined : skippedResult(check, skipReason);
  };
  for (const [index, check] of checks.entries()) {
    const skipped = skipIfNeeded(check);
    if (skipped && check.isOptional) continue;
    if (!skipped) onBegin?.(check.id, index + 1, checks.length);
    const result = skipped ?? (await runCheck(check, options));
    if (result) results.push(result);
  }
  return results;
}

async function runCheck(
  check: Check,
  { round, stopped, writeSignal }: RunnerOptions,
): Promise<CheckResult | undefined> {
  const startedMs = monotonicMs();
  const { context, attempts } = createCheckContext(round, stopped, writeSignal);
  const findings = await check.run(context).catch((error: unknown) => {
    // A call that was cut off says nothing about the service.
    const stopReason = stopReasonOf(stopped);
    const isCutOff = stopReason !== undefined && !(error instanceof FindingError);
    return isCutOff ? skip(stopReason) : findingOfError(error);
  });
  const all = [findings].flat();
  if (check.isOptional && all.every(({ state }) => state === 'skip')) return undefined;
  const run = { elapsedMs: monotonicMs() - startedMs, findings: all, attempts };
  return resultOf(check, run, round.mask);
}
