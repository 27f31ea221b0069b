import { version } from '../../package.json';
import { paintState, plainStyle, type Style } from '../output/style.ts';
import type { ExitCode } from '../process/errors.ts';
import { printJson } from '../process/exact-json.ts';
import { breakRunnerCommands, countText, durationText, escapeMarkup, sanitize } from '../process/text.ts';
import { type CheckState, checkStates, type Finding, groupOf, isFailure } from './check.ts';
import type { CheckResult } from './run-checks.ts';

/** The words for the totals, in the order of the reports. */
const totalNames: Readonly<Record<CheckState, string>> = {
  pass: 'passed',
  flaky: 'flaky',
  warn: 'warned',
  fail: 'failed',
  error: 'not carried out',
  skip: 'skipped',
};

/** The results of smoke, which every format of the report prints. */
export interface SmokeReport {
  /** The base URL, or `the embedded store`. */
  readonly target: string;
  readonly startedAt: Date;
  readonly elapsedMs: number;
  /** True if checks that write were selected. */
  readonly write: boolean;
  /** The results of all checks, in the order of the groups. */
  readonly results: readonly CheckResult[];
  readonly exitCode: ExitCode;
}

function totalsOf(results: readonly CheckResult[]): Readonly<Record<CheckState | 'checks', number>> {
  const count = (state: CheckState) => results.filter((result) => result.state === state).length;
  const entries = (Object.keys(totalNames) as CheckState[]).map((state) => [state, count(state)]);
  return { checks: results.length, ...(Object.fromEntries(entries) as Record<CheckState, number>) };
}

/** Turns text of the service into one line of a log. */
function lineText(text: string): string {
  return breakRunnerCommands(sanitize(text));
}

function reasonText({ reason, hint }: Finding): string {
  return lineText(hint === undefined ? reason : `${reason}; ${hint}`);
}

