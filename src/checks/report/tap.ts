import { version } from '../../../package.json';
import { type CheckResult, isRed } from '../check.ts';
import type { SmokeReport } from './report.ts';
import { labelledDetails, lineText, reasonText } from './text.ts';

/**
 * The report as TAP 14.
 *
 * @see https://testanything.org/tap-version-14-specification.html
 */
export function toTapReport({ target, results, totals, signal, runs }: SmokeReport): string {
  const lines = [
    'TAP version 14',
    `# petstore smoke ${version} of ${lineText(target)}`,
    `1..${results.length}${results.length === 0 ? ' # SKIP no check ran' : ''}`,
    ...results.flatMap((result, index) => pointOf(result, index + 1)),
    ...Object.entries(totals).map(([name, count]) => `# ${name} ${count}`),
    `# runs ${runs}`,
    ...(signal ? [`# stopped by ${signal}`] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function pointOf(result: CheckResult, number: number): string[] {
  const { id, state, reason, flaky, runs, failures, latency, elapsedMs } = result;
  const point = `${isRed(result) ? 'not ok' : 'ok'} ${number} - ${description(id)}`;
  if (state === 'skip') return [`${point} # SKIP ${description(reason)}`];
  const facts = {
    result: state,
    reason: reasonText(result),
    flaky: flaky && lineText(flaky),
    ...(state === 'pass' ? {} : Object.fromEntries(labelledDetails(result))),
    ...(latency && { runs, failures, latency_ms: roundedMs(latency) }),
    duration_ms: Number(elapsedMs.toFixed(3)),
  };
  const lines = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `  ${name.replaceAll(' ', '_')}: ${JSON.stringify(value)}`);
  return [point, '  ---', ...lines, '  ...'];
}

function roundedMs(times: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, Number(ms.toFixed(3))]));
}

/** Escapes `#`, which begins a directive, and the backslash. */
function description(text: string): string {
  return lineText(text).replace(/[\\#]/g, (mark) => `\\${mark}`);
}
