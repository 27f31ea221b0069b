import { plainStyle } from '../../output/style.ts';
import type { State } from '../check.ts';
import { causesOf, lineText, reasonText } from './causes.ts';
import { toHumanReport } from './human-report.ts';
import { isGreen, type SmokeReport } from './smoke-report.ts';

const levels: Readonly<Partial<Record<State, string>>> = {
  fail: 'error',
  error: 'error',
  warn: 'warning',
  flaky: 'notice',
};

/** Annotations for GitHub's log, one for each cause that needs attention. */
export function toAnnotations({ results }: Pick<SmokeReport, 'results'>): string {
  const lines = causesOf(results).map(({ first, subject, ids }) => {
    const level = levels[first.state];
    const message = ids === undefined ? reasonText(first) : `${reasonText(first)} (${ids})`;
    return level && `::${level} title=${property(`smoke ${subject}`)}::${data(message)}\n`;
  });
  return lines.join('');
}

/** The report for people as Markdown, for GitHub's step summary. */
export function toStepSummary(report: SmokeReport): string {
  const text = toHumanReport(report, { style: plainStyle, brief: false });
  return `### ${isGreen(report) ? '✅' : '❌'} petstore smoke\n\n${fence}text\n${text}${fence}\n`;
}

/** A text of the service cannot end the block, because it never begins a line. */
const fence = '````';

/** Escapes a message. @see https://github.com/actions/toolkit, packages/core */
function data(text: string): string {
  return lineText(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** Escapes a property of a command, which needs more escapes. */
function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
