import { shownUrl } from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import type { Attempt } from '../client/attempt.ts';
import { type ExitCode, exitCodes } from '../process/errors.ts';
import type { Mask } from '../process/secrets.ts';
import { excerpt } from '../process/text.ts';
import type { Check } from './check.ts';
import { type Finding, isRed, type State, skip, states, statusText } from './finding.ts';

/** The parts of a check that its result has too. */
type CheckHead = Pick<Check, 'id' | 'title' | 'operation' | 'isPrerequisite'>;

/** What one check saw. It keeps every finding: verdicts, reports and exit codes are functions of results. */
export interface CheckResult extends CheckHead {
  readonly elapsedMs: number;
  /** At least one, with the secrets masked. */
  readonly findings: readonly Finding[];
  /** The number of requests that were sent. */
  readonly requests: number;
  /** The status or the error of the first attempt that was repeated; undefined if none was. */
  readonly repeatedOutcome?: string | undefined;
  /** The reason why the check did not begin, a short clause; undefined if it began. */
  readonly skipReason?: string | undefined;
}

/** Makes the result of a check that ran. */
export function resultOf(
  check: CheckHead,
  run: {
    readonly elapsedMs: number;
    readonly findings: readonly Finding[];
    readonly attempts: readonly Attempt[];
  },
  mask: Mask,
): CheckResult {
  const { elapsedMs, findings, attempts } = run;
  const repeated = attempts.find(({ nextDelayMs }) => nextDelayMs !== undefined);
  const { response, error } = repeated ?? {};
  const outcome = response ? statusText(response.status) : (error?.message ?? 'no answer');
  return {
    ...headOf(check),
    elapsedMs,
    findings: findings.map((finding) => toSafe(finding, mask)),
    requests: attempts.length,
    repeatedOutcome: repeated && mask(outcome),
  };
}

/** Makes the result of a check that did not begin. @param reason the whole reason; by default the skipReason. */
export function skippedResult(check: CheckHead, skipReason: string, reason = skipReason): CheckResult {
  return { ...headOf(check), elapsedMs: 0, findings: [skip(reason)], requests: 0, skipReason };
}

function headOf({ id, title, operation, isPrerequisite }: CheckHead): CheckHead {
  return { id, title, operation, isPrerequisite };
}

/**
 * Masks the secrets in the texts of a finding, and shortens its values. Both happen here, because the escapes of a report
 * would hide a secret from the mask, and so would a cut in the middle of a secret.
 */
function toSafe(finding: Finding, mask: Mask): Finding {
  const { expected, got } = finding;
  const shortFinding = {
    ...finding,
    expected: expected && excerpt(expected, mask),
    got: got === undefined ? undefined : excerpt(got, mask),
  };
  const safe = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(safe) : typeof value === 'string' ? mask(shownUrl(value)) : value;
  const entries = Object.entries(shortFinding).map(([name, value]) =>
    name === 'state' ? [name, value] : [name, safe(value)],
  );
  return Object.fromEntries(entries) as Finding;
}

/** The verdict on a check: its result, weighed. */
export interface CheckVerdict extends Omit<CheckResult, 'findings'> {
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
export function verdictOf(result: CheckResult, strict: boolean): CheckVerdict {
  const hasPassed = result.findings.every(({ state }) => state === 'pass' || state === 'skip');
  const weighed = result.findings.map((finding) => {
    const withRetries = hasPassed ? weighRetries(finding, result) : finding;
    return strict ? weighStrictly(withRetries) : weighStability(withRetries, result.operation);
  });
  const sorted = states.flatMap((state) => weighed.filter((finding) => finding.state === state));
  const findings = sorted as unknown as CheckVerdict['findings'];
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
export function exitCodeOf(verdicts: readonly CheckVerdict[]): ExitCode {
  const red = verdicts.filter(isRed);
  if (red.length === 0) return exitCodes.done;
  const prerequisite = red.find(({ isPrerequisite }) => isPrerequisite);
  return prerequisite?.findings.find(isRed)?.exitCode ?? exitCodes['check-failed'];
}