function labelledDetails(finding: Finding): [label: string, text: string][] {
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

/** A finding, and the ids of the checks with this state, reason and expectation. A report shows it once. */
interface Cause {
  readonly finding: Finding;
  readonly ids: string[];
}

/** Groups results by their cause, the gravest first. */
function causesOf(results: readonly CheckResult[]): Cause[] {
  const causes = new Map<string, Cause>();
  for (const result of checkStates.flatMap((state) => results.filter((each) => each.state === state))) {
    const key = [result.state, result.reason, result.expected].join(' ');
    const cause = causes.get(key) ?? { finding: result, ids: [] };
    cause.ids.push(result.id);
    causes.set(key, cause);
  }
  return [...causes.values()];
}

// The widths of the columns.

const timeWidth = 7;
const stateWidth = 'flaky'.length;
const labelWidth = 'request id'.length;
const detailIndent = ' '.repeat(stateWidth + 2);

/**
 * Prints the report for people: each cause of failures once, then a line for each check, then the total.
 *
 * @param brief leaves out the lines of the checks.
 */
export function toHumanReport(report: SmokeReport, style: Style, brief = false): string {
  const { results } = report;
  const failures = causesOf(results.filter(isFailure));
  const parts = [
    failures.map((cause) => causeText(cause, style)).join(''),
    brief ? '' : checkLines(results, style),
    totalLine(report, style),
  ];
  return parts.filter((part) => part !== '').join(brief ? '' : '\n');
}

/** Prints a cause of failures with all its details. */
function causeText({ finding, ids }: Cause, style: Style): string {
  const lines = labelledDetails(finding).map(
    ([label, text]) => `${detailIndent}${style.dim(label.padEnd(labelWidth))}  ${text}\n`,
  );
  const state = paintState(style, finding.state, finding.state.padEnd(stateWidth));
  return `${state}  ${ids.join(', ')}: ${reasonText(finding)}\n${lines.join('')}`;
}

/** Prints a line for each check. A failure has its reason above, among the causes. */
function checkLines(results: readonly CheckResult[], style: Style): string {
  // The result of the run as a whole is only a cause.
  const checks = results.filter(({ id }) => groupOf(id) !== 'run');
  const idWidth = Math.max(...checks.map(({ id }) => id.length));
  const lines = checks.map((result) => {
    const { id, state, elapsedMs } = result;
    const time = state === 'skip' ? '-' : durationText(elapsedMs);
    const text = isFailure(result) ? '' : reasonText(result);
    const cells = [
      paintState(style, state, state.padEnd(stateWidth)),
      id.padEnd(idWidth),
      style.dim(time.padStart(timeWidth)),
      state === 'warn' || state === 'flaky' ? style.yellow(text) : style.dim(text),
    ];
    return `${cells.join('  ').trimEnd()}\n`;
  });
  return lines.join('');
}

function totalLine(report: SmokeReport, style: Style): string {
  const { results, elapsedMs, target, write } = report;
  const { checks, ...totals } = totalsOf(results);
  const counts = Object.entries(totals).flatMap(([name, count]) => {
    const state = name as CheckState;
    return count === 0 ? [] : [paintState(style, state, `${count} ${totalNames[state]}`)];
  });
  const clauses = [
    `${countText(checks, 'check', 'checks')} of ${lineText(target)}`,
    write ? 'with writes' : 'read-only',
    `in ${durationText(elapsedMs)}`,
  ];
  return `${style.bold(clauses.join(', '))}: ${counts.join(', ') || 'none ran'}\n`;
}

/** Prints the report as one JSON document. */
export function toJsonReport(report: SmokeReport, indent: number): string {
  const { startedAt, elapsedMs, results, ...others } = report;
  const document = {
    tool: 'petstore smoke',
    version,
    ...others,
    startedAt: startedAt.toISOString(),
    seconds: seconds(elapsedMs),
    totals: totalsOf(results),
    checks: results.map(({ id, operation, state, ...result }) => {
      const { elapsedMs: ms, isPrerequisite, exitCode, endsWait, ...details } = result;
      return { id, seconds: seconds(ms), operation: operation?.id, result: state, ...details };
    }),
  };
  return `${printJson(document, indent)}\n`;
}

/** Returns a time in seconds with three decimals, which is the most that the schemas of JUnit allow. */
function seconds(ms: number): number {
  return Number((ms / 1000).toFixed(3));
}

/**
 * Prints the report as JUnit XML. A warning is the output of a test that passed. The XML keeps to what the schemas of
 * Jenkins' xUnit plugin and of Surefire have in common, but for `timestamp`.
 */
export function toJunitReport({ target, startedAt, elapsedMs, results }: SmokeReport): string {
  const { checks: tests, fail: failures, error: errors, skip: skipped } = totalsOf(results);
  const counts = { tests, failures, errors };
  const [name, time] = [`petstore smoke ${version}`, seconds(elapsedMs)];
  const suite = { name, ...counts, skipped, time, timestamp: startedAt.toISOString() };
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name, ...counts, time })}>`,
    `  <testsuite${attributes(suite)}>`,
    `    <properties><property${attributes({ name: 'target', value: target })}/></properties>`,
    ...results.map(testCase),
    '  </testsuite>',
    '</testsuites>\n',
  ];
  // XML 1.0 forbids these characters even as references. After `lineText`, only U+FFFE and U+FFFF can be left.
  return lines.join('\n').replace(/[^\t\n\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
}

function testCase(result: CheckResult): string {
  const { id, elapsedMs } = result;
  const values = { name: id, classname: `petstore.smoke.${groupOf(id)}`, time: seconds(elapsedMs) };
  return `    <testcase${attributes(values)}>${testResult(result)}</testcase>`;
}

/** The elements of the states that are not a pass. */
const elements: Partial<Record<CheckState, string>> = { skip: 'skipped', error: 'error', fail: 'failure' };

function testResult(result: CheckResult): string {
  const { state, reason: message } = result;
  const lines = [reasonText(result), ...labelledDetails(result).map(([label, text]) => `${label}: ${text}`)];
  const text = lines.map(escapeMarkup).join('\n');
  const element = elements[state];
  if (element === undefined) return `<system-out>${state}: ${text}</system-out>`;
  const values = state === 'skip' ? { message } : { message, type: state };
  return `<${element}${attributes(values)}>${text}</${element}>`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeMarkup(lineText(String(value)))}"`)
    .join('');
}

const annotationLevels: Partial<Record<CheckState, string>> = {
  fail: 'error',
  error: 'error',
  warn: 'warning',
  flaky: 'notice',
};

/** Prints annotations for the log of GitHub: one for each cause. @see https://github.com/actions/toolkit, packages/core */
export function toAnnotations({ results }: SmokeReport): string {
  const lines = causesOf(results).map(({ finding, ids }) => {
    const level = annotationLevels[finding.state];
    const message = `${ids.join(', ')}: ${reasonText(finding)}`.replaceAll('%', '%25');
    return level && `::${level} title=petstore smoke::${message}\n`;
  });
  return lines.join('');
}

/** Prints the report for people as Markdown, for the step summary of GitHub. */
export function toStepSummary(report: SmokeReport): string {
  const text = toHumanReport(report, plainStyle);
  // Text of the service cannot end the block of code, because it never begins a line.
  return `### ${report.exitCode === 0 ? '✅' : '❌'} petstore smoke\n\n\`\`\`\`text\n${text}\`\`\`\`\n`;
}
