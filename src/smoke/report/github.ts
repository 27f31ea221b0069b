import type { CheckResult, Outcome } from '../check.ts';
import { isRed } from '../check.ts';
import { durationText } from '../duration.ts';
import type { SmokeReport } from '../smoke.ts';
import { headline, lineText } from './text.ts';

const levels: Readonly<Partial<Record<Outcome, 'error' | 'warning'>>> = {
  fail: 'error',
  error: 'error',
  warn: 'warning',
};

/** An annotation for a result that deserves one; empty for the others. */
export function toAnnotation(result: CheckResult): string {
  const level = levels[result.outcome] ?? (result.flaky ? 'notice' : undefined);
  if (!level) return '';
  const text = result.flaky ? `flaky: ${headline(result)}` : headline(result);
  return `::${level} title=${property(`smoke ${result.id}`)}::${data(text)}\n`;
}

/** The step summary: the totals, and a table of what did not simply pass. */
export function toStepSummary({ target, results, totals, elapsedMs, signal }: SmokeReport): string {
  const told = results.filter((result) => result.outcome !== 'pass' || result.flaky);
  const { checks, pass, warn, fail, error, skip, flaky } = totals;
  const isGreen = !results.some(isRed) && !signal;
  const lines = [
    `### ${isGreen ? '✅' : '❌'} Smoke checks of ${markdown(target)}`,
    '',
    '| checks | passed | flaky | warned | failed | not carried out | skipped | time |',
    '|---:|---:|---:|---:|---:|---:|---:|---:|',
    `| ${[checks, pass, flaky, warn, fail, error, skip, durationText(elapsedMs)].join(' | ')} |`,
    '',
    ...(signal ? [`Stopped by ${signal}.`, ''] : []),
    ...(told.length > 0 ? ['| result | check | what |', '|---|---|---|', ...told.map(rowOf), ''] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function rowOf(result: CheckResult): string {
  const outcome = result.flaky ? 'pass, flaky' : result.outcome;
  return `| ${outcome} | ${markdown(result.id)} | ${markdown(headline(result))} |`;
}

/** @see https://github.com/actions/toolkit, packages/core: what a message must escape. */
function data(text: string): string {
  return lineText(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** What a property of a command must escape besides. */
function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Text that Markdown shows as it is: every punctuation mark may be escaped (CommonMark, 2.4). */
function markdown(text: string): string {
  return lineText(text).replace(/[!-/:-@[-`{-~]/g, (mark) => `\\${mark}`);
}
