import { version } from '../../../package.json';
import { durationText } from '../../process/text.ts';
import {
  type Cause,
  causesOf,
  escapeMarkup,
  lineText,
  type Outcome,
  reasonText,
  type SmokeReport,
  type Totals,
  timeText,
  totalNames,
  withTimes,
} from './smoke-report.ts';

/** The report as one self-contained page without scripts or fonts, for browsers and for print. */
export function toHtmlReport(report: SmokeReport): string {
  const { target, startedAt, elapsedMs, results, runs, write, totals } = report;
  const causes = causesOf(results).filter(({ first }) => first.state !== 'skip');
  const word = report.exitCode === 0 ? 'passed' : 'failed';
  const facts = [startedAt.toUTCString(), durationText(elapsedMs), runs > 1 ? `${runs} runs` : '1 run'];
  const counts = Object.entries(totalNames).map(
    ([key, name]) => `<dt>${name}</dt><dd>${totals[key as keyof Totals]}</dd>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>petstore smoke: ${html(target)} ${word}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>${css}</style>
</head>
<body>
<h1>Smoke checks of ${html(target)}: <b class="${word === 'passed' ? 'pass' : 'fail'}">${word}</b></h1>
<p>${[...facts, write ? 'with writes' : 'read-only', `petstore ${version}`].map(html).join(' · ')}</p>
<dl>${counts.join('')}</dl>
${causes.map(causeArticle).join('\n')}
<table>
<thead><tr><th>result</th><th>check</th><th>time</th><th>what</th></tr></thead>
<tbody>
${results.map(checkRow).join('\n')}
</tbody>
</table>
</body>
</html>
`;
}

function causeArticle({ first, subject, details }: Cause): string {
  const rows = details.map(([label, text]) => `<dt>${html(label)}</dt><dd>${html(text)}</dd>`);
  return `<article><h2>${badge(first)} ${html(subject)}</h2><p>${html(reasonText(first))}</p><dl>${rows.join('')}</dl></article>`;
}

function checkRow(result: Outcome): string {
  const what = withTimes(result.barredBy ?? result.reason, result);
  return `<tr><td>${badge(result)}</td><th scope="row">${html(result.id)}</th><td>${timeText(result)}</td><td>${html(what)}</td></tr>`;
}

function badge({ state }: Outcome): string {
  return `<b class="${state}">${state}</b>`;
}

function html(text: string): string {
  return escapeMarkup(lineText(text));
}

/** Contrast is at least 4.5:1 in both colour schemes; a state is always also a word. */
const css = `
:root { color-scheme: light dark; --pass: #17693a; --warn: #8a5a00; --fail: #b42318; --line: #8886; }
@media (prefers-color-scheme: dark) { :root { --pass: #5fc58a; --warn: #e0b04c; --fail: #ff8a7a; } }
body { margin: 0 auto; max-width: 70rem; padding: 2rem 1.25rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; }
h2 { margin: 0; font-size: 1rem; }
dl { display: flex; flex-wrap: wrap; gap: .2rem .6rem; }
dd { margin: 0 1rem 0 0; font-weight: 600; }
.pass { color: var(--pass); } .warn, .flaky { color: var(--warn); } .fail, .error { color: var(--fail); }
article { margin: .75rem 0; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .4rem; }
article dl { display: grid; grid-template-columns: max-content 1fr; }
article dd { font: .9rem/1.6 ui-monospace, monospace; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } article, tr { break-inside: avoid; } }
`;
