import { sanitize } from '../../process/text.ts';
import type { State } from '../check.ts';
import type { Outcome, Totals } from './smoke-report.ts';

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

/** Text escaped for HTML and XML. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
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
