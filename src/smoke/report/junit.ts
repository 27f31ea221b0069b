import { version } from '../../../package.json';
import type { CheckResult } from '../check.ts';
import { groups } from '../check.ts';
import type { SmokeReport } from '../smoke.ts';
import { type Totals, totalsOf } from '../totals.ts';
import { headline, labelledDetails, lineText } from './text.ts';

/** An element: its attributes by `@_name`, its children by name. */
interface Element {
  readonly [name: string]: string | number | undefined | Element | readonly Element[];
}

/** The report as JUnit XML, a test suite for each group; a warning is a test that passed, with what it warns of. */
export async function toJunitReport(report: SmokeReport): Promise<string> {
  const { default: Builder } = await import('fast-xml-builder');
  const builder = new Builder({
    format: true,
    ignoreAttributes: false,
    suppressBooleanAttributes: false,
    suppressEmptyNode: true,
  });
  return builder.build({
    '?xml': { '@_version': '1.0', '@_encoding': 'UTF-8' },
    testsuites: {
      '@_name': 'petstore smoke',
      ...counts(report.totals, report.elapsedMs),
      testsuite: groups.map((group) => toSuite(report, group)).filter((suite) => suite !== undefined),
    },
  });
}

function toSuite({ target, startedAt, results }: SmokeReport, group: string): Element | undefined {
  const own = results.filter((result) => result.group === group);
  if (own.length === 0) return undefined;
  const totals = totalsOf(own);
  const elapsedMs = own.reduce((sum, result) => sum + result.elapsedMs, 0);
  const facts = {
    version,
    target: xmlText(lineText(target)),
    passed: totals.pass,
    warnings: totals.warn,
    flaky: totals.flaky,
  };
  return {
    '@_name': group,
    ...counts(totals, elapsedMs),
    '@_timestamp': startedAt.toISOString().slice(0, 19),
    '@_hostname': hostOf(target),
    properties: {
      property: Object.entries(facts).map(([name, value]) => ({ '@_name': name, '@_value': value })),
    },
    testcase: own.map(toCase),
  };
}

function counts(totals: Totals, elapsedMs: number): Element {
  return {
    '@_tests': totals.checks,
    '@_failures': totals.fail,
    '@_errors': totals.error,
    '@_skipped': totals.skip,
    '@_time': seconds(elapsedMs),
  };
}

function toCase(result: CheckResult): Element {
  const { id, group, outcome, elapsedMs, reason, flaky } = result;
  const attributes = {
    '@_name': xmlText(id),
    '@_classname': `petstore.smoke.${group}`,
    '@_time': seconds(elapsedMs),
  };
  const details = labelledDetails(result).map(([label, text]) => `${label}: ${text}`);
  const text = xmlText([lineText(reason), ...details].join('\n'));
  const told = { '@_message': xmlText(headline(result)), '@_type': outcome, '#text': text };
  if (outcome === 'fail') return { ...attributes, failure: told };
  if (outcome === 'error') return { ...attributes, error: told };
  if (outcome === 'skip') return { ...attributes, skipped: { '@_message': xmlText(lineText(reason)) } };
  return { ...attributes, 'system-out': `${outcome}${flaky ? ', flaky' : ''}: ${text}` };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(6);
}

function hostOf(target: string): string {
  return URL.canParse(target) ? new URL(target).host : target;
}

/** Drops what no XML 1.0 document may hold, however it is written: of safe lines that is U+FFFE and U+FFFF. */
function xmlText(text: string): string {
  return text.replace(/[^\t\n\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
}
