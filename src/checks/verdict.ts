import { shownUrl } from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import type { Attempt } from '../client/attempt.ts';
import { excerpt } from '../process/text.ts';
import type { CheckResult } from './check.ts';
import { type Finding, isRed, states, statusText } from './finding.ts';

/** A verdict quotes this many reasons, and counts the others. */
const maxReasons = 3;

/** The result of a check without the name and the time of the check. */
export type Verdict = Omit<CheckResult, 'id' | 'elapsedMs'>;

/**
 * Makes the verdict on a check: its gravest finding, with the reasons of all findings that are not green. A check that
 * passes is flaky if one of its requests needed another attempt. A failure of an operation that is not stable is a
 * warning. With `strict` it stays a failure, and warnings and flaky passes become failures.
 *
 * @param operation that of the check.
 * @returns undefined if there is no finding.
 */
export function verdictOf(
  operation: Operation | undefined,
  findings: readonly Finding[],
  attempts: readonly Attempt[],
  { strict, mask }: { readonly strict: boolean; mask(text: string): string },
): Verdict | undefined {
  const sorted = states.flatMap((state) => findings.filter((finding) => finding.state === state));
  const [gravest] = sorted;
  if (!gravest) return undefined;
  const reasons = [...new Set(sorted.filter(isNotGreen).map(({ reason }) => reason))];
  const rest = reasons.length > maxReasons ? [`and ${reasons.length - maxReasons} more`] : [];
  const reason = isNotGreen(gravest) ? [...reasons.slice(0, maxReasons), ...rest].join('; ') : gravest.reason;
  const verdict = weighRetries({ ...gravest, reason }, attempts);
  const requestsMs = attempts.map(({ elapsedMs }) => elapsedMs);
  const weighed = weighStability(verdict, verdict.operation ?? operation, strict);
  return { operation, ...toSafe(weighed, mask), requestsMs };
}

function isNotGreen({ state }: Finding): boolean {
  return state !== 'pass' && state !== 'skip';
}

/** A pass is flaky if an attempt was repeated. */
function weighRetries(verdict: Verdict, attempts: readonly Attempt[]): Verdict {
  const failed = attempts.find(({ nextDelayMs }) => nextDelayMs !== undefined);
  if (!failed || verdict.state !== 'pass') return verdict;
  const { response, error } = failed;
  const first = response ? statusText(response.status) : (error?.message ?? 'no answer');
  return { ...verdict, state: 'flaky', first, reason: `${first} first, then: ${verdict.reason}` };
}

/** Softens a failure of an operation that is not stable; if `strict`, turns warnings and flaky passes into failures. */
function weighStability(verdict: Verdict, operation: Operation | undefined, strict: boolean): Verdict {
  if (isRed(verdict) && !strict && operation && operation.stability !== 'stable') {
    const reason = `${verdict.reason} (${operation.id} is ${operation.stability})`;
    return { ...verdict, state: 'warn', reason };
  }
  const isSoft = verdict.state === 'warn' || verdict.state === 'flaky';
  if (!strict || !isSoft) return verdict;
  const reason = verdict.state === 'flaky' ? `flaky: ${verdict.reason}` : verdict.reason;
  return { ...verdict, state: 'fail', reason, isStrictFailure: true };
}

/**
 * The finding with its texts masked, before the escapes of a report can hide a secret from a search, and its values cut,
 * after a secret at the cut was masked.
 */
export function toSafe<Kind extends Finding>(finding: Kind, mask: (text: string) => string): Kind {
  const { expected, got } = finding;
  const safe = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(safe) : typeof value === 'string' ? mask(shownUrl(value)) : value;
  const cut = {
    ...finding,
    expected: expected && excerpt(expected, mask),
    got: got === undefined ? undefined : excerpt(got, mask),
  };
  const texts = Object.entries(cut).map(([name, value]) => [name, name === 'state' ? value : safe(value)]);
  return Object.fromEntries(texts) as Kind;
}
