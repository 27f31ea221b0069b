import { shownUrl } from '../api/http.ts';
import type { Attempt } from '../client/attempt.ts';
import { type ExitCode, exitCodes } from '../process/errors.ts';
import { excerpt } from '../process/text.ts';
import type { Check, Service } from './check.ts';
import { type Finding, isRed, type State, skip, states, statusText } from './finding.ts';

/** The parts of a check that its result has too. */
type CheckHead = Pick<Check, 'id' | 'title' | 'operation' | 'isPrerequisite'>;

/** What one check saw. */
export interface CheckResult extends CheckHead {
  /** The state of the gravest finding. */
  readonly state: State;
  /** The gravest first, with the secrets masked. */
  readonly findings: readonly [Finding, ...Finding[]];
  readonly elapsedMs: number;
  /** The number of requests that were sent. */
  readonly requests: number;
  /** The status or the error of the first attempt that was repeated; undefined if none was. */
  readonly repeatedOutcome?: string | undefined;
}

/** What a check did. */
interface CheckRun {
  readonly elapsedMs: number;
  readonly findings: readonly Finding[];
  readonly attempts: readonly Attempt[];
}

/**
 * Makes the result of a check. A failure of an operation that is not stable is a warning, and a check that passes is flaky if
 * one of its requests was repeated.
 */
export function resultOf(
  { id, title, operation, isPrerequisite }: CheckHead,
  { elapsedMs, findings, attempts }: CheckRun,
  { strict, mask }: Pick<Service, 'strict' | 'mask'>,
): CheckResult {
  const repeated = attempts.find(({ nextDelayMs }) => nextDelayMs !== undefined);
  const { response, error } = repeated ?? {};
  const outcome = response ? statusText(response.status) : (error?.message ?? 'no answer');
  const repeatedOutcome = repeated && mask(outcome);
  const hasPassed = findings.every(({ state }) => state === 'pass' || state === 'skip');
  const weigh = (finding: Finding): Finding => {
    const { state, reason, operation: checked = operation } = finding;
    if (state === 'pass' && hasPassed && repeatedOutcome !== undefined)
      return weigh({ ...finding, state: 'flaky', reason: `${repeatedOutcome} first, then: ${reason}` });
    if (strict && state === 'flaky') return { ...finding, state: 'fail', reason: `flaky: ${reason}` };
    if (strict && state === 'warn') return { ...finding, state: 'fail' };
    if (strict || !isRed(finding) || !checked || checked.stability === 'stable') return finding;
    return { ...finding, state: 'warn', reason: `${reason} (${checked.id} is ${checked.stability})` };
  };
  const weighed = findings.map((finding) => weigh(toSafe(finding, mask)));
  const sorted = states.flatMap((state) => weighed.filter((finding) => finding.state === state));
  const [gravest = skip('there is nothing to check'), ...others] = sorted;
  return {
    ...{ id, title, operation, isPrerequisite, state: gravest.state, findings: [gravest, ...others] },
    ...{ elapsedMs, requests: attempts.length, repeatedOutcome },
  };
}

/** Makes the result of a check that did not begin. @param reason a short clause */
export function skippedResult(check: CheckHead, reason: string): CheckResult {
  const run = { elapsedMs: 0, findings: [skip(reason)], attempts: [] };
  return resultOf(check, run, { strict: false, mask: String });
}

/**
 * Masks the secrets in the texts of a finding, and shortens its values. Both happen here, because the escapes of a report
 * would hide a secret from the mask, and so would a cut in the middle of a secret.
 */
function toSafe(finding: Finding, mask: Service['mask']): Finding {
  const safe = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => safe(item, name));
    if (typeof value !== 'string') return value;
    return name === 'expected' || name === 'got' ? excerpt(value, mask) : mask(shownUrl(value));
  };
  const entries = Object.entries(finding).map(([name, value]) => [name, safe(value, name)]);
  return { ...Object.fromEntries(entries), state: finding.state } as Finding;
}

/**
 * Returns the exit code for these results. A failure of a check that all others need, such as `reach/http`, has an exit code
 * of its own, which says whether the service answered; any other failure is 7.
 */
export function exitCodeOf(results: readonly CheckResult[]): ExitCode {
  const red = results.filter(isRed);
  if (red.length === 0) return exitCodes.done;
  const prerequisite = red.find(({ isPrerequisite }) => isPrerequisite);
  return prerequisite?.findings.find(isRed)?.exitCode ?? exitCodes['check-failed'];
}
