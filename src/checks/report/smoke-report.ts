import { type ExitCode, exitCodes, type Signal } from '../../process/errors.ts';
import { sanitize } from '../../process/text.ts';
import type { CheckResult } from '../check.ts';
import { isRed, type State, states } from '../finding.ts';

/** The number of checks in each state. */
type Totals = Readonly<Record<State | 'checks', number>>;

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

/** The results of all checks; every report is made from this. */
export interface SmokeReport {
  /** The base URL, or the name of another target. */
  readonly target: string;
  readonly startedAt: Date;
  readonly elapsedMs: number;
  /** Whether the run was allowed to write. */
  readonly write: boolean;
  /** The number of rounds of the read checks until they passed or the time was over; 1 without `--wait`. */
  readonly rounds: number;
  /** The number of runs of the checks. */
  readonly runs: number;
  readonly results: readonly CheckResult[];
  readonly exitCode: ExitCode;
  /** The signal that ended the run early. */
  readonly signal?: Signal | undefined;
}

/** Counts the checks by their state. */
export function totalsOf(results: readonly CheckResult[]): Totals {
  const names = Object.keys(totalNames) as (keyof Totals)[];
  const countOf = (name: keyof Totals) =>
    name === 'checks' ? results.length : results.filter(({ state }) => state === name).length;
  return Object.fromEntries(names.map((name) => [name, countOf(name)])) as Totals;
}

/** The exit code of a run: that of a failed check of reach, which says whether there was an answer, else 7. */
export function exitCodeOf(results: readonly CheckResult[]): ExitCode {
  const red = results.filter(isRed);
  if (red.length === 0) return exitCodes.done;
  const reach = red.find(({ id, exitCode }) => exitCode !== undefined && /^(reach|tls)\//.test(id));
  // A service that answered in some runs was reached.
  const isUnreached = reach?.runs === reach?.failures;
  return (isUnreached && reach?.exitCode) || exitCodes['check-failed'];
}

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

/** The reason of a result and its hint, in one line. */
export function reasonText({ reason, hint }: Pick<CheckResult, 'reason' | 'hint'>): string {
  return lineText(hint === undefined ? reason : `${reason}; ${hint}`);
}

/** The details of a result, each with its label: expected, got, and where. */
export function labelledDetails(result: CheckResult): [label: string, text: string][] {
  const { reason, expected, got, pointer, method, url, requestId, cache, left } = result;
  const details: [string, string | undefined][] = [
    ['expected', expected],
    ['got', reason.includes(got ?? '\n') ? undefined : got],
    ['at', pointer === '' ? 'the whole body' : pointer],
    ['request', url === undefined ? undefined : `${method ?? 'GET'} ${url}`],
    ['request id', requestId],
    ['cache', cache],
    ['left', left?.join('; ')],
  ];
  return details.flatMap(([label, text]) => (text === undefined ? [] : [[label, lineText(text)]]));
}

/** Results with the same reason. */
export interface Cause {
  /** The result whose reason stands for all of them. */
  readonly first: CheckResult;
  /** The check, or the count of checks. */
  readonly subject: string;
  /** The ids of the checks; undefined for one check, and for checks that never began. */
  readonly ids: string | undefined;
}

/** The results that did not simply pass, grouped by cause: failures first, then warnings, flaky passes and skips. */
export function causesOf(results: readonly CheckResult[]): Cause[] {
  const sorted = states.flatMap((state) => results.filter((result) => result.state === state));
  const causes = new Map<string, CheckResult[]>();
  for (const result of sorted.filter(({ state }) => state !== 'pass')) {
    const { state, reason, obstacle } = result;
    const key = JSON.stringify(obstacle === undefined ? [state, reason] : [obstacle]);
    causes.set(key, [...(causes.get(key) ?? []), result]);
  }
  return [...causes.values()].map((group) => {
    const first = group[0] as CheckResult;
    if (group.length === 1) return { first, subject: first.id, ids: undefined };
    const ids = first.obstacle === undefined ? group.map(({ id }) => id).join(', ') : undefined;
    return { first, subject: `${group.length} checks`, ids };
  });
}
