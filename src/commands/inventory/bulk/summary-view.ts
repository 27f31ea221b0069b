import type { FailureKind } from '../../../bulk/outcome.ts';
import { type State, states } from '../../../bulk/states.ts';
import type { Summary } from '../../../bulk/summary.ts';
import type { JsonObject } from '../../../json.ts';
import type { Column, View } from '../../../output/columns.ts';
import type { Style } from '../../../output/style.ts';
import { wrap } from '../../../output/width.ts';
import { groupDigits, sanitize } from '../../../text.ts';
import { placeOf } from './plan-totals.ts';

/** A summary with what follows from it for the user. */
export interface SummaryRecord extends Summary {
  /** The file of rejected rows. */
  readonly rejects: string | undefined;
  /** The command that goes on with the run, where it can. */
  readonly resume: string | undefined;
  /** The command that takes it back, where it can. */
  readonly undo: string | undefined;
}

/** The columns of formats that have columns, one line for the run. */
export const summaryView: View<JsonObject> = {
  noun: 'runs',
  columns: [
    'run',
    'name',
    'target',
    'rows',
    ...reported(),
    'requests',
    'retries',
    'seconds',
    'rowsPerSecond',
  ].map((name): Column<JsonObject> => ({ name, value: (row) => row[name], align: 'right' })),
};

/** A run as one JSON object; what there is nothing of is left out, but for the counts. */
export function toSummaryJson(summary: SummaryRecord): JsonObject {
  const { stop, failures, ...rest } = summary;
  const object = {
    ...rest,
    stopped: stop?.message,
    failures: failures.map(({ kind, state, count, example }) => ({ kind, state, count, example })),
  };
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** How a stream shows a summary. */
interface Paper {
  readonly style: Style;
  /** Undefined where the stream is no terminal: then nothing is grouped or wrapped. */
  readonly columns: number | undefined;
}

/** A run as people read it: what became of the rows, at what speed, and what went wrong. */
export function summaryText(summary: SummaryRecord, paper: Paper): string {
  const { failures, verified } = summary;
  const facts: [string, number][] = [
    ['requests', summary.requests],
    ['retries', summary.retries],
    ...(verified === undefined ? [] : [['read back', verified] as [string, number]]),
    ['seconds', summary.seconds],
    ['rows/s', summary.rowsPerSecond],
  ];
  const lines = [
    countLine(summary, 'rows', paper),
    ...reported().map((state) => countLine(summary, state, paper)),
    '',
    ...facts.map(([name, value]) => `${name.padEnd(11)}  ${numberText(value, paper)}`),
    ...(summary.run === undefined ? [] : [`${'run'.padEnd(11)}  ${summary.run}`]),
    ...(failures.length === 0 ? [] : ['', ...failures.flatMap((kind) => failureLines(kind, summary, paper))]),
  ];
  return `${lines.join('\n')}\n`;
}

/** The states in the order of a report: what is done, then what is not. */
function reported(): readonly State[] {
  return [...states.filter((state) => state !== 'unprocessed'), 'unprocessed'];
}

function countLine(summary: SummaryRecord, name: 'rows' | State, paper: Paper): string {
  const { style, columns } = paper;
  const count = summary[name];
  const hasShare = columns !== undefined && name !== 'rows' && count > 0;
  const text = `${name.padEnd(11)}  ${numberText(count, paper)}${hasShare ? shareText(count, summary.rows) : ''}`;
  if (name === 'rows') return style.bold(text);
  return count === 0 ? style.dim(text) : paintState(style, name)(text);
}

function paintState(style: Style, state: State): (text: string) => string {
  if (state === 'applied') return style.green;
  if (state === 'failed' || state === 'invalid') return style.red;
  return state === 'unchanged' ? (text) => text : style.yellow;
}

function numberText(value: number, { columns }: Paper): string {
  return (columns === undefined ? String(value) : groupDigits(value)).padStart(12);
}

/** A share as a percentage with one digit; what is not all is never 100, what is something never 0. */
function shareText(count: number, all: number): string {
  const rounded = Math.min(99.9, Math.max(0.1, Math.round((count * 1000) / all) / 10));
  return `  ${(count === all ? 100 : rounded).toFixed(1).padStart(5)} %`;
}

/** `     12 x  404 no_entry` and, below it, the first of them. */
function failureLines(
  failure: FailureKind,
  { failures }: SummaryRecord,
  { style, columns }: Paper,
): string[] {
  const { kind, state, count, example } = failure;
  const width = Math.max(...failures.map((each) => groupDigits(each.count).length));
  const text = sanitize(`${placeOf(example)}: ${example.message}`);
  const indent = ' '.repeat(width + 4);
  const first =
    columns === undefined ? [text] : wrap(text, Math.max(20, columns - indent.length), (each) => each.length);
  const paint = state === 'failed' ? style.red : style.yellow;
  const head = `${groupDigits(count).padStart(width)} x  ${sanitize(`${state}: ${kind}`)}`;
  return [paint(head), ...first.map((line) => style.dim(indent + line))];
}
