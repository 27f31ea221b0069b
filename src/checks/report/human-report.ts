import type { Style } from '../../output/style.ts';
import type { ExitCode, Signal } from '../../process/errors.ts';
import { counted, durationText, sanitize } from '../../process/text.ts';
import { type Finding, isRed, type State, states } from '../finding.ts';
import type { CheckResult } from '../result.ts';

/** The number of checks in each state. */
type Totals = Readonly<Record<State | 'checks', number>>;

/** The words for the totals, in the order of the reports. */
const totalNames: Readonly<Record<keyof Totals, string>> = {
  checks: 'checks',
  pass: 'passed',
  flaky: 'flaky',
  warn: 'warned',
  fail: 'failed',
  error: 'not carried out',
  skip: 'skipped',
};

/** A run of smoke. Every report is made from this. */
export interface SmokeReport {
  /** The base URL, or `the embedded store`. */
  readonly target: string;
  readonly startedAt: Date;
  readonly elapsedMs: number;
  /** Whether `--write` was given. */
  readonly write: boolean;
  /** The number of rounds until the read checks passed or the time of `--wait` was over; 1 without `--wait`. */
  readonly rounds: number;
  /** The results of all checks, in the order of the groups. */
  readonly results: readonly CheckResult[];
  readonly exitCode: ExitCode;
  /** The signal that stopped the checks. */
  readonly signal?: Signal | undefined;
}

/** Counts the checks in each state. */
export function totalsOf(results: readonly CheckResult[]): Totals {
  const names = Object.keys(totalNames) as (keyof Totals)[];
  const countOf = (name: keyof Totals) =>
    name === 'checks' ? results.length : results.filter(({ state }) => state === name).length;
  return Object.fromEntries(names.map((name) => [name, countOf(name)])) as Totals;
}

/**
 * Turns text of the service into one line of a log: makes control characters visible, and breaks up commands to a CI runner
 * (`##[`, `##vso[`).
 */
