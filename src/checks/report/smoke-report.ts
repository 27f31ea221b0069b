import { type ExitCode, exitCodes, type Signal } from '../../process/errors.ts';
import { durationText, sanitize } from '../../process/text.ts';
import { byGravity, type CheckResult, isRed, type State, states } from '../check.ts';

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
  const counts = states.map((state) => [state, results.filter((result) => result.state === state).length]);
  return { checks: results.length, ...(Object.fromEntries(counts) as Record<State, number>) };
}

/** The exit code of a run: that of a failed check of reach, which says whether there was an answer, else 7. */
export function exitCodeOf(results: readonly CheckResult[]): ExitCode {
  const red = results.filter(isRed);
  if (red.length === 0) return exitCodes.done;
  // A service that answered in some runs was reached.
  const isUnreached = ({ runs, failures }: CheckResult) => runs === failures;
  const reach = red.find(({ id, exitCode }) => exitCode !== undefined && /^(reach|tls)\//.test(id));
  return reach && isUnreached(reach) ? (reach.exitCode ?? 7) : exitCodes['check-failed'];
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

/** Text escaped for XML. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}

/** The reason of a result and its hint, in one line. */
export function reasonText({ reason, hint }: Pick<CheckResult, 'reason' | 'hint'>): string {
  return lineText(hint === undefined ? reason : `${reason}; ${hint}`);
}

/** The time of a check, over several runs of all of them. */
export function timeText({ elapsedMs }: CheckResult): string {
  return durationText(elapsedMs);
}

/** A text about a check, and the latency of its requests over several runs. */
export function withLatency(text: string, { latency }: CheckResult): string {
  if (!latency) return text;
  const times = `requests ${durationText(latency.median)}, at most ${durationText(latency.max)}`;
  return [text, times].filter((part) => part !== '').join('; ');
}

/** The details of a result, each with its label: expected, got, and where. */
export function labelledDetails(result: CheckResult, ids?: string): [label: string, text: string][] {
  const { reason, expected, got, pointer, method, url, requestId, cache, left } = result;
  const details: [string, string | undefined][] = [
    ['checks', ids],
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
  /** Reports show its reason. */
  readonly first: CheckResult;
  /** The check, or the count of checks. */
  readonly subject: string;
  /** The ids of the checks, if there are several and each of them ran. */
  readonly ids: string | undefined;
  readonly details: readonly [label: string, text: string][];
}

/** The results that did not simply pass, grouped by cause: failures first, then warnings, flaky passes and skips. */
export function causesOf(results: readonly CheckResult[]): Cause[] {
  const causes = new Map<string, [CheckResult, ...CheckResult[]]>();
  for (const result of byGravity.flatMap((state) =>
    results.filter((candidate) => candidate.state === state),
  )) {
    const { state, reason, barredBy } = result;
    if (state === 'pass') continue;
    const key = JSON.stringify(barredBy === undefined ? [state, reason] : [barredBy]);
    const group = causes.get(key);
    if (group) group.push(result);
    else causes.set(key, [result]);
  }
  return [...causes.values()].map((group) => {
    const [first] = group;
    const isSingle = group.length === 1;
    const ids = isSingle || first.barredBy !== undefined ? undefined : group.map(({ id }) => id).join(', ');
    const subject = isSingle ? first.id : `${group.length} checks`;
    return { first, subject, ids, details: labelledDetails(first, ids) };
  });
}
