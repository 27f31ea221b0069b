import { version } from '../../../package.json';
import { plainStyle } from '../../output/style.ts';
import { printJson } from '../../process/exact-json.ts';
import { counted, escapeMarkup } from '../../process/text.ts';
import { groupOf, type Verdict } from '../check.ts';
import type { State } from '../finding.ts';
import { toHumanReport } from './human-report.ts';
import {
  breakCommands,
  causesOf,
  labelledDetails,
  lineText,
  reasonText,
  type SmokeReport,
  totalsOf,
} from './smoke-report.ts';

/** The name of the tool in its reports. */
export const toolName = 'petstore smoke';

/** Formats the report as one JSON document. */
export function toJsonReport(report: SmokeReport, indent: number): string {
  const { target, startedAt, elapsedMs, write, rounds, repetitions, exitCode, signal, verdicts } = report;
  const document = {
    tool: toolName,
    version,
    target,
    startedAt: startedAt.toISOString(),
    seconds: seconds(elapsedMs),
    write,
    rounds,
    runs: repetitions,
    exitCode,
    signal,
    totals: totalsOf(verdicts),
    checks: verdicts.map(toCheck),
  };
  return `${breakCommands(printJson(document, indent), '#\\u0023')}\n`;
}

/** Turns a verdict into its JSON form, with times in seconds. */
function toCheck(verdict: Verdict) {
  const { id, state, elapsedMs, reason, operation, leftovers, repetitions, failures, latency, ...rest } =
    verdict;
  const { obstacle, isStrictFailure, requestsMs, exitCode, ...details } = rest;
  const group = groupOf(id);
  return {
    id,
    group,
    name: id.slice(group.length + 1),
    result: state,
    seconds: seconds(elapsedMs),
    reason,
    operation: operation?.id,
    ...details,
    left: leftovers,
    runs: repetitions,
    failures,
    latency: latency && { median: seconds(latency.median), max: seconds(latency.max) },
  };
}

/** Returns a time in seconds, rounded to microseconds. */
function seconds(ms: number): number {
  return Number((ms / 1000).toFixed(6));
}

/** Formats the report as JUnit XML, with a test suite for each group. A warning is the output of a test that passed. */
export function toJunitReport({ target, startedAt, elapsedMs, verdicts }: SmokeReport): string {
  const timestamp = startedAt.toISOString().slice(0, 19);
  const groups = [...new Set(verdicts.map(({ id }) => groupOf(id)))];
  const suites = groups.map((name) => {
    const cases = verdicts.filter(({ id }) => groupOf(id) === name);
    const ms = cases.reduce((sum, verdict) => sum + verdict.elapsedMs, 0);
    const values = { name, ...countsOf(cases, ms), timestamp, hostname: target };
    return `  <testsuite${attributes(values)}>\n${cases.map(testCase).join('')}  </testsuite>\n`;
  });
  const values = { name: `petstore smoke ${version}`, ...countsOf(verdicts, elapsedMs) };
  const document = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${attributes(values)}>\n${suites.join('')}</testsuites>\n`;
  // XML 1.0 forbids these characters even as references. After `lineText`, only U+FFFE and U+FFFF can be left.
  return document.replace(/[^\t\n\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
}

function countsOf(verdicts: readonly Verdict[], elapsedMs: number) {
  const { checks: tests, fail: failures, error: errors, skip: skipped } = totalsOf(verdicts);
  return { tests, failures, errors, skipped, time: seconds(elapsedMs) };
}

const elements = { fail: 'failure', error: 'error', skip: 'skipped', warn: '', flaky: '', pass: '' } as const;

function testCase(verdict: Verdict): string {
  const { id, state, elapsedMs, reason, repetitions, failures, latency } = verdict;
  const details = labelledDetails(verdict).map(([label, text]) => `${label}: ${text}`);
  const figures = latency && Object.entries(latency).map(([name, ms]) => `${name} ${seconds(ms)} s`);
  const times = figures ? [`runs: ${repetitions}, failures: ${failures}, ${figures.join(', ')}`] : [];
  const text = [reasonText(verdict), ...details, ...times].map(escapeMarkup).join('\n');
  const element = elements[state];
  const content = element
    ? `<${element}${attributes({ message: reason, type: state })}>${text}</${element}>`
    : `<system-out>${state}: ${text}</system-out>`;
  const values = { name: id, classname: `petstore.smoke.${groupOf(id)}`, time: seconds(elapsedMs) };
  return `    <testcase${attributes(values)}>${content}</testcase>\n`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeMarkup(lineText(String(value)))}"`)
    .join('');
}

/** The levels of annotations, by the state of the check. */
const levels: Partial<Record<State, string>> = { fail: 'error', error: 'error', warn: 'warning' };

/** Formats annotations for the log of GitHub: one for each cause of failures or warnings, and one for all flaky checks. */
export function toAnnotations({ verdicts }: SmokeReport): string {
  const flaky = verdicts.filter(({ state }) => state === 'flaky');
  const summary = flaky.map(({ id, reason }) => `${id}: ${lineText(reason)}`).join('; ');
  const causes = causesOf(verdicts).filter(({ first }) => first.state !== 'flaky');
  const lines = causes.map(({ first, subject, ids }) => {
    const level = levels[first.state];
    const message = ids === undefined ? reasonText(first) : `${reasonText(first)} (${ids})`;
    // The title needs more escapes than the message.
    const title = escapeCommand(`smoke ${subject}`).replaceAll(':', '%3A').replaceAll(',', '%2C');
    return level && `::${level} title=${title}::${escapeCommand(message)}\n`;
  });
  const title = `smoke ${counted(flaky.length, 'flaky check', 'flaky checks')}`;
  const notice = flaky.length === 0 ? '' : `::notice title=${title}::${escapeCommand(summary)}\n`;
  return lines.join('') + notice;
}

/** Escapes a message. @see https://github.com/actions/toolkit, packages/core */
function escapeCommand(text: string): string {
  return lineText(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** Formats the report for people as Markdown, for the step summary of GitHub. */
export function toStepSummary(report: SmokeReport): string {
  const text = toHumanReport(report, { style: plainStyle, brief: false });
  return `### ${report.exitCode === 0 ? '✅' : '❌'} petstore smoke\n\n${fence}text\n${text}${fence}\n`;
}

/** The fence of a block of code. Text of the service cannot end the block, because it never begins a line. */
const fence = '````';
