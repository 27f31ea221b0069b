import { counted } from '../../process/text.ts';
import type { State } from '../check.ts';
import { durationText } from '../wording.ts';
import { type Cause, causesOf, headline, isGreen, lineText, totalNames } from './causes.ts';
import type { SmokeReport, Totals } from './smoke-report.ts';

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
    const text = `${first.state === 'flaky' ? 'flaky: ' : ''}${headline(first)}`;
    const message = ids === undefined ? text : `${text} (${ids})`;
    return level && `::${level} title=${property(`smoke ${subject}`)}::${data(message)}\n`;
  });
  return lines.join('');
}

/**
 * The report as Markdown, for GitHub's step summary: the totals, and a table of the checks that did not simply pass, a row per
 * cause.
 */
export function toStepSummary(report: SmokeReport): string {
  const { target, results, totals, elapsedMs, signal, runs } = report;
  const causes = causesOf(results);
  const names = Object.keys(totalNames) as (keyof Totals)[];
  const lines = [
    `### ${isGreen(report) ? '✅' : '❌'} Smoke checks of ${markdown(target)}`,
    '',
    `| ${names.map((name) => totalNames[name]).join(' | ')} | time |`,
    `|${'---:|'.repeat(names.length + 1)}`,
    `| ${names.map((name) => totals[name]).join(' | ')} | ${durationText(elapsedMs)} |`,
    '',
    ...(runs > 1 ? [`${counted(runs, 'run', 'runs')}.`, ''] : []),
    ...(signal ? [`Stopped by ${signal}.`, ''] : []),
    ...(causes.length > 0 ? ['| result | check | what |', '|---|---|---|', ...causes.map(lineOf), ''] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function lineOf({ first, subject, ids }: Cause): string {
  const what = first.barredBy ?? headline(first);
  const text = subject === first.id ? what : `${subject}: ${what}`;
  return `| ${first.state} | ${markdown(ids ?? subject)} | ${markdown(text)} |`;
}

/** Escapes a message. @see https://github.com/actions/toolkit, packages/core */
function data(text: string): string {
  return lineText(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** Escapes a property of a command, which needs more escapes. */
function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Text escaped for Markdown: every punctuation mark may be escaped (CommonMark, 2.4). */
function markdown(text: string): string {
  return lineText(text).replace(/[!-/:-@[-`{-~]/g, (mark) => `\\${mark}`);
}
