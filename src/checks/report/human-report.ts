import { fold } from '../../output/fold.ts';
import type { Style } from '../../output/style.ts';
import { counted, durationText } from '../../process/text.ts';
import { type CheckResult, isRed, type State, states } from '../check.ts';
import {
  type Cause,
  causesOf,
  lineText,
  reasonText,
  type SmokeReport,
  timeText,
  totalNames,
  totalsOf,
  withLatency,
} from './smoke-report.ts';

interface Layout {
  readonly style: Style;
  /** Width of the terminal, for folding. */
  readonly width?: number | undefined;
  /** Only failures and the total. */
  readonly brief: boolean;
}

const timeWidth = 7;
const gapWidth = 2;
const stateWidth = 'flaky'.length;
const labelWidth = 'request id'.length;
const detailIndent = stateWidth + gapWidth;

/** The report for people: the failures, each cause once, then a line for each check, and the total. */
export function toHumanReport(report: SmokeReport, layout: Layout): string {
  const red = causesOf(report.results).filter(({ first }) => isRed(first));
  const faults = red.map((cause) => faultText(cause, layout));
  const parts = [
    ...(faults.length > 0 ? [faults.join('')] : []),
    ...(layout.brief ? [] : [checkLines(report.results, layout)]),
    totalLine(report, layout),
  ];
  return parts.join(layout.brief ? '' : '\n');
}

/** A cause with all its details. */
function faultText({ first, subject, details }: Cause, { style, width }: Layout): string {
  const lines = details.map(([label, text]) => {
    const indent = detailIndent + labelWidth + gapWidth;
    // A request stays on one line, so that it can be copied.
    const folded = label === 'request' ? text : fold(text, width, indent);
    return `${' '.repeat(detailIndent)}${style.dim(label.padEnd(labelWidth))}  ${folded}\n`;
  });
  const head = fold(`${subject}: ${reasonText(first)}`, width, detailIndent);
  return `${stateCell(first.state, style)}  ${head}\n${lines.join('')}`;
}

/** One line for each check. The checks that never began for one reason share a line. */
function checkLines(results: readonly CheckResult[], layout: Layout): string {
  const began = results.filter(({ barredBy }) => barredBy === undefined);
  const idWidth = Math.max(...began.map(({ id }) => id.length), '00 checks'.length);
  const line = (result: CheckResult, id: string, text: string) => {
    const { style, width } = layout;
    const { state } = result;
    const time = state === 'skip' ? '-' : timeText(result);
    const indent = stateWidth + idWidth + timeWidth + 3 * gapWidth;
    const folded = fold(text, width, indent);
    const cells = [
      stateCell(state, style),
      id.padEnd(idWidth),
      style.dim(time.padStart(timeWidth)),
      state === 'warn' || state === 'flaky' ? style.yellow(folded) : style.dim(folded),
    ];
    return `${cells.join('  ').trimEnd()}\n`;
  };
  // The reason of a failure stands above.
  const textOf = (result: CheckResult) => withLatency(isRed(result) ? '' : reasonText(result), result);
  const lines = began.map((result) => line(result, result.id, textOf(result)));
  const barred = causesOf(results.filter(({ barredBy }) => barredBy !== undefined));
  const skipped = barred.map(({ first, subject }) => line(first, subject, first.barredBy ?? ''));
  return [...lines, ...skipped].join('');
}

function stateCell(state: State, style: Style): string {
  return paints(style)[state](state.padEnd(stateWidth));
}

function paints(style: Style): Readonly<Record<State, (text: string) => string>> {
  const { green, yellow, red, dim } = style;
  return { pass: green, flaky: yellow, warn: yellow, fail: red, error: red, skip: dim };
}

function totalLine(report: SmokeReport, { style }: Layout): string {
  const { rounds, runs, results, elapsedMs, target, write } = report;
  const totals = totalsOf(results);
  const counts = states.flatMap((state) =>
    totals[state] === 0 ? [] : [paints(style)[state](`${totals[state]} ${totalNames[state]}`)],
  );
  const isRepeated = results.some((result) => result.runs !== undefined);
  const clauses = [
    `${counted(totals.checks, 'check', 'checks')} of ${lineText(target)}`,
    write ? 'with writes' : 'read-only',
    ...(rounds > 1 ? [`after ${rounds} rounds`] : []),
    ...(isRepeated ? [counted(runs, 'run', 'runs')] : []),
    `in ${durationText(elapsedMs)}`,
  ];
  return `${style.bold(clauses.join(', '))}: ${counts.join(', ') || 'none ran'}\n`;
}
