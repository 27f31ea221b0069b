import { type ExitCode, exitCodes, type Signal } from '../../process/errors.ts';
import { sanitize } from '../../process/text.ts';
import type { Verdict } from '../check.ts';
import { isRed, type State, states } from '../finding.ts';

/** The number of checks in each state. */
type Totals = Readonly<Record<State | 'checks', number>>;

/** The words for the totals, in the order of the reports. */
export const totalNames: Readonly<Record<keyof Totals, string>> = {
  checks: 'checks',
  pass: 'passed',
  flaky: 'flaky',
  warn: 'warned',
  fail: 'failed',
  error: 'not carried out',
  skip: 'skipped',
};

/** The verdicts on all checks. Every report is made from this. */
export interface SmokeReport {
  /** The base URL, or `the embedded store`. */
  readonly target: string;
  readonly startedAt: Date;
  readonly elapsedMs: number;
  /** Whether `--write` was given. */
  readonly write: boolean;
  /** The number of rounds until the read checks passed or the time of `--wait` was over; 1 without `--wait`. */
  readonly rounds: number;
  /** The number of repetitions of `--repeat` or `--for`; 1 without them. JSON has it as `runs`. */
  readonly repetitions: number;
  readonly verdicts: readonly Verdict[];
  readonly exitCode: ExitCode;
  /** The signal that stopped the checks. */
  readonly signal?: Signal | undefined;
}

/** Counts the checks in each state. */
export function totalsOf(verdicts: readonly Verdict[]): Totals {
  const names = Object.keys(totalNames) as (keyof Totals)[];
  const countOf = (name: keyof Totals) =>
    name === 'checks' ? verdicts.length : verdicts.filter(({ state }) => state === name).length;
  return Object.fromEntries(names.map((name) => [name, countOf(name)])) as Totals;
}

/**
 * Returns the exit code for these verdicts. If a check of reach or tls failed, its exit code says whether the service
 * answered; any other failure is 7.
 */
export function exitCodeOf(verdicts: readonly Verdict[]): ExitCode {
  const red = verdicts.filter(isRed);
  if (red.length === 0) return exitCodes.done;
  const reach = red.find(({ id, exitCode }) => exitCode !== undefined && /^(reach|tls)\//.test(id));
  // A service that answered in one of the repetitions was reached.
  const isUnreached = reach?.repetitions === reach?.failures;
  return (isUnreached && reach?.exitCode) || exitCodes['check-failed'];
}

/**
 * Turns text of the service into one line of a log: makes control characters visible, and breaks up commands to a CI runner
 * (`##[`, `##vso[`).
 */
export function lineText(text: string): string {
  return breakCommands(sanitize(text), '#\\x23');
}

/** Breaks up commands to CI runners, which recognise a command anywhere in a line. */
export function breakCommands(text: string, replacement: string): string {
  return text.replace(/##(?=\w*\[)/g, () => replacement);
}

/** Returns the reason and the hint of a verdict, in one line. */
export function reasonText({ reason, hint }: Pick<Verdict, 'reason' | 'hint'>): string {
  return lineText(hint === undefined ? reason : `${reason}; ${hint}`);
}

/** Returns the details of a verdict, each with its label. */
export function labelledDetails(verdict: Verdict): [label: string, text: string][] {
  const { reason, expected, got, pointer, method, url, requestId, cache, leftovers } = verdict;
  const details: [string, string | undefined][] = [
    ['expected', expected],
    ['got', reason.includes(got ?? '\n') ? undefined : got],
    ['at', pointer === '' ? 'the whole body' : pointer],
    ['request', url === undefined ? undefined : `${method ?? 'GET'} ${url}`],
    ['request id', requestId],
    ['cache', cache],
    ['left', leftovers?.join('; ')],
  ];
  return details.flatMap(([label, text]) => (text === undefined ? [] : [[label, lineText(text)]]));
}

/** Verdicts with the same reason, which a report shows once. */
export interface Cause {
  readonly first: Verdict;
  /** The id of the check, or the number of checks, such as `5 checks`. */
  readonly subject: string;
  /** The ids of the checks; undefined for a single check, and for checks that did not begin. */
  readonly ids: string | undefined;
}

/** Groups the verdicts that are not a pass by their cause: failures first, then warnings, flaky passes and skips. */
export function causesOf(verdicts: readonly Verdict[]): Cause[] {
  const sorted = states.flatMap((state) => verdicts.filter((verdict) => verdict.state === state));
  const causes = new Map<string, Verdict[]>();
  for (const verdict of sorted.filter(({ state }) => state !== 'pass')) {
    const { state, reason, obstacle } = verdict;
    const key = JSON.stringify(obstacle === undefined ? [state, reason] : [obstacle]);
    causes.set(key, [...(causes.get(key) ?? []), verdict]);
  }
  return [...causes.values()].map((group) => {
    const first = group[0] as Verdict;
    if (group.length === 1) return { first, subject: first.id, ids: undefined };
    const ids = first.obstacle === undefined ? group.map(({ id }) => id).join(', ') : undefined;
    return { first, subject: `${group.length} checks`, ids };
  });
}