export function lineText(text: string): string {
  return sanitize(text).replace(/##(?=\w*\[)/g, '#\\x23');
}

/** Returns the reason and the hint of a finding, in one line. */
export function reasonText({ reason, hint }: Pick<Finding, 'reason' | 'hint'>): string {
  return lineText(hint === undefined ? reason : `${reason}; ${hint}`);
}

/** Returns the details of a finding, each with its label. */
export function labelledDetails(finding: Finding): [label: string, text: string][] {
  const { reason, expected, got, pointer, method, url, requestId } = finding;
  const details: [string, string | undefined][] = [
    ['expected', expected],
    ['got', reason.includes(got ?? '\n') ? undefined : got],
    ['at', pointer === '' ? 'the whole body' : pointer],
    ['request', url === undefined ? undefined : `${method ?? 'GET'} ${url}`],
    ['request id', requestId],
  ];
  return details.flatMap(([label, text]) => (text === undefined ? [] : [[label, lineText(text)]]));
}

/** Findings with the same reason, which a report tells once. */
interface Cause {
  readonly finding: Finding;
  /** The ids of the checks that have such a finding. */
  readonly ids: readonly string[];
  /** The id of the check, or the number of checks, such as `5 checks`. */
  readonly subject: string;
}

/** Groups the findings that are no pass by their cause: failures first, then warnings, flaky passes and skips. */
export function causesOf(results: readonly CheckResult[]): Cause[] {
  const causes = new Map<string, { readonly finding: Finding; readonly ids: Set<string> }>();
  for (const { id, findings } of results)
    for (const finding of findings) {
      const key = `${finding.state} ${finding.reason}`;
      const cause = causes.get(key) ?? { finding, ids: new Set() };
      causes.set(key, { ...cause, ids: cause.ids.add(id) });
    }
  const sorted = states.flatMap((state) =>
    [...causes.values()].filter((each) => each.finding.state === state),
  );
  return sorted
    .filter(({ finding }) => finding.state !== 'pass')
    .map(({ finding, ids: [first = '', ...others] }) => ({
      finding,
      ids: [first, ...others],
      subject: others.length === 0 ? first : `${others.length + 1} checks`,
    }));
}

interface Layout {
  readonly style: Style;
  /** Whether to show failures and the total only. */
  readonly brief: boolean;
}

// The widths of the columns.

const timeWidth = 7;
const gapWidth = 2;
const stateWidth = 'flaky'.length;
const labelWidth = 'request id'.length;
const detailIndent = stateWidth + gapWidth;

/** Formats the report for people: each cause of failures once, then a line for each check, then the total. */
export function toHumanReport(report: SmokeReport, { style, brief }: Layout): string {
  const { results } = report;
  const failures = causesOf(results).filter(({ finding }) => isRed(finding));
  const parts = [
    failures.map((cause) => causeText(cause, style)).join(''),
    brief ? '' : checkLines(results, style),
    totalLine(report, style),
  ];
  return parts.filter((part) => part !== '').join(brief ? '' : '\n');
}

/** Formats a cause of failures with all its details. If several checks ran into it, they are named. */
function causeText({ finding, subject, ids }: Cause, style: Style): string {
  const checks = ids.length > 1 ? [['checks', ids.join(', ')] as const] : [];
  const lines = [...checks, ...labelledDetails(finding)].map(
    ([label, text]) => `${' '.repeat(detailIndent)}${style.dim(label.padEnd(labelWidth))}  ${text}\n`,
  );
  return `${stateCell(finding.state, style)}  ${subject}: ${reasonText(finding)}\n${lines.join('')}`;
}

/** Formats a line for each check. The checks that were skipped for the same reason share a line. */
function checkLines(results: readonly CheckResult[], style: Style): string {
  const begun = results.filter(({ state }) => state !== 'skip');
  const skipped = causesOf(results).filter(({ finding }) => finding.state === 'skip');
  const idWidth = Math.max(
    0,
    ...begun.map(({ id }) => id.length),
    ...skipped.map(({ subject }) => subject.length),
  );
  const line = (state: State, subject: string, time: string, text: string) => {
    const color = state === 'warn' || state === 'flaky' ? style.yellow : style.dim;
    const cells = [
      stateCell(state, style),
      subject.padEnd(idWidth),
      style.dim(time.padStart(timeWidth)),
      color(text),
    ];
    return `${cells.join('  ').trimEnd()}\n`;
  };
  return [
    ...begun.map((result) =>
      line(result.state, result.id, durationText(result.elapsedMs), summaryText(result)),
    ),
    ...skipped.map(({ finding, subject }) => line('skip', subject, '-', reasonText(finding))),
  ].join('');
}

/** Returns the reasons of the findings that the part about failures does not have. */
function summaryText({ state, findings }: CheckResult): string {
  const notable = findings.filter((finding) => /^(warn|flaky)$/.test(finding.state));
  const summarized = notable.length > 0 || isRed({ state }) ? notable : findings;
  return [...new Set(summarized.map(reasonText))].join('; ');
}

function stateCell(state: State, style: Style): string {
  return paint(state, state.padEnd(stateWidth), style);
}

function paint(state: State, text: string, { green, yellow, red, dim }: Style): string {
  const paints = { pass: green, flaky: yellow, warn: yellow, fail: red, error: red, skip: dim };
  return paints[state](text);
}

function totalLine(report: SmokeReport, style: Style): string {
  const { rounds, results, elapsedMs, target, write } = report;
  const { checks, ...totals } = totalsOf(results);
  const counts = Object.entries(totals).flatMap(([name, count]) => {
    const state = name as State;
    return count === 0 ? [] : [paint(state, `${count} ${totalNames[state]}`, style)];
  });
  const clauses = [
    `${counted(checks, 'check', 'checks')} of ${lineText(target)}`,
    write ? 'with writes' : 'read-only',
    ...(rounds > 1 ? [`after ${rounds} rounds`] : []),
    `in ${durationText(elapsedMs)}`,
  ];
  return `${style.bold(clauses.join(', '))}: ${counts.join(', ') || 'none ran'}\n`;
}
