import type { Style } from '../../output/style.ts';
import { counted, durationText } from '../../process/text.ts';
import type { CheckVerdict } from '../check-result.ts';
import { isRed, type State } from '../finding.ts';
import {
  type Cause,
  causesOf,
  lineText,
  reasonText,
  redCausesOf,
  type SmokeReport,
  totalNames,
  totalsOf,
} from './smoke-report.ts';

interface Layout {
  readonly style: Style;
  /** Whether a person reads the report on a terminal, where the last lines are seen first. */
  readonly isTerminal: boolean;
  /** Whether to show failures and the total only. */
  readonly brief: boolean;
}

// The widths of the columns.

const timeWidth = 7;
const gapWidth = 2;
const stateWidth = 'flaky'.length;
const labelWidth = 'request id'.length;
const detailIndent = stateWidth + gapWidth;

/**
 * Formats the report for people: each cause of failures once, a line for each check, and the total. In a terminal the
 * failures come after the checks, so that they are on the screen at the end.
 */
export function toHumanReport(report: SmokeReport, layout: Layout): string {
  const { isTerminal, brief } = layout;
  const failures = redCausesOf(report.verdicts)
    .map((cause) => causeText(cause, layout))
    .join('');
  const lines = brief ? '' : checkLines(report.verdicts, layout);
  const parts = (isTerminal ? [lines, failures] : [failures, lines]).filter((part) => part !== '');
  return [...parts, totalLine(report, layout)].join(brief ? '' : '\n');
}

/** Formats a cause of failures with all its details. */
function causeText({ finding, subject, details }: Cause, { style }: Layout): string {
  const lines = details.map(
    ([label, text]) => `${' '.repeat(detailIndent)}${style.dim(label.padEnd(labelWidth))}  ${text}\n`,
  );
  const head = `${subject}: ${reasonText(finding)}`;
  return `${stateCell(finding.state, style)}  ${head}\n${lines.join('')}`;
}

/** Formats a line for each check. The checks that did not begin for the same reason share a line. */
function checkLines(verdicts: readonly CheckVerdict[], { style }: Layout): string {
  const begunVerdicts = verdicts.filter(({ skipReason }) => skipReason === undefined);
  const idWidth = Math.max(...begunVerdicts.map(({ id }) => id.length), '00 checks'.length);
  const line = ({ state, elapsedMs }: CheckVerdict, id: string, text: string) => {
    const time = state === 'skip' ? '-' : durationText(elapsedMs);
    const cells = [
      stateCell(state, style),
      id.padEnd(idWidth),
      style.dim(time.padStart(timeWidth)),
      state === 'warn' || state === 'flaky' ? style.yellow(text) : style.dim(text),
    ];
    return `${cells.join('  ').trimEnd()}\n`;
  };
  const lines = begunVerdicts.map((verdict) => line(verdict, verdict.id, summaryText(verdict)));
  const skipReasons = causesOf(verdicts.filter(({ skipReason }) => skipReason !== undefined));
  const skipped = skipReasons.flatMap(({ verdicts: [first], subject }) =>
    first ? [line(first, subject, first.skipReason ?? '')] : [],
  );
  return [...lines, ...skipped].join('');
}

/** Returns the reasons of the findings that the part about failures does not have. */
function summaryText({ state, findings }: CheckVerdict): string {
  const notable = findings.filter((finding) => !isRed(finding) && finding.state !== 'pass');
  const summarized = notable.length > 0 || isRed({ state }) ? notable : findings;
  return [...new Set(summarized.map(reasonText))].join('; ');
}

function stateCell(state: State, style: Style): string {
  return paint(state, state.padEnd(stateWidth), style);
}

function paint(state: State, text: string, { green, yellow, red, dim }: Style): string {
  const paints = { pass: green, flaky: yellow, warn: yellow, fail: red, error: red, skip: dim };
  return paints[state](text);
}

function totalLine(report: SmokeReport, { style }: Layout): string {
  const { rounds, verdicts, elapsedMs, target, write } = report;
  const { checks, ...totals } = totalsOf(verdicts);
  const counts = Object.entries(totals).flatMap(([name, count]) => {
    const state = name as State;
    return count === 0 ? [] : [paint(state, `${count} ${totalNames[state]}`, style)];
  });
  const clauses = [
    `${counted(checks, 'check', 'checks')} of ${lineText(target)}`,
    write ? 'with writes' : 'read-only',
    ...(rounds > 1 ? [`after ${rounds} rounds`] : []),
    `in ${durationText(elapsedMs)}`,
  ];
  return `${style.bold(clauses.join(', '))}: ${counts.join(', ') || 'none ran'}\n`;
}
