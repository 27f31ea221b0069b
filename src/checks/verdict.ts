import { shownUrl } from '../api/http.ts';
import type { Attempt } from '../client/attempt.ts';
import { excerpt } from '../process/text.ts';
import type { CheckResult } from './check.ts';
import { type Finding, isRed, states, statusText } from './finding.ts';

/** A verdict quotes this many reasons, and counts the others. */
const maxReasons = 3;

/** What was seen of a check that was carried out. */
interface Examination extends Pick<CheckResult, 'id' | 'operation' | 'elapsedMs'> {
  readonly findings: readonly Finding[];
  readonly attempts: readonly Attempt[];
}

/**
 * Makes the verdict on a check: its gravest finding, with the reasons of all findings that are not green. A check that
 * passes is flaky if one of its requests needed another attempt. A failure of an operation that is not stable is a
 * warning. With `strict` it stays a failure, and warnings and flaky passes become failures.
 *
 * @returns undefined if there is no finding.
 */
export function verdictOf(
  { id, operation, elapsedMs, findings, attempts }: Examination,
  { strict, mask }: { readonly strict: boolean; mask(text: string): string },
): CheckResult | undefined {
  const sorted = states.flatMap((state) => findings.filter((finding) => finding.state === state));
  const [gravest] = sorted;
  if (!gravest) return undefined;
  const reasons = [...new Set(sorted.filter(isNotGreen).map(({ reason }) => reason))];
  const rest = reasons.length > maxReasons ? [`and ${reasons.length - maxReasons} more`] : [];
  const reason = isNotGreen(gravest) ? [...reasons.slice(0, maxReasons), ...rest].join('; ') : gravest.reason;
  const requestsMs = attempts.map((attempt) => attempt.elapsedMs);
  const result = { operation, ...gravest, reason, id, elapsedMs, requestsMs };
  return toSafe(weighStability(weighRetries(result, attempts), strict), mask);
}

function isNotGreen({ state }: Finding): boolean {
  return state !== 'pass' && state !== 'skip';
}

/** A pass is flaky if an attempt was repeated. */
function weighRetries(result: CheckResult, attempts: readonly Attempt[]): CheckResult {
  const failed = attempts.find(({ nextDelayMs }) => nextDelayMs !== undefined);
  if (!failed || result.state !== 'pass') return result;
  const { response, error } = failed;
  const first = response ? statusText(response.status) : (error?.message ?? 'no answer');
  return { ...result, state: 'flaky', first, reason: `${first} first, then: ${result.reason}` };
}

/** Softens a failure of an operation that is not stable; if `strict`, turns warnings and flaky passes into failures. */
function weighStability(result: CheckResult, strict: boolean): CheckResult {
  const { state, reason, operation } = result;
  if (isRed(result) && !strict && operation && operation.stability !== 'stable')
    return { ...result, state: 'warn', reason: `${reason} (${operation.id} is ${operation.stability})` };
  if (!strict || (state !== 'warn' && state !== 'flaky')) return result;
  const strictReason = state === 'flaky' ? `flaky: ${reason}` : reason;
  return { ...result, state: 'fail', reason: strictReason, isStrictFailure: true };
}

/**
 * The finding with its texts masked, before the escapes of a report can hide a secret from a search, and its values cut,
 * after a secret at the cut was masked.
 */
export function toSafe<Kind extends Finding>(finding: Kind, mask: (text: string) => string): Kind {
  const { expected, got } = finding;
  const cutFinding = {
    ...finding,
    expected: expected && excerpt(expected, mask),
    got: got === undefined ? undefined : excerpt(got, mask),
  };
  const safe = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(safe) : typeof value === 'string' ? mask(shownUrl(value)) : value;
  const entries = Object.entries(cutFinding).map(([name, value]) =>
    name === 'id' || name === 'state' ? [name, value] : [name, safe(value)],
  );
  return Object.fromEntries(entries) as Kind;
}
