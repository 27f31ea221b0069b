import type { Operation } from '../api/operations.ts';
import { type ExitCode, exitCodes } from '../process/errors.ts';
import type { CheckResult } from './check-result.ts';
import { type Finding, isRed, type State, states } from './finding.ts';

/** The verdict on a check: its result, weighed. */
export interface Verdict extends Omit<CheckResult, 'findings'> {
  /** The state of the gravest finding. */
  readonly state: State;
  /** All findings, the gravest first. */
  readonly findings: readonly [Finding, ...Finding[]];
}

/**
 * Weighs the result of a check. A failure of an operation that is not stable is a warning, and a check that passes is flaky
 * if one of its requests was repeated.
 *
 * @param strict whether warnings, flaky passes, and failures of operations that are not stable are failures.
 */
export function verdictOf(result: CheckResult, strict: boolean): Verdict {
  const hasPassed = result.findings.every(({ state }) => state === 'pass' || state === 'skip');
  const weighed = result.findings.map((finding) => {
    const withRetries = hasPassed ? weighRetries(finding, result) : finding;
    return strict ? weighStrictly(withRetries) : weighStability(withRetries, result.operation);
  });
  const sorted = states.flatMap((state) => weighed.filter((finding) => finding.state === state));
  const findings = sorted as unknown as Verdict['findings'];
  return { ...result, findings, state: findings[0].state };
}

function weighRetries(finding: Finding, { repeatedOutcome }: CheckResult): Finding {
  if (repeatedOutcome === undefined || finding.state !== 'pass') return finding;
  return { ...finding, state: 'flaky', reason: `${repeatedOutcome} first, then: ${finding.reason}` };
}

function weighStability(finding: Finding, checked: Operation | undefined): Finding {
  const operation = finding.operation ?? checked;
  if (!isRed(finding) || !operation || operation.stability === 'stable') return finding;
  const reason = `${finding.reason} (${operation.id} is ${operation.stability})`;
  return { ...finding, state: 'warn', reason };
}

function weighStrictly(finding: Finding): Finding {
  const { state, reason } = finding;
  if (state === 'warn') return { ...finding, state: 'fail' };
  return state === 'flaky' ? { ...finding, state: 'fail', reason: `flaky: ${reason}` } : finding;
}

/** Whether a check fails, also without `--strict`. */
export function hasFailed(result: CheckResult): boolean {
  return isRed(verdictOf(result, false));
}

/**
 * Returns the exit code for these verdicts. A failure of a check that all others need, such as `reach/http`, has an exit code
 * of its own, which says whether the service answered; any other failure is 7.
 */
export function exitCodeOf(verdicts: readonly Verdict[]): ExitCode {
  const red = verdicts.filter(isRed);
  if (red.length === 0) return exitCodes.done;
  const prerequisite = red.find(({ isPrerequisite }) => isPrerequisite);
  return prerequisite?.findings.find(isRed)?.exitCode ?? exitCodes['check-failed'];
}
