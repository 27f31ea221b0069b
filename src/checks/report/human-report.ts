import { paintState, type Style } from '../../output/style.ts';
import { counted, durationText } from '../../process/text.ts';
import { isRed, type State } from '../check.ts';
import type { CheckResult } from '../run-checks.ts';
import {
  type Cause,
  causesOf,
  labelledDetails,
  lineText,
  reasonText,
  type SmokeReport,
  subjectOf,
  totalNames,
  totalsOf,
} from './smoke-report.ts';

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
  const failures = causesOf(results.filter(isRed));
  const parts = [
    failures.map((cause) => causeText(cause, style)).join(''),
    brief ? '' : checkLines(results, style),
    totalLine(report, style),
  ];
  return parts.filter((part) => part !== '').join(brief ? '' : '\n');
}

/** Prints a cause of failures with all its details. If several checks ran into it, they are named. */
function causeText(cause: Cause, style: Style): string {
  const { finding, ids } = cause;
  const checks = ids.length > 1 ? [['checks', ids.join(', ')] as const] : [];
  const lines = [...checks, ...labelledDetails(finding)].map(
    ([label, text]) => `${detailIndent}${style.dim(label.padEnd(labelWidth))}  ${text}\n`,
  );
  const state = paintState(style, finding.state, finding.state.padEnd(stateWidth));
  return `${state}  ${subjectOf(cause)}: ${reasonText(finding)}\n${lines.join('')}`;
}

/** Prints a line for each check, with the reasons that the part about failures does not have. */
function checkLines(results: readonly CheckResult[], style: Style): string {
  const idWidth = Math.max(...results.map(({ id }) => id.length));
  const lines = results.map((result) => {
    const { id, state, elapsedMs } = result;
    const time = state === 'skip' ? '-' : durationText(elapsedMs);
    const text = isRed(result) ? '' : reasonText(result);
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
    const state = name as State;
    return count === 0 ? [] : [paintState(style, state, `${count} ${totalNames[state]}`)];
  });
  const clauses = [
    `${counted(checks, 'check', 'checks')} of ${lineText(target)}`,
    write ? 'with writes' : 'read-only',
    `in ${durationText(elapsedMs)}`,
  ];
  return `${style.bold(clauses.join(', '))}: ${counts.join(', ') || 'none ran'}\n`;
}
