import { fold } from '../../output/fold.ts';
import type { Style } from '../../output/style.ts';
import { counted } from '../../process/text.ts';
import { type CheckResult, isRed, type State } from '../check.ts';
import { groupOf } from '../options.ts';
import { durationText } from '../text.ts';
import type { SmokeReport } from './report.ts';
import { causeKey, causesOf, labelledDetails, lineText, reasonText, totalNames } from './text.ts';

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

/** The report for people, printed piece by piece during the run: each method returns the text of the next piece. */
export class HumanReport {
  private readonly layout: Layout;
  /** The first check that was shown of each cause. */
  private readonly told = new Map<string, string>();
  private last: CheckResult | undefined;
  private runs = 0;
  /** Checks that never began and are not shown yet. */
  private readonly barred: CheckResult[] = [];

  constructor(options: HumanOptions) {
    this.layout = { ...options, idWidth: Math.max(...options.ids.map((id) => id.length)) };
  }

  head({ target, write }: Pick<SmokeReport, 'target' | 'write'>): string {
    const { brief, style } = this.layout;
    const title = style.bold(`Smoke checks of ${lineText(target)}`);
    return brief ? '' : `${title}, ${write ? 'with writes' : 'read-only'}\n`;
  }

  /** One line for a check, and the details of a failure; empty if it would only repeat the line before. */
  result(result: CheckResult): string {
    const { layout, told, last } = this;
    if (layout.brief && !isRed(result)) return '';
    if (result.barredBy !== undefined) {
      this.barred.push(result);
      return '';
    }
    const gap = layout.brief || (last && blockOf(last.id) === blockOf(result.id)) ? '' : '\n';
    this.last = result;
    const key = causeKey(result);
    const before = isQuiet(result) ? undefined : told.get(key);
    told.set(key, before ?? result.id);
    const text = before === undefined ? textOf(result, layout) : layout.style.dim(`same as ${before}`);
    const details = before !== undefined || isQuiet(result) ? '' : detailLines(result, layout);
    return `${this.takeBarred()}${gap}${resultLine(result, text, layout)}${details}`;
  }

  /** One line for one of several runs. */
  run(results: readonly CheckResult[]): string {
    const { style, brief, width } = this.layout;
    this.runs += 1;
    const red = results.filter(isRed);
    if (brief && red.length === 0) return '';
    const passed = results.filter(({ state }) => state === 'pass').length;
    const counts = [`${passed} passed`, ...(red.length > 0 ? [style.red(`${red.length} failed`)] : [])];
    const ms = results.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0);
    const ids = red.length > 0 ? `: ${red.map(({ id }) => id).join(', ')}` : '';
    const text = `${counts.join(', ')} in ${durationText(ms)}${ids}`;
    const label = `run ${this.runs}`.padEnd(7);
    return `${style.dim(label)}  ${fold(text, width, 9)}\n`;
  }

  end(report: SmokeReport): string {
    const isMerged = report.results.some(({ runs }) => runs !== undefined);
    const all = isMerged ? report.results.map((each) => this.result(each)).join('') : '';
    return `${all}${this.takeBarred()}${this.layout.brief ? '' : '\n'}${summary(report, this.layout)}`;
  }

  private takeBarred(): string {
    return barredLine(this.barred.splice(0), this.layout);
  }
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
  const word = paints(style)[result.state](result.state.padEnd(5));
  const ms = result.latency?.p50 ?? result.elapsedMs;
  const time = result.state === 'skip' ? '-' : durationText(ms);
  const cells = [word, result.id.padEnd(idWidth), style.dim(time.padStart(timeWidth)), text];
  return `${cells.join('  ')}\n`;
}

function paints(style: Style): Readonly<Record<State, (text: string) => string>> {
  const { green, yellow, red, dim } = style;
  return { pass: green, warn: yellow, fail: red, error: red, skip: dim };
}

/** The checks that never began take one line, so that the check that barred them stays visible. */
function barredLine([first, ...others]: readonly CheckResult[], layout: Layout): string {
  if (!first) return '';
  const id = others.length === 0 ? first.id : counted(others.length + 1, 'check', 'checks');
  const reason = layout.style.dim(foldReason(first.barredBy ?? '', layout));
  return `\n${resultLine({ ...first, id }, reason, layout)}`;
}

function textOf(result: CheckResult, layout: Layout): string {
  const { style } = layout;
  const mark = result.flaky === undefined ? '' : `flaky (${lineText(result.flaky)} first): `;
  const { latency } = result;
  const more = latency ? `, p95 ${durationText(latency.p95)}, max ${durationText(latency.max)}` : '';
  const reason = foldReason(`${mark}${reasonText(result)}${more}`, layout);
  if (mark !== '') return style.yellow(reason);
  return isQuiet(result) ? style.dim(reason) : reason;
}

function foldReason(text: string, { width, idWidth }: Layout): string {
  return fold(text, width, 'pass '.length + idWidth + timeWidth + 3 * gapWidth);
}

function detailLines(result: CheckResult, { style, width }: Layout): string {
  const lines = labelledDetails(result).map(([label, text]) => {
    const indent = detailIndent + labelWidth + gapWidth;
    // A request stays on one line, so that it can be copied.
    const shown = label === 'request' ? text : fold(text, width, indent);
    return `${' '.repeat(detailIndent)}${style.dim(label.padEnd(labelWidth))}  ${shown}\n`;
  });
  return lines.join('');
}

function isQuiet({ state, flaky }: CheckResult): boolean {
  return (state === 'pass' && flaky === undefined) || state === 'skip';
}

function summary(report: SmokeReport, { style, width }: Layout): string {
  const { totals, results, runs, elapsedMs, signal } = report;
  const counts = Object.entries(paints(style)).flatMap(([state, paint]) => {
    const count = totals[state as State];
    const flaky = state === 'pass' && totals.flaky > 0 ? ` (${totals.flaky} flaky)` : '';
    return count === 0 ? [] : [paint(`${count} ${totalNames[state as State]}${flaky}`)];
  });
  const times = results.some((result) => result.runs !== undefined)
    ? `, ${counted(runs, 'run', 'runs')}`
    : '';
  const total = `${counted(totals.checks, 'check', 'checks')}${times} in ${durationText(elapsedMs)}`;
  const failed = (text: string) => `${style.red('failed')}: ${fold(text, width, 'failed: '.length)}`;
  const red = causesOf(results).filter(({ first }) => isRed(first));
  const alone = red.filter(({ ids }) => ids === undefined).map(({ subject }) => subject);
  const shared = red.filter(({ ids }) => ids !== undefined);
  const lines = [
    `${style.bold(total)}: ${counts.join(', ') || 'none ran'}`,
    ...shared.map(({ first, subject, ids }) => failed(`${subject}: ${lineText(first.reason)} (${ids})`)),
    ...(alone.length > 0 ? [failed(alone.join(', '))] : []),
    ...(signal ? [`stopped by ${signal}`] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
