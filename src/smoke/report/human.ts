import { fold } from '../../output/fold.ts';
import type { Style } from '../../output/style.ts';
import { type CheckResult, isRed, type Outcome } from '../check.ts';
import { durationText } from '../duration.ts';
import type { SmokeReport } from '../smoke.ts';
import { labelledDetails, lineText } from './text.ts';

/** The report for people, a piece at a time as the run goes on. */
export interface HumanReport {
  head(run: Pick<SmokeReport, 'target' | 'write'>): string;
  /** One line for a check, and what it takes to understand a failure; empty for what only repeats the line before. */
  result(result: CheckResult): string;
  end(report: SmokeReport): string;
}

const timeWidth = 7;
const gapWidth = 2;
const flakyMark = 'flaky ';
const bindHint =
  'where the service has other paths than these, `petstore api bind` learns them from its description';

/** How the lines of one report are laid out. */
interface Layout {
  readonly style: Style;
  readonly idWidth: number;
  /** Of the terminal that long lines are folded for. */
  readonly columns: number | undefined;
}

/**
 * @param ids of all checks that may come, so that the columns line up from the first line on.
 * @param columns of the terminal that long lines are folded for.
 */
export function createHumanReport(style: Style, ids: readonly string[], columns?: number): HumanReport {
  const layout: Layout = { style, idWidth: Math.max(...ids.map((id) => id.length)), columns };
  let last: CheckResult | undefined;
  let barred: CheckResult[] = [];
  const takeBarred = () => {
    const line = barredLine(barred, layout);
    barred = [];
    return line;
  };
  return {
    head: ({ target, write }) =>
      `${style.bold(`Smoke checks of ${lineText(target)}`)}, ${write ? 'with writes' : 'read-only'}\n`,
    result(result) {
      if (result.barredBy) {
        barred.push(result);
        return '';
      }
      const gap = last?.group === result.group ? '' : '\n';
      last = result;
      const details = isQuiet(result) ? '' : detailLines(result, layout);
      return `${takeBarred()}${gap}${resultLine(result, layout)}${details}`;
    },
    end: (report) => `${takeBarred()}\n${summary(report, style, columns)}`,
  };
}

function resultLine(result: CheckResult, layout: Layout): string {
  const { style, idWidth } = layout;
  const word = paintOf(result.outcome, style)(result.outcome.padEnd(5));
  const time = result.outcome === 'skip' ? '-' : durationText(result.elapsedMs);
  const cells = [word, result.id.padEnd(idWidth), style.dim(time.padStart(timeWidth))];
  return `${[...cells, textOf(result, layout)].join('  ')}\n`;
}

function paintOf(outcome: Outcome, style: Style): (text: string) => string {
  const paints: Readonly<Record<Outcome, (text: string) => string>> = {
    pass: style.green,
    warn: style.yellow,
    fail: style.red,
    skip: style.dim,
    error: style.red,
  };
  return paints[outcome];
}

/** The checks that never began are one line, or nobody would see the one that kept them from it. */
function barredLine([first, ...others]: readonly CheckResult[], layout: Layout): string {
  if (!first) return '';
  const { style, idWidth } = layout;
  const what = others.length === 0 ? first.id : `${others.length + 1} checks`;
  const cells = [style.dim('skip '), what.padEnd(idWidth), style.dim('-'.padStart(timeWidth))];
  return `\n${cells.join('  ')}  ${style.dim(foldReason(first.barredBy ?? '', layout))}\n`;
}

function textOf(result: CheckResult, layout: Layout): string {
  const { style } = layout;
  const reason = foldReason(`${result.flaky ? flakyMark : ''}${lineText(result.reason)}`, layout);
  if (!result.flaky) return isQuiet(result) ? style.dim(reason) : reason;
  const rest = reason.slice(flakyMark.length);
  return `${style.yellow(flakyMark.trim())} ${isQuiet(result) ? style.dim(rest) : rest}`;
}

function foldReason(text: string, { columns, idWidth }: Layout): string {
  return fold(text, { columns, indent: 'pass '.length + idWidth + timeWidth + 3 * gapWidth });
}

function detailLines(result: CheckResult, { style, columns }: Layout): string {
  const lines = labelledDetails(result).map(([label, text]) => {
    // A request stays one line, to be copied.
    const shown = label === 'request' ? text : fold(text, { columns, indent: 17 });
    return `       ${style.dim(label.padEnd(8))}  ${shown}\n`;
  });
  return lines.join('');
}

/** An operation that the service document does not state, at a path that the service does not have. */
function isUnknownPath({ group, outcome, operation, status }: CheckResult): boolean {
  return (
    group === 'op' &&
    outcome === 'fail' &&
    operation?.source === 'chosen' &&
    (status === 404 || status === 405)
  );
}

function isQuiet({ outcome }: CheckResult): boolean {
  return outcome === 'pass' || outcome === 'skip';
}

function summary(report: SmokeReport, style: Style, columns: number | undefined): string {
  const { totals, results, elapsedMs, signal } = report;
  const { checks, pass, warn, fail, error, skip, flaky } = totals;
  const counts = [
    count(pass, `passed${flaky > 0 ? ` (${flaky} flaky)` : ''}`, style.green),
    count(warn, 'warned', style.yellow),
    count(fail, 'failed', style.red),
    count(error, 'not carried out', style.red),
    count(skip, 'skipped', style.dim),
  ].filter((text) => text !== '');
  const total = `${checks} ${checks === 1 ? 'check' : 'checks'} in ${durationText(elapsedMs)}`;
  const lines = [`${style.bold(total)}: ${counts.join(', ') || 'none ran'}`];
  const red = results.filter(isRed).map(({ id }) => id);
  if (red.length > 0)
    lines.push(`${style.red('failed')}: ${fold(red.join(', '), { columns, indent: 'failed: '.length })}`);
  if (signal) lines.push(`stopped by ${signal}`);
  if (results.some(isUnknownPath))
    lines.push(`${style.cyan('hint')}: ${fold(bindHint, { columns, indent: 'hint: '.length })}`);
  return lines.map((line) => `${line}\n`).join('');

  function count(number: number, what: string, paint: (text: string) => string): string {
    return number === 0 ? '' : paint(`${number} ${what}`);
  }
}
