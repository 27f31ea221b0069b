import { version } from '../../../package.json';
import { groupOf } from '../options.ts';
import { byGroup, headline, labelledDetails, lineText, reasonText } from './causes.ts';
import { type Outcome, type SmokeReport, type Totals, totalsOf } from './smoke-report.ts';

/** An element: its attributes by `@_name`, its children by name. */
interface Element {
  readonly [name: string]: string | number | undefined | Element | readonly Element[];
}

/** The report as JUnit XML, a test suite for each group. A warning is a passed test with the warning as its output. */
export async function toJunitReport(report: SmokeReport): Promise<string> {
  const { default: Builder } = await import('fast-xml-builder');
  const builder = new Builder({
    format: true,
    ignoreAttributes: false,
    suppressBooleanAttributes: false,
    suppressEmptyNode: true,
  });
  const document = builder.build({
    '?xml': { '@_version': '1.0', '@_encoding': 'UTF-8' },
    testsuites: {
      '@_name': 'petstore smoke',
      ...counts(report.totals, report.elapsedMs),
      testsuite: byGroup(report.results).map(([group, results]) => toSuite(report, group, results)),
    },
  });
  // XML 1.0 forbids these characters even as references; in safe lines they are only U+FFFE and U+FFFF.
  return document.replace(/[^\t\n\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
}

function toSuite(
  { target, startedAt, runs }: SmokeReport,
  group: string,
  results: readonly Outcome[],
): Element {
  const totals = totalsOf(results);
  const { pass: passed, warn: warnings, flaky } = totals;
  const elapsedMs = results.reduce((sum, result) => sum + result.elapsedMs, 0);
  const facts = { version, target: lineText(target), passed, warnings, flaky, runs };
  return {
    '@_name': group,
    ...counts(totals, elapsedMs),
    '@_timestamp': startedAt.toISOString().slice(0, 19),
    '@_hostname': hostOf(target),
    properties: {
      property: Object.entries(facts).map(([name, value]) => ({ '@_name': name, '@_value': value })),
    },
    testcase: results.map(toCase),
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

function toCase(result: Outcome): Element {
  const { id, state, elapsedMs, reason, runs, failures, latency } = result;
  const attributes = {
    '@_name': id,
    '@_classname': `petstore.smoke.${groupOf(id)}`,
    '@_time': seconds(elapsedMs),
  };
  const details = labelledDetails(result).map(([label, text]) => `${label}: ${text}`);
  const figures = latency && Object.entries(latency).map(([name, ms]) => `${name} ${seconds(ms)} s`);
  const times = figures ? [`runs: ${runs}, failures: ${failures}, ${figures.join(', ')}`] : [];
  const text = [reasonText(result), ...details, ...times].join('\n');
  const found = { '@_message': headline(result), '@_type': state, '#text': text };
  if (state === 'fail') return { ...attributes, failure: found };
  if (state === 'error') return { ...attributes, error: found };
  if (state === 'skip') return { ...attributes, skipped: { '@_message': lineText(reason) } };
  return { ...attributes, 'system-out': `${state}: ${text}` };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(6);
}

function hostOf(target: string): string {
  return URL.canParse(target) ? new URL(target).host : target;
}
