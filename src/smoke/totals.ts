import { type ExitCode, exitCodes } from '../errors.ts';
import { type CheckResult, isRed, type Outcome, outcomes } from './check.ts';

/** How many checks came out how; `flaky` counts some of those that passed again. */
export type Totals = Readonly<Record<Outcome | 'checks' | 'flaky', number>>;

export function totalsOf(results: readonly CheckResult[]): Totals {
  const counts = outcomes.map((outcome) => [
    outcome,
    results.filter((each) => each.outcome === outcome).length,
  ]);
  return {
    checks: results.length,
    ...(Object.fromEntries(counts) as Record<Outcome, number>),
    flaky: results.filter(({ flaky }) => flaky).length,
  };
}

/**
 * 6 where nothing could be reached, 4 where every failure is a credential that was refused, 7 where a check failed, 2
 * where none ran, else 0.
 */
export function exitCodeOf(results: readonly CheckResult[]): ExitCode {
  const red = results.filter(isRed);
  if (red.some((each) => each.isUnreachable)) return exitCodes.unavailable;
  if (red.length > 0) return red.every(isRefusedCredential) ? exitCodes.auth : exitCodes['check-failed'];
  return results.every(({ outcome }) => outcome === 'skip') ? exitCodes.usage : exitCodes.done;
}

function isRefusedCredential({ status }: CheckResult): boolean {
  return status === 401 || status === 403;
}
