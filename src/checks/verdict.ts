import { shownUrl } from '../api/http.ts';
import type { Attempt } from '../client/attempt.ts';
import { byGravity, type Check, type Finding, isRed, statusText, type Verdict } from './check.ts';

/** How many findings of a check are told; the others are counted. */
const most = 3;

/**
 * The verdict on a check: its gravest finding, which names the others that are not green too. A check that passes is
 * flaky if one of its requests needed another attempt. A failure of an operation that is not stable is a warning.
 * `strict` does not soften it, and turns warnings and flaky passes into failures.
 *
 * @returns undefined if nothing was found, so that there was nothing to check.
 */
export function verdictOf(
  { operation }: Pick<Check<never>, 'operation'>,
  findings: readonly Finding[],
  attempts: readonly Attempt[],
  { strict, mask }: { readonly strict: boolean; mask(text: string): string },
): Verdict | undefined {
  const sorted = byGravity.flatMap((state) => findings.filter((finding) => finding.state === state));
  const [gravest] = sorted;
  if (!gravest) return undefined;
  const reasons = [...new Set(sorted.filter(isNotGreen).map(({ reason }) => reason))];
  const rest = reasons.length > most ? [`and ${reasons.length - most} more`] : [];
  const reason = isNotGreen(gravest) ? [...reasons.slice(0, most), ...rest].join('; ') : gravest.reason;
  const verdict = withRetries({ ...gravest, reason }, attempts);
  const requestsMs = attempts.map(({ elapsedMs }) => elapsedMs);
  return { ...masked(weighed(verdict, verdict.operation ?? operation, strict), mask), requestsMs };
}

function isNotGreen({ state }: Finding): boolean {
  return state !== 'pass' && state !== 'skip';
}

/** A pass is flaky if an attempt was repeated. */
function withRetries(verdict: Verdict, attempts: readonly Attempt[]): Verdict {
  const failed = attempts.find(({ nextDelayMs }) => nextDelayMs !== undefined);
  if (!failed || verdict.state !== 'pass') return verdict;
  const { response, error } = failed;
  const first = response ? statusText(response.status) : (error?.message ?? 'no answer');
  return { ...verdict, state: 'flaky', first, reason: `${first} first, then: ${verdict.reason}` };
}

function weighed(verdict: Verdict, blamed: Check<never>['operation'], strict: boolean): Verdict {
  const isSettled = strict || !blamed || blamed.stability === 'stable';
  if (isRed(verdict) && !isSettled)
    return { ...verdict, state: 'warn', reason: `${verdict.reason} (${blamed.id} is ${blamed.stability})` };
  const isSoft = verdict.state === 'warn' || verdict.state === 'flaky';
  if (!strict || !isSoft) return verdict;
  const reason = verdict.state === 'flaky' ? `flaky: ${verdict.reason}` : verdict.reason;
  return { ...verdict, state: 'fail', reason, isHardened: true };
}

/** Masks secrets before the escapes of a report can hide them from a search. */
function masked(verdict: Verdict, mask: (text: string) => string): Verdict {
  const safe = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(safe) : typeof value === 'string' ? mask(shownUrl(value)) : value;
  const texts = Object.fromEntries(Object.entries(verdict).map(([name, value]) => [name, safe(value)]));
  return { ...verdict, ...texts, state: verdict.state };
}
