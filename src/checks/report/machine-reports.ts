import { appendFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { version } from '../../../package.json';
import { plainStyle } from '../../output/style.ts';
import { UsageError } from '../../process/errors.ts';
import { printJson } from '../../process/exact-json.ts';
import { ensureFolder, writeFileAtomic } from '../../process/files.ts';
import { fileError } from '../../process/system-error.ts';
import { escapeMarkup } from '../../process/text.ts';
import { groupOf } from '../check.ts';
import type { Finding, State } from '../finding.ts';
import type { CheckResult } from '../result.ts';
import {
  causesOf,
  labelledDetails,
  lineText,
  reasonText,
  type SmokeReport,
  toHumanReport,
  totalsOf,
} from './human-report.ts';

/** Formats the report as one JSON document. */
export function toJsonReport(report: SmokeReport, indent: number): string {
  const { target, startedAt, elapsedMs, write, rounds, exitCode, signal, results } = report;
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
    totals: totalsOf(results),
    checks: results.map(toCheck),
  };
  return `${printJson(document, indent)}\n`;
}

/** Turns a result into its JSON form: its gravest finding, and all findings if there are several. */
function toCheck({ id, elapsedMs, operation, repeatedOutcome, findings }: CheckResult) {
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
function toJunitReport({ target, startedAt, elapsedMs, results }: SmokeReport): string {
  const property = `<property${attributes({ name: 'target', value: target })}/>`;
  const head = `    <properties>${property}</properties>\n`;
  const timestamp = startedAt.toISOString();
  const groups = [...new Set(results.map(({ id }) => groupOf(id)))];
  const suites = groups.map((name) => {
    const cases = results.filter(({ id }) => groupOf(id) === name);
    const ms = cases.reduce((sum, result) => sum + result.elapsedMs, 0);
    const { skip: skipped } = totalsOf(cases);
    const suite = attributes({ name, ...countsOf(cases), skipped, time: xmlSeconds(ms), timestamp });
    return `  <testsuite${suite}>\n${head}${cases.map(testCase).join('')}  </testsuite>\n`;
  });
  const all = { name: `petstore smoke ${version}`, ...countsOf(results), time: xmlSeconds(elapsedMs) };
  const document = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${attributes(all)}>\n${suites.join('')}</testsuites>\n`;
  // XML 1.0 forbids these characters even as references. After `lineText`, only U+FFFE and U+FFFF can be left.
  return document.replace(/[^\t\n\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
}

function countsOf(results: readonly CheckResult[]) {
  const { checks: tests, fail: failures, error: errors } = totalsOf(results);
  return { tests, failures, errors };
}

/** Returns a time in seconds with three decimals, which is the most that the schemas allow. */
function xmlSeconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function testCase(result: CheckResult): string {
  const { id, title, elapsedMs } = result;
  const values = {
    name: title === undefined ? id : `${id} ${title}`,
    classname: `petstore.smoke.${groupOf(id)}`,
    time: xmlSeconds(elapsedMs),
  };
  return `    <testcase${attributes(values)}>${testResult(result)}</testcase>\n`;
}

function testResult({ state, findings }: CheckResult): string {
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
export function toAnnotations({ results }: SmokeReport): string {
  const lines = causesOf(results).map(({ finding, subject, ids }) => {
    const level = levels[finding.state];
    const members = ids.length > 1 ? ` (${ids.join(', ')})` : '';
    // The title needs more escapes than the message.
    const title = escapeCommand(`smoke ${subject}`).replaceAll(':', '%3A').replaceAll(',', '%2C');
    return level && `::${level} title=${title}::${escapeCommand(`${reasonText(finding)}${members}`)}\n`;
  });
  return lines.join('');
}

/** Escapes a message. @see https://github.com/actions/toolkit, packages/core */
function escapeCommand(text: string): string {
  return lineText(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** Formats the report for people as Markdown, for the step summary of GitHub. */
function toStepSummary(report: SmokeReport): string {
  const text = toHumanReport(report, { style: plainStyle, brief: false });
  return `### ${report.exitCode === 0 ? '✅' : '❌'} petstore smoke\n\n${fence}text\n${text}${fence}\n`;
}

/** The fence of a block of code. Text of the service cannot end the block, because it never begins a line. */
const fence = '````';

/** How to print a report into a file, by its format. */
const formats = {
  junit: toJunitReport,
  json: (report: SmokeReport) => toJsonReport(report, 2),
} as const;

interface FileReport {
  readonly format: keyof typeof formats;
  readonly path: string;
}

/** The reports that `--report` asks for, besides the report for people. */
export interface Reports {
  readonly files: readonly FileReport[];
  /** Whether to print annotations for GitHub's log, and a step summary. */
  readonly github: boolean;
}

/**
 * Reads the values of `--report`: `<format>=<file>`, or `github`.
 *
 * @throws UsageError for anything else, and for two reports in one file.
 */
export function parseReports(values: readonly string[], cwd: string): Reports {
  const files = values.filter((value) => value !== 'github').map((value) => parseFile(value, cwd));
  const paths = files.map(({ path }) => path);
  const duplicate = paths.find((path, index) => paths.indexOf(path) !== index);
  if (duplicate)
    throw new UsageError(`--report: ${duplicate} is named twice`, 'give each report a file of its own');
  return { files, github: values.includes('github') };
}

function parseFile(value: string, cwd: string): FileReport {
  const [, format = '', path = ''] = /^(\w+)=(.+)$/s.exec(value) ?? [];
  if (!Object.hasOwn(formats, format)) {
    const choices = Object.keys(formats).map((name) => `${name}=<file>`);
    throw new UsageError(`--report '${value}': must be github or one of ${choices.join(', ')}`);
  }
  if (path === '-')
    throw new UsageError(`--report: ${value}: a report goes to a file`, 'for JSON on stdout use -o json');
  return { format: format as FileReport['format'], path: resolve(cwd, path) };
}

/** Makes the folders of the reports, before the checks run. @throws CliError if a folder cannot be made. */
export async function prepareReports({ files }: Reports): Promise<void> {
  for (const { path } of files) await ensureFolder(dirname(path));
}

/**
 * Writes the reports into their files. An error does not keep the next report from its file.
 *
 * @param summaryPath the step summary of GitHub, to which the report is appended; undefined if there is none.
 * @returns the errors.
 */
export async function writeReports(
  report: SmokeReport,
  { files, github }: Reports,
  summaryPath: string | undefined,
): Promise<Error[]> {
  const writes = files.map(({ format, path }) => writeFileAtomic(path, formats[format](report), 0o644));
  if (github && summaryPath)
    writes.push(
      appendFile(summaryPath, toStepSummary(report)).catch((error) => {
        throw fileError('write', summaryPath, error);
      }),
    );
  return rejectionsOf(writes);
}

/** Waits for all of these to settle. @returns the errors of those that were rejected, in their order */
export async function rejectionsOf(works: Iterable<unknown>): Promise<Error[]> {
  const settlements = await Promise.allSettled(works);
  return settlements.flatMap((settlement) =>
    settlement.status === 'rejected' ? [settlement.reason as Error] : [],
  );
}
