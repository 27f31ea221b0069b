import { sanitize } from '../../process/text.ts';
import { isRed, type State } from '../check.ts';
import { groupOf } from '../options.ts';
import type { Outcome, SmokeReport, Totals } from './smoke-report.ts';

/**
 * Foreign text for one line of a log: controls become visible, and commands to a CI runner (`##[`, `##vso[`) are broken
 * up.
 */
export function lineText(text: string): string {
  return breakCommands(sanitize(text), '#\\x23');
}

/** Breaks up commands to CI runners, which recognise them anywhere in a line. */
export function breakCommands(text: string, replacement: string): string {
  return text.replace(/##(?=\w*\[)/g, () => replacement);
}

/** The words for the totals of a report, in the order in which reports show them. */
export const totalNames: Readonly<Record<keyof Totals, string>> = {
  checks: 'checks',
  pass: 'passed',
  flaky: 'flaky',
  warn: 'warned',
  fail: 'failed',
  error: 'not carried out',
  skip: 'skipped',
};

export function isGreen({ results }: SmokeReport): boolean {
  return !results.some(isRed);
}

/** The results of each group that has any. */
export function byGroup(results: readonly Outcome[]): [group: string, results: Outcome[]][] {
  const groups = [...new Set(results.map(({ id }) => groupOf(id)))];
  return groups.map((group) => [group, results.filter(({ id }) => groupOf(id) === group)]);
}

/** The reason of a result and its hint, in one line. */
export function reasonText({ reason, hint }: Pick<Outcome, 'reason' | 'hint'>): string {
  return lineText(hint === undefined ? reason : `${reason}; ${hint}`);
}

/** The details of a result for a report, each with its label: expected, got, and where. */
export function labelledDetails(result: Outcome): [label: string, text: string][] {
  const { expected, got, pointer, method, url, requestId, cache, left } = result;
  const all: [string, string | undefined][] = [
    ['expected', expected],
    ['got', got],
    ['at', pointer === '' ? 'the whole body' : pointer],
    ['request', url === undefined ? undefined : `${method ?? 'GET'} ${url}`],
    ['request id', requestId],
    ['cache', cache],
    ['left', left?.join('; ')],
  ];
  return all
    .filter((each): each is [string, string] => each[1] !== undefined)
    .map(([label, text]) => [label, lineText(text)]);
}

/** A result in one line. */
export function headline(result: Outcome): string {
  const { reason, expected, got, hint, requestId } = result;
  const more = [
    expected && `expected ${expected}`,
    got && `got ${got}`,
    requestId && isRed(result) && `request id ${requestId}`,
  ].filter(Boolean);
  const text = more.length > 0 ? `${reason}: ${more.join(', ')}` : reason;
  return lineText(hint === undefined ? text : `${text}; ${hint}`);
}

/** Results with the same reason. */
export interface Cause {
  /** Reports show its reason and its details. */
  readonly first: Outcome;
  /** The check, or the count of checks. */
  readonly subject: string;
  /** The ids of the checks, if there are several and each of them ran. */
  readonly ids: string | undefined;
}

/** The results that did not simply pass, grouped by cause: failures first, then warnings, flaky passes and skips. */
export function causesOf(results: readonly Outcome[]): Cause[] {
  const causes = new Map<string, [Outcome, ...Outcome[]]>();
  for (const result of results) {
    if (result.state === 'pass') continue;
    const { state, reason, barredBy } = result;
    const key = JSON.stringify(barredBy === undefined ? [ranks.indexOf(state), reason] : [barredBy]);
    const known = causes.get(key);
    if (known) known.push(result);
    else causes.set(key, [result]);
  }
  const sorted = [...causes.values()].sort(
    ([one], [other]) => ranks.indexOf(one.state) - ranks.indexOf(other.state),
  );
  return sorted.map((same) => {
    const [first] = same;
    const isOne = same.length === 1;
    const ids = isOne || first.barredBy !== undefined ? undefined : same.map(({ id }) => id).join(', ');
    return { first, subject: isOne ? first.id : `${same.length} checks`, ids };
  });
}

const ranks: readonly State[] = ['fail', 'error', 'warn', 'flaky', 'skip'];
