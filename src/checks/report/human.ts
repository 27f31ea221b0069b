import { fold } from '../../output/fold.ts';
import type { Style } from '../../output/style.ts';
import { counted } from '../../text.ts';
import { type CheckResult, isRed, type State } from '../check.ts';
import { groupOf } from '../options.ts';
import type { SmokeReport } from '../smoke.ts';
import { durationText } from '../text.ts';
import { causeKey, causesOf, labelledDetails, lineText, reasonText } from './text.ts';

/** The report for people, printed piece by piece during the run. */
export interface HumanReport {
  head(run: Pick<SmokeReport, 'target' | 'write'>): string;
  /** One line for a check, and the details of a failure; empty if it would only repeat the line before. */
  result(result: CheckResult): string;
  /** One line for one of several runs. */
  run(results: readonly CheckResult[]): string;
  end(report: SmokeReport): string;
}

interface HumanOptions {
  /** Of all checks that may come, so that the columns are aligned from the first line on. */
  readonly ids: readonly string[];
  readonly style: Style;
  /** Width of the terminal, for folding. */
  readonly width?: number | undefined;
  /** Only failures and the total. */
  readonly brief?: boolean;
}

const timeWidth = 7;
const gapWidth = 2;
const labelWidth = 'request id'.length;
const detailIndent = 7;

export function createHumanReport(options: HumanOptions): HumanReport {
  const { style, brief = false, width } = options;
  const layout: Layout = { ...options, idWidth: Math.max(...options.ids.map((id) => id.length)) };
  const told = new Map<string, string>();
  let last: CheckResult | undefined;
  let runs = 0;
  let barred: CheckResult[] = [];
  const takeBarred = () => {
    const line = brief ? '' : barredLine(barred, layout);
    barred = [];
    return line;
  };
  const lines = (result: CheckResult): string => {
    if (brief && !isRed(result)) return '';
    if (result.barredBy !== undefined) {
      barred.push(result);
      return '';
    }
    const gap = brief || (last && blockOf(last.id) === blockOf(result.id)) ? '' : '\n';
    last = result;
    if (isQuiet(result)) return `${takeBarred()}${gap}${resultLine(result, textOf(result, layout), layout)}`;
    const before = told.get(causeKey(result));
    told.set(causeKey(result), before ?? result.id);
    const text = before === undefined ? textOf(result, layout) : style.dim(`same as ${before}`);
    const details = before === undefined ? detailLines(result, layout) : '';
    return `${takeBarred()}${gap}${resultLine(result, text, layout)}${details}`;
  };
  return {
    head: ({ target, write }) =>
      brief
        ? ''
        : `${style.bold(`Smoke checks of ${lineText(target)}`)}, ${write ? 'with writes' : 'read-only'}\n`,
    result: lines,
    run(results) {
      runs += 1;
      const red = results.filter(isRed);
      if (brief && red.length === 0) return '';
      const passed = results.filter(({ state }) => state === 'pass').length;
      const counts = [`${passed} passed`, ...(red.length > 0 ? [style.red(`${red.length} failed`)] : [])];
      const ms = results.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0);
      const ids = red.length > 0 ? `: ${red.map(({ id }) => id).join(', ')}` : '';
      const text = `${counts.join(', ')} in ${durationText(ms)}${ids}`;
      const label = `run ${runs}`.padEnd(7);
      return `${style.dim(label)}  ${fold(text, { columns: width, indent: 9 })}\n`;
    },
    end(report) {
      const merged = report.results.some(({ runs }) => runs !== undefined);
      const all = merged ? report.results.map(lines).join('') : '';
      const tail = takeBarred();
      return `${all}${tail}${brief ? '' : '\n'}${summary(report, layout)}`;
    },
  };
}

/** The TLS checks are shown within the group of reach, in the order in which they run. */
function blockOf(id: string): string {
  return groupOf(id) === 'tls' ? 'reach' : groupOf(id);
}

/** The layout of the lines of one report. */
interface Layout extends HumanOptions {
  readonly idWidth: number;
}

