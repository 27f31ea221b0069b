import type { Style } from '../../output/style.ts';
import type { ExitCode, Signal } from '../../process/errors.ts';
import { counted, durationText, sanitize } from '../../process/text.ts';
import { groupOf, groups } from '../check.ts';
import { type CheckResult, type CheckVerdict, exitCodeOf, verdictOf } from '../check-result.ts';
import { type Finding, isRed, type State, states } from '../finding.ts';

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

/** A run of smoke. */
interface SmokeRun {
  /** The base URL, or `the embedded store`. */
  readonly target: string;
  readonly startedAt: Date;
  readonly elapsedMs: number;
  /** Whether `--write` was given. */
  readonly write: boolean;
  /** The number of rounds until the read checks passed or the time of `--wait` was over; 1 without `--wait`. */
  readonly rounds: number;
  readonly results: readonly CheckResult[];
  readonly strict: boolean;
  /** The signal that stopped the checks. */
  readonly signal?: Signal | undefined;
}

/** A run of smoke, weighed. Every report is made from this. */
export interface SmokeReport extends Omit<SmokeRun, 'results' | 'strict'> {
  /** The verdicts on all checks, in the order of the groups. */
  readonly verdicts: readonly CheckVerdict[];
  readonly exitCode: ExitCode;
}

export function createSmokeReport({ results, strict, ...run }: SmokeRun): SmokeReport {
  const unordered = results.map((result) => verdictOf(result, strict));
  const verdicts = groups.flatMap((group) => unordered.filter(({ id }) => groupOf(id) === group));
  const failureOfRun = verdicts.filter(({ id }) => groupOf(id) === 'run');
  return { ...run, verdicts, exitCode: exitCodeOf([...failureOfRun, ...verdicts]) };
}

/** Counts the checks in each state. */
export function totalsOf(verdicts: readonly CheckVerdict[]): Totals {
  const names = Object.keys(totalNames) as (keyof Totals)[];
  const countOf = (name: keyof Totals) =>
    name === 'checks' ? verdicts.length : verdicts.filter(({ state }) => state === name).length;
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
  /** The verdicts on the checks that have such a finding, at least one. */
  readonly verdicts: readonly CheckVerdict[];
  /** The id of the check, or the number of checks, such as `5 checks`. */
  readonly subject: string;
  /** The details, each with its label. If several checks ran into it, they are named. */
  readonly details: readonly (readonly [label: string, text: string])[];
}

/** Groups the findings that are no pass by their cause: failures first, then warnings, flaky passes and skips. */
export function causesOf(verdicts: readonly CheckVerdict[]): Cause[] {
  const findings = verdicts.flatMap((verdict) => verdict.findings.map((finding) => ({ verdict, finding })));
  const sorted = states.flatMap((state) => findings.filter(({ finding }) => finding.state === state));
  const groupsOfFindings = new Map<string, typeof findings>();
  for (const item of sorted.filter(({ finding }) => finding.state !== 'pass')) {
    const { skipReason } = item.verdict;
    const { state, reason } = item.finding;
    const key = JSON.stringify(skipReason === undefined ? [state, reason] : [skipReason]);
    groupsOfFindings.set(key, [...(groupsOfFindings.get(key) ?? []), item]);
  }
  return [...groupsOfFindings.values()].map((group) => {
    const finding = (group[0] as (typeof group)[number]).finding;
    const members = [...new Set(group.map(({ verdict }) => verdict))];
    const [first] = members as [CheckVerdict, ...CheckVerdict[]];
    const subject = members.length === 1 ? first.id : `${members.length} checks`;
    const isNamed = members.length > 1 && first.skipReason === undefined;
    const checks = isNamed ? [['checks', members.map(({ id }) => id).join(', ')] as const] : [];
    return { finding, verdicts: members, subject, details: [...checks, ...labelledDetails(finding)] };
  });
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
export function toHumanReport(report: SmokeReport, layout: Layout): string {
  const { verdicts } = report;
  const failures = causesOf(verdicts)
    .filter(({ finding }) => isRed(finding))
    .map((cause) => causeText(cause, layout))
    .join('');
  const lines = layout.brief ? '' : checkLines(verdicts, layout);
  const parts = [failures, lines].filter((part) => part !== '');
  return [...parts, totalLine(report, layout)].join(layout.brief ? '' : '\n');
}

/** Formats a cause of failures with all its details. */
function causeText({ finding, subject, details }: Cause, { style }: Layout): string {
  const lines = details.map(
    ([label, text]) => `${' '.repeat(detailIndent)}${style.dim(label.padEnd(labelWidth))}  ${text}\n`,
  );
  const head = `${subject}: ${reasonText(finding)}`;
  return `${stateCell(finding.state, style)}  ${head}\n${lines.join('')}`;
}

/** Formats a line for each check. The checks that did not begin for the same reason share a line. */
function checkLines(verdicts: readonly CheckVerdict[], { style }: Layout): string {
  const begunVerdicts = verdicts.filter(({ skipReason }) => skipReason === undefined);
  const idWidth = Math.max(...begunVerdicts.map(({ id }) => id.length), '00 checks'.length);
  const line = ({ state, elapsedMs }: CheckVerdict, id: string, text: string) => {
    const time = state === 'skip' ? '-' : durationText(elapsedMs);
    const cells = [
      stateCell(state, style),
      id.padEnd(idWidth),
      style.dim(time.padStart(timeWidth)),
      state === 'warn' || state === 'flaky' ? style.yellow(text) : style.dim(text),
    ];
    return `${cells.join('  ').trimEnd()}\n`;
  };
  const lines = begunVerdicts.map((verdict) => line(verdict, verdict.id, summaryText(verdict)));
  const skipReasons = causesOf(verdicts.filter(({ skipReason }) => skipReason !== undefined));
  const skipped = skipReasons.flatMap(({ verdicts: [first], subject }) =>
    first ? [line(first, subject, first.skipReason ?? '')] : [],
  );
  return [...lines, ...skipped].join('');
}

/** Returns the reasons of the findings that the part about failures does not have. */
function summaryText({ state, findings }: CheckVerdict): string {
  const notable = findings.filter((finding) => !isRed(finding) && finding.state !== 'pass');
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

function totalLine(report: SmokeReport, { style }: Layout): string {
  const { rounds, verdicts, elapsedMs, target, write } = report;
  const { checks, ...totals } = totalsOf(verdicts);
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
