import { shownUrl } from '../api/http.ts';
import type { Attempt } from '../client/attempt.ts';
import { type ExitCode, exitCodes } from '../process/errors.ts';
import { excerpt } from '../process/text.ts';
import type { Check, Service } from './check.ts';
import { type Finding, isRed, skip, states, statusText } from './finding.ts';

/** The parts of a check that its result has too. */
type CheckHead = Pick<Check, 'id' | 'title' | 'operation' | 'isPrerequisite'>;

/** What one check saw: its gravest finding, with the secrets masked. */
export interface CheckResult extends CheckHead, Finding {
  readonly elapsedMs: number;
}

/**
 * Makes the result of a check. A failure of an operation that is not stable is a warning, and a check that passes is flaky if
 * one of its requests was repeated.
 */
export function resultOf(
  { id, title, operation, isPrerequisite }: CheckHead,
  findings: readonly Finding[],
  { strict, mask }: Pick<Service, 'strict' | 'mask'>,
  { elapsedMs, attempts }: { readonly elapsedMs: number; readonly attempts: readonly Attempt[] } = notRun,
): CheckResult {
  const repeated = attempts.find(({ nextDelayMs }) => nextDelayMs !== undefined);
  const { response, error } = repeated ?? {};
  const outcome = response ? statusText(response.status) : (error?.message ?? 'no answer');
  const weigh = (finding: Finding): Finding => {
    const { state, reason, operation: checked = operation } = finding;
    if (state === 'pass' && repeated)
      return weigh({ ...finding, state: 'flaky', reason: `${mask(outcome)} first, then: ${reason}` });
    if (strict && state === 'flaky') return { ...finding, state: 'fail', reason: `flaky: ${reason}` };
    if (strict && state === 'warn') return { ...finding, state: 'fail' };
    if (strict || !isRed(finding) || !checked || checked.stability === 'stable') return finding;
    return { ...finding, state: 'warn', reason: `${reason} (${checked.id} is ${checked.stability})` };
  };
  const finding = weigh(toSafe(gravestOf(findings), mask));
  return { operation, ...finding, id, title, isPrerequisite, elapsedMs };
}

/** What a check did that sent nothing. */
const notRun = { elapsedMs: 0, attempts: [] };

/** Makes one finding of all that are as grave as the gravest: the first one, with the reasons and hints of all. */
function gravestOf(findings: readonly Finding[]): Finding {
  const state = states.find((candidate) => findings.some((finding) => finding.state === candidate));
  const gravest = findings.filter((finding) => finding.state === state);
  const [first = skip('there is nothing to check')] = gravest;
  if (gravest.length < 2) return first;
  const join = (texts: readonly string[]) => [...new Set(texts)].join('; ');
  const hint = join(gravest.flatMap((finding) => finding.hint ?? []));
  return { ...first, reason: join(gravest.map(({ reason }) => reason)), hint: hint || undefined };
}

/** Makes the result of a check that did not begin. @param reason a short clause */
export function skippedResult(check: CheckHead, reason: string): CheckResult {
  return resultOf(check, [skip(reason)], { strict: false, mask: String });
}

/**
 * Masks the secrets in the texts of a finding, and shortens its values. Both happen here, because the escapes of a report
 * would hide a secret from the mask, and so would a cut in the middle of a secret.
 */
function toSafe(finding: Finding, mask: Service['mask']): Finding {
  const safe = (value: unknown, name: string): unknown => {
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
  return red.find(({ isPrerequisite }) => isPrerequisite)?.exitCode ?? exitCodes['check-failed'];
}