function resultLine(result: CheckResult, text: string, { style, idWidth }: Layout): string {
  const word = paintOf(result.state, style)(result.state.padEnd(5));
  const ms = result.latency?.p50 ?? result.elapsedMs;
  const time = result.state === 'skip' ? '-' : durationText(ms);
  const cells = [word, result.id.padEnd(idWidth), style.dim(time.padStart(timeWidth)), text];
  return `${cells.join('  ')}\n`;
}

function paintOf(state: State, style: Style): (text: string) => string {
  const paints: Readonly<Record<State, (text: string) => string>> = {
    pass: style.green,
    warn: style.yellow,
    fail: style.red,
    skip: style.dim,
    error: style.red,
  };
  return paints[state];
}

/** The checks that never began take one line, so that the check that barred them stays visible. */
function barredLine([first, ...others]: readonly CheckResult[], layout: Layout): string {
  if (!first) return '';
  const { style, idWidth } = layout;
  const what = others.length === 0 ? first.id : counted(others.length + 1, 'check', 'checks');
  const cells = [style.dim('skip '), what.padEnd(idWidth), style.dim('-'.padStart(timeWidth))];
  return `\n${cells.join('  ')}  ${style.dim(foldReason(first.barredBy ?? '', layout))}\n`;
}

function textOf(result: CheckResult, layout: Layout): string {
  const { style } = layout;
  const mark = result.flaky === undefined ? '' : `flaky (${lineText(result.flaky)} first): `;
  const more =
    result.latency && (result.runs ?? 0) > 0
      ? `, p95 ${durationText(result.latency.p95)}, max ${durationText(result.latency.max)}`
      : '';
  const reason = foldReason(`${mark}${reasonText(result)}${more}`, layout);
  if (mark !== '') return style.yellow(reason);
  return isQuiet(result) ? style.dim(reason) : reason;
}

function foldReason(text: string, { width, idWidth }: Layout): string {
  return fold(text, { columns: width, indent: 'pass '.length + idWidth + timeWidth + 3 * gapWidth });
}

function detailLines(result: CheckResult, { style, width }: Layout): string {
  const lines = labelledDetails(result).map(([label, text]) => {
    const indent = detailIndent + labelWidth + gapWidth;
    // A request stays on one line, so that it can be copied.
    const shown = label === 'request' ? text : fold(text, { columns: width, indent });
    return `${' '.repeat(detailIndent)}${style.dim(label.padEnd(labelWidth))}  ${shown}\n`;
  });
  return lines.join('');
}

function isQuiet({ state, flaky }: CheckResult): boolean {
  return (state === 'pass' && flaky === undefined) || state === 'skip';
}

function summary(report: SmokeReport, { style, width }: Layout): string {
  const { totals, results, runs, elapsedMs, signal } = report;
  const { checks, pass, warn, fail, error, skip, flaky } = totals;
  const count = (number: number, what: string, paint: (text: string) => string) =>
    number === 0 ? [] : [paint(`${number} ${what}`)];
  const counts = [
    ...count(pass, `passed${flaky > 0 ? ` (${flaky} flaky)` : ''}`, style.green),
    ...count(warn, 'warned', style.yellow),
    ...count(fail, 'failed', style.red),
    ...count(error, 'not carried out', style.red),
    ...count(skip, 'skipped', style.dim),
  ];
  const times = results.some((result) => result.runs !== undefined)
    ? `, ${counted(runs, 'run', 'runs')}`
    : '';
  const total = `${counted(checks, 'check', 'checks')}${times} in ${durationText(elapsedMs)}`;
  const labelled = (label: string, paint: (text: string) => string, text: string) =>
    `${paint(label)}: ${fold(text, { columns: width, indent: label.length + 2 })}`;
  const red = causesOf(results).filter(([first]) => isRed(first));
  const alone = red.filter((cause) => cause.length === 1).map(([{ id }]) => id);
  const shared = red.filter((cause) => cause.length > 1);
  const lines = [
    `${style.bold(total)}: ${counts.join(', ') || 'none ran'}`,
    ...shared.map((cause) => {
      const ids = cause.map(({ id }) => id).join(', ');
      return labelled('failed', style.red, `${cause.length} checks: ${lineText(cause[0].reason)} (${ids})`);
    }),
    ...(alone.length > 0 ? [labelled('failed', style.red, alone.join(', '))] : []),
    ...(signal ? [`stopped by ${signal}`] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
