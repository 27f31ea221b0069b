import { plainStyle } from '../../output/style.ts';
import { counted } from '../../process/text.ts';
import type { State } from '../finding.ts';
import { toHumanReport } from './human-report.ts';
import { causesOf, lineText, reasonText, type SmokeReport } from './smoke-report.ts';

const levels: Readonly<Partial<Record<State, string>>> = {
  fail: 'error',
  error: 'error',
  warn: 'warning',
};

/** Annotations for GitHub's log: one for each cause that needs attention, and one for all flaky checks together. */
export function toAnnotations({ results }: SmokeReport): string {
  const flaky = results.filter(({ state }) => state === 'flaky');
  const summary = flaky.map(({ id, reason }) => `${id}: ${lineText(reason)}`).join('; ');
  const causes = causesOf(results).filter(({ first }) => first.state !== 'flaky');
  const lines = causes.map(({ first, subject, ids }) => {
    const level = levels[first.state];
    const message = ids === undefined ? reasonText(first) : `${reasonText(first)} (${ids})`;
    // The title needs more escapes than the message.
    const title = escapeCommand(`smoke ${subject}`).replaceAll(':', '%3A').replaceAll(',', '%2C');
    return level && `::${level} title=${title}::${escapeCommand(message)}\n`;
  });
  const title = `smoke ${counted(flaky.length, 'flaky check', 'flaky checks')}`;
  const notice = flaky.length === 0 ? '' : `::notice title=${title}::${escapeCommand(summary)}\n`;
  return lines.join('') + notice;
}

/** Escapes a message. @see https://github.com/actions/toolkit, packages/core */
function escapeCommand(text: string): string {
  return lineText(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** The report for people as Markdown, for GitHub's step summary. */
export function toStepSummary(report: SmokeReport): string {
  const text = toHumanReport(report, { style: plainStyle, brief: false });
  return `### ${report.exitCode === 0 ? '✅' : '❌'} petstore smoke\n\n${fence}text\n${text}${fence}\n`;
}

/** A text of the service cannot end the block, because it never begins a line. */
const fence = '````';
