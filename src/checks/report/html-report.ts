import { version } from '../../../package.json';
import { counted } from '../../process/text.ts';
import { durationText } from '../wording.ts';
import { byGroup, type Cause, causesOf, isGreen, labelledDetails, lineText, totalNames } from './causes.ts';
import type { Outcome, SmokeReport, Totals } from './smoke-report.ts';

/** The report as one self-contained page without scripts or fonts, for browsers and for print. */
export function toHtmlReport(report: SmokeReport): string {
  const { target, startedAt, elapsedMs, results, runs, write, signal } = report;
  const causes = causesOf(results).filter(({ first }) => first.state !== 'skip');
  const isPassed = isGreen(report);
  const word = isPassed ? 'passed' : signal ? 'stopped' : 'failed';
  const facts = [
    startedAt.toISOString().replace('T', ' ').slice(0, 19).concat(' UTC'),
    durationText(elapsedMs),
    ...(runs > 1 ? [counted(runs, 'run', 'runs')] : []),
    write ? 'with writes' : 'read-only',
    `petstore ${version}`,
    ...(signal ? [`stopped by ${signal}`] : []),
  ];
  const tables = byGroup(results).map(([group, own]) => groupRows(group, own));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>petstore smoke: ${html(target)} ${word}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>${css}</style>
</head>
<body>
<header>
<p class="verdict ${isPassed ? 'pass' : 'fail'}">${word}</p>
<h1>Smoke checks of ${html(target)}</h1>
<p class="facts">${facts.map(html).join(' · ')}</p>
</header>
${totalsList(report)}
${causes.length === 0 ? '' : `<section>\n<h2>What needs attention</h2>\n${causes.map(causeArticle).join('\n')}\n</section>`}
<section>
<h2>All checks</h2>
<table>
<thead><tr><th scope="col" class="result">result</th><th scope="col" class="id">check</th><th scope="col" class="time">time</th><th scope="col">what</th></tr></thead>
${tables.join('')}</table>
</section>
</body>
</html>
`;
}

function totalsList({ totals }: SmokeReport): string {
  const items = Object.entries(totalNames).map(([key, name]) => {
    const count = totals[key as keyof Totals];
    return `<div class="${count === 0 ? 'none' : key}"><dt>${name}</dt><dd>${count}</dd></div>`;
  });
  return `<dl class="totals">${items.join('')}</dl>`;
}

function causeArticle({ first, subject, ids }: Cause): string {
  const details = labelledDetails(first).map(
    ([label, text]) => `<dt>${html(label)}</dt><dd>${html(text)}</dd>`,
  );
  const rows = [...(ids === undefined ? [] : [`<dt>checks</dt><dd>${html(ids)}</dd>`]), ...details];
  return `<article class="${first.state}">
<h3>${badge(first)} ${html(subject)}</h3>
<p>${html(textOf(first))}</p>
${first.hint === undefined ? '' : `<p class="hint">${html(first.hint)}</p>`}
${rows.length === 0 ? '' : `<dl>${rows.join('')}</dl>`}
</article>`;
}

/** The rows of a group of checks, under a row with the group's name. */
function groupRows(group: string, results: readonly Outcome[]): string {
  const rows = results.map((result) => {
    const { id, state, elapsedMs, latency, barredBy } = result;
    const time = state === 'skip' ? '–' : durationText(latency?.p50 ?? elapsedMs);
    const cells = [
      `<td>${badge(result)}</td>`,
      `<th scope="row">${html(id)}</th>`,
      `<td class="time">${time}</td>`,
      `<td>${html(barredBy ?? textOf(result))}</td>`,
    ];
    return `<tr${state === 'skip' ? ' class="skip"' : ''}>${cells.join('')}</tr>`;
  });
  return `<tbody>
<tr><th colspan="4" scope="rowgroup">${group}</th></tr>
${rows.join('\n')}
</tbody>
`;
}

function badge({ state }: Outcome): string {
  return `<b class="${state}">${state}</b>`;
}

function textOf({ reason, latency }: Outcome): string {
  const times = latency
    ? `; p50 ${durationText(latency.p50)}, p95 ${durationText(latency.p95)}, max ${durationText(latency.max)}`
    : '';
  return `${reason}${times}`;
}

/** Text escaped for HTML. */
function html(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return lineText(text).replace(/[&<>"']/g, (mark) => entities[mark] ?? mark);
}

/** Contrast is at least 4.5:1 in both colour schemes; a state is always also a word. */
const css = `
:root { color-scheme: light dark; --ink: #1c2024; --soft: #5b6570; --line: #d8dde3; --page: #fff; --box: #f6f8fa;
  --pass: #17693a; --warn: #8a5a00; --fail: #b42318; --skip: #5b6570; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ec; --soft: #9aa5b1; --line: #353c44; --page: #14171a; --box: #1d2125;
    --pass: #5fc58a; --warn: #e0b04c; --fail: #ff8a7a; --skip: #9aa5b1; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 2rem 1.25rem 4rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: .25rem 0; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 2.25rem 0 .5rem; font-size: 1.05rem; }
h3 { margin: 0; font-size: 1rem; }
p { margin: .25rem 0; }
.verdict { display: inline-block; margin: 0; padding: .1rem .6rem; border: 2px solid; border-radius: .4rem; font-weight: 700; }
.facts { color: var(--soft); }
.totals { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: 1.5rem 0 0; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--box); }
.totals div { display: flex; flex-direction: column-reverse; }
.totals dt { color: var(--soft); font-size: .85rem; }
.totals dd { margin: 0; font-size: 1.4rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.pass { color: var(--pass); } .warn, .flaky { color: var(--warn); } .fail, .error { color: var(--fail); } .skip, .none { color: var(--skip); }
article { margin: .75rem 0; padding: .75rem 1rem; border: 1px solid var(--line); border-left: .3rem solid currentcolor; border-radius: .4rem; }
article > * { color: var(--ink); }
article dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0 0; font-size: .9rem; }
article dt { color: var(--soft); }
article dd { margin: 0; font-family: ui-monospace, monospace; }
.hint { color: var(--soft); }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-size: .85rem; font-weight: 400; }
tbody th { font: .9rem/1.6 ui-monospace, monospace; white-space: nowrap; overflow-wrap: normal; }
tbody th[colspan] { padding-top: 1.25rem; border-bottom-width: 2px; font: 600 1rem/1.5 system-ui, sans-serif; }
.result { width: 4rem; }
.id { width: 1rem; }
.time { width: 5rem; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
@media (max-width: 40rem) { tbody th { white-space: normal; overflow-wrap: anywhere; } .id { width: 30%; } }
@media print {
  :root { --ink: #000; --soft: #444; --line: #bbb; --page: #fff; --box: #fff; --pass: #0b5a2b; --warn: #6b4500; --fail: #9d1c12; --skip: #444; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  article, tr { break-inside: avoid; }
  h2 { break-after: avoid; }
  thead { display: table-header-group; }
}
`;
