import { createHistogram } from 'node:perf_hooks';
import { type ExitCode, exitCodes } from '../../process/errors.ts';
import type { Signal } from '../../process/io.ts';
import { durationText, sanitize } from '../../process/text.ts';
import { type CheckResult, groupOf, groups, isRed, type Latency, type State, states } from '../check.ts';

/** The number of checks in each state. */
export type Totals = Readonly<Record<State | 'checks', number>>;

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

/** A check over all runs. */
export interface Outcome extends CheckResult {
  /** The number of runs in which it ran, of failures among them, and its times; undefined if there is one run only. */
  readonly runs?: number | undefined;
  readonly failures?: number | undefined;
  readonly latency?: Latency | undefined;
}

/** The results of all checks; every report is made from this. */
export interface SmokeReport {
  /** The base URL, or the name of another target. */
  readonly target: string;
  readonly startedAt: Date;
  readonly elapsedMs: number;
  /** Whether the run was allowed to write. */
  readonly write: boolean;
  /** How often the checks ran. */
  readonly runs: number;
  readonly results: readonly Outcome[];
  readonly totals: Totals;
  readonly exitCode: ExitCode;
  /** The signal that ended the run early. */
  readonly signal?: Signal | undefined;
}

/** Gravest first. */
const byGravity: readonly State[] = ['fail', 'error', 'warn', 'flaky', 'pass', 'skip'];

/** The results of each check over any number of runs, in memory that does not grow with them. */
export class Tally {
  private readonly checks = new Map<string, CheckTally>();
  /** How many runs were counted. */
  runs = 0;

  /** Counts one run. */
  add(results: readonly CheckResult[]): void {
    this.runs += 1;
    for (const result of results) {
      const known = this.checks.get(result.id);
      if (known) known.add(result);
      else this.checks.set(result.id, new CheckTally(result));
    }
  }

  /** One outcome a check, in the order of the groups. @param isRepeated whether more than one run was asked for. */
  outcomes(isRepeated: boolean): Outcome[] {
    const all = [...this.checks.values()].map((check) => (isRepeated ? check.merged : check.worst));
    return groups.flatMap((group) => all.filter(({ id }) => groupOf(id) === group));
  }
}

class CheckTally {
  worst: CheckResult;
  private readonly left: string[] = [];
  private readonly counts: Record<State, number>;
  /** In microseconds. Any number of them takes the same memory. */
  private readonly times = createHistogram({ figures: 3 });
  private sumMs = 0;

  constructor(first: CheckResult) {
    this.worst = first;
    this.counts = Object.fromEntries(states.map((state) => [state, 0])) as Record<State, number>;
    this.add(first);
  }

  add(result: CheckResult): void {
    if (byGravity.indexOf(result.state) < byGravity.indexOf(this.worst.state)) this.worst = result;
    this.counts[result.state] += 1;
    this.left.push(...(result.left ?? []));
    if (result.state === 'skip') return;
    this.times.record(Math.max(1, Math.round(result.elapsedMs * 1000)));
    this.sumMs += result.elapsedMs;
  }

  get merged(): Outcome {
    const { worst, counts, times, left } = this;
    const failures = counts.fail + counts.error;
    const runs = times.count;
    const { state, reason } = worst;
    const counted = isRed(worst)
      ? `failed ${failures} of ${runs}`
      : `${totalNames[state]} ${counts[state]} of ${runs}`;
    const percentileMs = (percent: number) => times.percentile(percent) / 1000;
    const latency = { p50: percentileMs(50), p95: percentileMs(95), max: times.max / 1000 };
    return {
      ...worst,
      reason: state === 'skip' ? reason : state === 'pass' ? counted : `${counted}: ${reason}`,
      left: left.length > 0 ? left : undefined,
      elapsedMs: this.sumMs,
      runs,
      failures,
      latency: runs === 0 ? undefined : latency,
    };
  }
}

export function totalsOf(results: readonly CheckResult[]): Totals {
  const counts = states.map((state) => [state, results.filter((each) => each.state === state).length]);
  return { checks: results.length, ...(Object.fromEntries(counts) as Record<State, number>) };
}

/** That of a failed check of reach, which says whether there was an answer; 7 for any other failure. */
export function exitCodeOf(results: readonly Outcome[]): ExitCode {
  const red = results.filter(isRed);
  if (red.length === 0) return exitCodes.done;
  // A service that answered in some runs was reached.
  const isUnreached = ({ runs, failures }: Outcome) => runs === failures;
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

/** Text escaped for HTML and XML. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}

/** The reason of a result and its hint, in one line. */
export function reasonText({ reason, hint }: Pick<Outcome, 'reason' | 'hint'>): string {
  return lineText(hint === undefined ? reason : `${reason}; ${hint}`);
}

/** The time of a check: over several runs the median. */
export function timeText({ elapsedMs, latency }: Outcome): string {
  return durationText(latency?.p50 ?? elapsedMs);
}

/** A text about a check, and its other times over several runs. */
export function withTimes(text: string, { latency }: Outcome): string {
  return latency ? `${text}, p95 ${durationText(latency.p95)}, max ${durationText(latency.max)}` : text;
}

/** The details of a result, each with its label: expected, got, and where. */
export function labelledDetails(result: Outcome, ids?: string): [label: string, text: string][] {
  const { expected, got, pointer, method, url, requestId, cache, left } = result;
  const all: [string, string | undefined][] = [
    ['checks', ids],
    ['expected', expected],
    ['got', got],
    ['at', pointer === '' ? 'the whole body' : pointer],
    ['request', url === undefined ? undefined : `${method ?? 'GET'} ${url}`],
    ['request id', requestId],
    ['cache', cache],
    ['left', left?.join('; ')],
  ];
  return all.flatMap(([label, text]) => (text === undefined ? [] : [[label, lineText(text)]]));
}

/** Results with the same reason. */
export interface Cause {
  /** Reports show its reason. */
  readonly first: Outcome;
  /** The check, or the count of checks. */
  readonly subject: string;
  /** The ids of the checks, if there are several and each of them ran. */
  readonly ids: string | undefined;
  readonly details: readonly [label: string, text: string][];
}

/** The results that did not simply pass, grouped by cause: failures first, then warnings, flaky passes and skips. */
export function causesOf(results: readonly Outcome[]): Cause[] {
  const causes = new Map<string, [Outcome, ...Outcome[]]>();
  for (const result of byGravity.flatMap((state) => results.filter((each) => each.state === state))) {
    const { state, reason, barredBy } = result;
    if (state === 'pass') continue;
    const key = JSON.stringify(barredBy === undefined ? [state, reason] : [barredBy]);
    const known = causes.get(key);
    if (known) known.push(result);
    else causes.set(key, [result]);
  }
  return [...causes.values()].map((same) => {
    const [first] = same;
    const isOne = same.length === 1;
    const ids = isOne || first.barredBy !== undefined ? undefined : same.map(({ id }) => id).join(', ');
    const subject = isOne ? first.id : `${same.length} checks`;
    return { first, subject, ids, details: labelledDetails(first, ids) };
  });
}
