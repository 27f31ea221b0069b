import { shownUrl } from '../api/http.ts';
import type { Attempt } from '../client/attempt.ts';
import type { Mask } from '../process/secrets.ts';
import { excerpt } from '../process/text.ts';
import type { Verdict } from './check.ts';
import { type Finding, isRed, states, statusText } from './finding.ts';

/** The number of reasons that a verdict quotes. It counts the others. */
const maxReasons = 3;

/** A check that has run. */
export interface CompletedCheck extends Pick<Verdict, 'id' | 'operation' | 'elapsedMs'> {
  readonly findings: readonly Finding[];
  readonly attempts: readonly Attempt[];
}

/**
 * Makes the verdict on a check: its gravest finding, with the reasons of all findings that need attention. A check that
 * passes is flaky if one of its requests was repeated. A failure of an operation that is not stable is a warning. With
 * `strict`, such a failure stays a failure, and warnings and flaky passes become failures.
 *
 * @returns undefined if the check has no finding.
 */
export function verdictOf(
  { id, operation, elapsedMs, findings, attempts }: CompletedCheck,
  { strict, mask }: { readonly strict: boolean; mask(text: string): string },
): Verdict | undefined {
  const sorted = states.flatMap((state) => findings.filter((finding) => finding.state === state));
  const [gravest] = sorted;
  if (!gravest) return undefined;
  const reasons = [...new Set(sorted.filter(needsAttention).map(({ reason }) => reason))];
  const more = reasons.length > maxReasons ? [`and ${reasons.length - maxReasons} more`] : [];
  const reason = needsAttention(gravest)
    ? [...reasons.slice(0, maxReasons), ...more].join('; ')
    : gravest.reason;
  const requestsMs = attempts.map((attempt) => attempt.elapsedMs);
  const verdict = { operation, ...gravest, reason, id, elapsedMs, requestsMs };
  return toSafe(weighStability(weighRetries(verdict, attempts), strict), mask);
}

function needsAttention({ state }: Finding): boolean {
  return state !== 'pass' && state !== 'skip';
}

/** Turns a pass into a flaky pass if an attempt was repeated. */
function weighRetries(verdict: Verdict, attempts: readonly Attempt[]): Verdict {
  const failedAttempt = attempts.find(({ nextDelayMs }) => nextDelayMs !== undefined);
  if (!failedAttempt || verdict.state !== 'pass') return verdict;
  const { response, error } = failedAttempt;
  const first = response ? statusText(response.status) : (error?.message ?? 'no answer');
  return { ...verdict, state: 'flaky', first, reason: `${first} first, then: ${verdict.reason}` };
}

/**
 * Turns a failure of an operation that is not stable into a warning. With `strict`, turns warnings and flaky passes into
 * failures instead.
 */
function weighStability(verdict: Verdict, strict: boolean): Verdict {
  const { state, reason, operation } = verdict;
  if (isRed(verdict) && !strict && operation && operation.stability !== 'stable')
    return { ...verdict, state: 'warn', reason: `${reason} (${operation.id} is ${operation.stability})` };
  if (!strict || (state !== 'warn' && state !== 'flaky')) return verdict;
  const strictReason = state === 'flaky' ? `flaky: ${reason}` : reason;
  return { ...verdict, state: 'fail', reason: strictReason, isStrictFailure: true };
}

/**
 * Masks the secrets in the texts of a finding, and shortens its values. Both happen here, because the escapes of a report
 * would hide a secret from the mask, and so would a cut in the middle of a secret.
 */
export function toSafe<Type extends Finding>(finding: Type, mask: Mask): Type {
  const { expected, got } = finding;
  const shortFinding = {
    ...finding,
    expected: expected && excerpt(expected, mask),
    got: got === undefined ? undefined : excerpt(got, mask),
  };
  const safe = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(safe) : typeof value === 'string' ? mask(shownUrl(value)) : value;
  const entries = Object.entries(shortFinding).map(([name, value]) =>
    name === 'id' || name === 'state' ? [name, value] : [name, safe(value)],
  );
  return Object.fromEntries(entries) as Type;
}
