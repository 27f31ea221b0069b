import { version } from '../../package.json';
import { plainStyle } from '../output/style.ts';
import { printJson } from '../process/exact-json.ts';
import { escapeMarkup } from '../process/text.ts';
import { type CheckState, groupOf } from './check.ts';
import type { CheckResult } from './run-checks.ts';
import {
  causesOf,
  checksText,
  labelledDetails,
  lineText,
  reasonText,
  type SmokeReport,
  toHumanReport,
  totalsOf,
} from './smoke-report.ts';

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
    checks: results.map(toCheck),
  };
  return `${printJson(document, indent)}\n`;
}

function toCheck({ id, elapsedMs, operation, state, ...others }: CheckResult) {
  const { isPrerequisite, exitCode, endsWait, ...details } = others;
  return { id, seconds: seconds(elapsedMs), operation: operation?.id, result: state, ...details };
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
  const values = {
    name: id,
    classname: `petstore.smoke.${groupOf(id)}`,
    time: seconds(elapsedMs),
  };
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

/** The levels of annotations, by the state of the check. */
const levels: Partial<Record<CheckState, string>> = {
  fail: 'error',
  error: 'error',
  warn: 'warning',
  flaky: 'notice',
};

/** Prints annotations for the log of GitHub: one for each cause. */
export function toAnnotations({ results }: SmokeReport): string {
  const lines = causesOf(results).map((cause) => {
    const { finding, ids } = cause;
    const level = levels[finding.state];
    const members = ids.length > 1 ? ` (${ids.join(', ')})` : '';
    return (
      level &&
      `::${level} title=smoke ${checksText(cause)}::${escapeCommand(`${reasonText(finding)}${members}`)}\n`
    );
  });
  return lines.join('');
}

/** Escapes a message. @see https://github.com/actions/toolkit, packages/core */
function escapeCommand(text: string): string {
  return lineText(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** Prints the report for people as Markdown, for the step summary of GitHub. */
export function toStepSummary(report: SmokeReport): string {
  const text = toHumanReport(report, plainStyle);
  return `### ${report.exitCode === 0 ? '✅' : '❌'} petstore smoke\n\n${fence}text\n${text}${fence}\n`;
}

/** The fence of a block of code. Text of the service cannot end the block, because it never begins a line. */
const fence = '````';
