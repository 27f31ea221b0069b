import { version } from '../../../package.json';
import type { CheckResult } from '../check.ts';
import { isRed } from '../check.ts';
import type { SmokeReport } from '../smoke.ts';
import { labelledDetails, lineText } from './text.ts';

/**
 * The report as TAP 14.
 *
 * @see https://testanything.org/tap-version-14-specification.html
 */
export function toTapReport({ target, results, totals, signal }: SmokeReport): string {
  const lines = [
    'TAP version 14',
    `# petstore smoke ${version} of ${comment(target)}`,
    `1..${results.length}${results.length === 0 ? ' # SKIP no check ran' : ''}`,
    ...results.flatMap((result, index) => pointOf(result, index + 1)),
    ...Object.entries(totals).map(([name, count]) => `# ${name} ${count}`),
    ...(signal ? [`# stopped by ${signal}`] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function pointOf(result: CheckResult, number: number): string[] {
  const point = `${isRed(result) ? 'not ok' : 'ok'} ${number} - ${description(result.id)}`;
  if (result.outcome === 'skip') return [`${point} # SKIP ${description(result.reason)}`];
  const facts: [string, string | number | boolean][] = [
    ['result', result.outcome],
    ['reason', lineText(result.reason)],
    ...(result.flaky ? [['flaky', true] as [string, boolean]] : []),
    ...(result.outcome === 'pass' ? [] : labelledDetails(result)),
    ['duration_ms', Number(result.elapsedMs.toFixed(3))],
  ];
  return [point, '  ---', ...facts.map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`), '  ...'];
}

/** A `#` begins a directive, a backslash escapes. */
function description(text: string): string {
  return lineText(text).replace(/[\\#]/g, (mark) => `\\${mark}`);
}

function comment(text: string): string {
  return lineText(text);
}
