import { version } from '../../../package.json';
import { plainStyle } from '../../output/style.ts';
import { printJson } from '../../process/exact-json.ts';
import { escapeMarkup } from '../../process/text.ts';
import { groupOf } from '../check.ts';
import type { CheckVerdict } from '../check-result.ts';
import type { Finding, State } from '../finding.ts';
import { toHumanReport } from './human-report.ts';
import {
  causesOf,
  labelledDetails,
  lineText,
  reasonText,
  type SmokeReport,
  totalsOf,
} from './smoke-report.ts';

/** Formats the report as one JSON document. */
export function toJsonReport(report: SmokeReport, indent: number): string {
  const { target, startedAt, elapsedMs, write, rounds, exitCode, signal, verdicts } = report;
  const document = {
    tool: 'petstore smoke',
    version,
    target,
    startedAt: startedAt.toISOString(),
    seconds: seconds(elapsedMs),
    write,
    rounds,
    exitCode,
    signal,
    totals: totalsOf(verdicts),
    checks: verdicts.map(toCheck),
  };
  return `${printJson(document, indent)}\n`;
}

/** Turns a verdict into its JSON form: its gravest finding, and all findings if there are several. */
function toCheck({ id, elapsedMs, operation, repeatedOutcome, findings }: CheckVerdict) {
  const group = groupOf(id);
  const { result, ...gravest } = toFinding(findings[0]);
  return {
    id,
    group,
    name: id.slice(group.length + 1),
    result,
    seconds: seconds(elapsedMs),
    operation: operation?.id,
    first: repeatedOutcome,
    ...gravest,
    findings: findings.length > 1 ? findings.map(toFinding) : undefined,
  };
}

function toFinding({ state, operation, leftovers, exitCode, isLasting, ...details }: Finding) {
  return { result: state, ...(operation && { operation: operation.id }), ...details, left: leftovers };
}

/** Returns a time in seconds, rounded to microseconds, for JSON. */
function seconds(ms: number): number {
  return Number((ms / 1000).toFixed(6));
}

/**
 * Formats the report as JUnit XML, with a test suite for each group. A warning is the output of a test that passed. The XML
 * keeps to what the schemas of Jenkins' xUnit plugin and of Surefire have in common, but for `timestamp`.
 */
export function toJunitReport({ target, startedAt, elapsedMs, verdicts }: SmokeReport): string {
  const property = `<property${attributes({ name: 'target', value: target })}/>`;
  const head = `    <properties>${property}</properties>\n`;
  const timestamp = startedAt.toISOString();
  const groups = [...new Set(verdicts.map(({ id }) => groupOf(id)))];
  const suites = groups.map((name) => {
    const cases = verdicts.filter(({ id }) => groupOf(id) === name);
    const ms = cases.reduce((sum, verdict) => sum + verdict.elapsedMs, 0);
    const { skip: skipped } = totalsOf(cases);
    const suite = attributes({ name, ...countsOf(cases), skipped, time: xmlSeconds(ms), timestamp });
    return `  <testsuite${suite}>\n${head}${cases.map(testCase).join('')}  </testsuite>\n`;
  });
  const all = { name: `petstore smoke ${version}`, ...countsOf(verdicts), time: xmlSeconds(elapsedMs) };
  const document = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${attributes(all)}>\n${suites.join('')}</testsuites>\n`;
  // XML 1.0 forbids these characters even as references. After `lineText`, only U+FFFE and U+FFFF can be left.
  return document.replace(/[^\t\n\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
}

function countsOf(verdicts: readonly CheckVerdict[]) {
  const { checks: tests, fail: failures, error: errors } = totalsOf(verdicts);
  return { tests, failures, errors };
}

/** Returns a time in seconds with three decimals, which is the most that the schemas allow. */
function xmlSeconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function testCase(verdict: CheckVerdict): string {
  const { id, title, elapsedMs } = verdict;
  const values = {
    name: title === undefined ? id : `${id} ${title}`,
    classname: `petstore.smoke.${groupOf(id)}`,
    time: xmlSeconds(elapsedMs),
  };
  return `    <testcase${attributes(values)}>${testResult(verdict)}</testcase>\n`;
}

function testResult({ state, findings }: CheckVerdict): string {
  const text = findings.flatMap(findingLines).map(escapeMarkup).join('\n');
  const message = findings[0].reason;
  if (state === 'skip') return `<skipped${attributes({ message })}>${text}</skipped>`;
  if (state === 'error') return `<error${attributes({ message, type: state })}>${text}</error>`;
  if (state === 'fail') return `<failure${attributes({ message, type: state })}>${text}</failure>`;
  return `<system-out>${state}: ${text}</system-out>`;
}

function findingLines(finding: Finding): string[] {
  const details = labelledDetails(finding).map(([label, text]) => `${label}: ${text}`);
  return [reasonText(finding), ...details];
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeMarkup(lineText(String(value)))}"`)
    .join('');
}

/** The levels of annotations, by the state of the check. */
const levels: Partial<Record<State, string>> = {
  fail: 'error',
  error: 'error',
  warn: 'warning',
  flaky: 'notice',
};

/** Formats annotations for the log of GitHub: one for each cause. */
export function toAnnotations({ verdicts }: SmokeReport): string {
  const lines = causesOf(verdicts).map(({ finding, subject, verdicts: members }) => {
    const level = levels[finding.state];
    const ids = members.length > 1 ? ` (${members.map(({ id }) => id).join(', ')})` : '';
    // The title needs more escapes than the message.
    const title = escapeCommand(`smoke ${subject}`).replaceAll(':', '%3A').replaceAll(',', '%2C');
    return level && `::${level} title=${title}::${escapeCommand(`${reasonText(finding)}${ids}`)}\n`;
  });
  return lines.join('');
}

/** Escapes a message. @see https://github.com/actions/toolkit, packages/core */
function escapeCommand(text: string): string {
  return lineText(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** Formats the report for people as Markdown, for the step summary of GitHub. */
export function toStepSummary(report: SmokeReport): string {
  const text = toHumanReport(report, { style: plainStyle, isTerminal: false, brief: false });
  return `### ${report.exitCode === 0 ? '✅' : '❌'} petstore smoke\n\n${fence}text\n${text}${fence}\n`;
}

/** The fence of a block of code. Text of the service cannot end the block, because it never begins a line. */
const fence = '````';
