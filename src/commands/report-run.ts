import { textOf } from '../bulk/decide.ts';
import { errorOf, type Report } from '../bulk/report.ts';
import { type RowState, rowStates } from '../bulk/rows.ts';
import type { NewRun, Run } from '../bulk/run.ts';
import { nounWords } from '../bulk/run-nouns.ts';
import { otherCount } from '../bulk/write-row.ts';
import { type Context, commandLine } from '../context.ts';
import type { Column, View } from '../output/columns.ts';
import { wrap } from '../output/fold.ts';
import type { Style } from '../output/style.ts';
import { OutputClosedError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { counted, groupDigits, sanitize } from '../process/text.ts';
import { exampleText } from './show-plan.ts';

/** A report and the next steps for the user. */
interface ReportRecord extends Report {
  /** The command to go on with if rows are left: it goes on with the run, or with another that its rows wait for. */
  readonly resume: string | undefined;
  /** The command that undoes it, if it has written something. */
  readonly undo: string | undefined;
}

/**
 * Reports the result of a session: prints it on stdout, in the format asked for.
 *
 * @throws CliError if not every row is as it should be.
 */
export async function printReport(context: Context, { header }: Run, report: Report): Promise<void> {
  const { run, stop, open, left, applied, unknown, failed, rejects, problem: failure, distrusted } = report;
  const command = (...words: string[]) => commandLine(context, words);
  const goOn = header.undoes === null ? ['resume', run ?? ''] : ['undo', header.undoes];
  const { settledBy } = report;
  // A service that does not set what it is told must be looked at first.
  const isTrusted = distrusted.length === 0;
  const resume =
    isTrusted && (open > 0 || failure !== undefined)
      ? command(...(settledBy?.split(' ') ?? goOn))
      : undefined;
  const mayUndo = isTrusted && header.undoes === null && applied + unknown > 0;
  const undo = mayUndo ? command('undo', run ?? '') : undefined;
  let problem: Error | undefined = failure;
  try {
    await printSummary(context, { ...report, resume, undo });
  } catch (error) {
    // A reader that has gone away is not a problem.
    if (!(error instanceof OutputClosedError)) problem ??= error as Error;
  }
  for (const { id, before, after, outcome } of distrusted)
    await context.print(
      `pet ${id}: ${textOf(before ?? null)} before, ${textOf(after ?? null)} sent: ${outcome?.reason?.message}`,
    );
  const before = stop?.hint === undefined ? '' : `${stop.hint}; then `;
  const again = rejects && command(...applyWords(header, rejects));
  const shelf =
    report.isResumed && unknown > 0 && isTrusted && !settledBy
      ? 'look at the records that are still unknown, and set them by hand'
      : '';
  const hints = [
    resume && (shelf === '' || left > 0) ? `${before}go on with: ${resume}` : stop?.hint,
    shelf,
    isTrusted || stop?.hint !== undefined ? '' : 'look at these counts before you go on',
    again && isTrusted && (!resume || left < failed + unknown)
      ? `correct the rejected rows, then run: ${again}`
      : '',
    undo && !resume ? `set back with: ${undo}` : '',
  ].filter((hint) => hint);
  const error = errorOf(report, hints.length > 0 ? hints.join('; ') : undefined);
  if (rejects) await context.warn(`rejected rows are in ${rejects}`);
  if (!error && undo !== undefined) await context.warn(`undo with: ${undo}`);
  if (error && problem) await context.warn(`warning: ${problem.message}`);
  if (error ?? problem) throw error ?? problem;
}

/** The command that applies a file of rejects, with the flags that its input had. */
function applyWords({ noun, flags, delivery }: NewRun, file: string): string[] {
  if (noun !== 'inventory') return [noun, 'update', '--from', file];
  const { map, thousands, relative, again, sum, createMissing } = flags;
  return [
    ...['inventory', 'apply', file],
    ...Object.entries(map).flatMap(([field, column]) => ['--map', `${field}=${column}`]),
    ...(thousands ? ['--thousands', thousands] : []),
    ...(relative ? ['--relative'] : []),
    ...(delivery === null ? [] : ['--delivery', delivery]),
    ...(again ? ['--again'] : []),
    ...(sum ? ['--sum'] : []),
    ...(createMissing ? ['--create-missing'] : []),
  ];
}

async function printSummary(context: Context, summary: ReportRecord): Promise<void> {
  const { io, quiet } = context;
  const printer = await context.printer();
  const { fields, sort } = context.flags;
  if (printer.format === 'table' && fields === undefined && sort === undefined) {
    if (quiet) return;
    const { width } = io.stdout;
    await io.stdout.write(summaryText(summary, await context.style('stdout'), width ?? 80));
  } else await printer.record(toSummaryJson(summary), summaryView);
}

/** The states in the order of a report: successes, then the others. */
const reportedStates: readonly RowState[] = [...rowStates.slice(1), 'unprocessed'];

/** For formats with columns: one line for the run. */
export const summaryView: View<JsonObject> = {
  noun: 'runs',
  columns: [
    ...['run', 'name', 'target', 'rows', ...reportedStates],
    ...['requests', 'retries', 'seconds', 'rowsPerSecond'],
  ].map((name): Column<JsonObject> => ({ name, value: (row) => row[name], align: 'right' })),
};

/** A run as one JSON object; empty facts other than counts are left out. */
function toSummaryJson(report: ReportRecord): JsonObject {
  const {
    stop,
    failures,
    isResumed: _,
    isRelative: __,
    problem: ___,
    settledBy: ____,
    distrusted,
    ...rest
  } = report;
  const rows = distrusted.map(({ id, before, after, outcome }) => ({
    ...{ petId: id, before, sent: after },
    now: outcome?.reason?.message,
  }));
  const kinds = failures.map(({ example: { id, ...example }, ...kind }) => ({
    ...kind,
    example: { ...example, ...(report.noun === 'inventory' ? { petId: id } : { id }) },
  }));
  const facts = Object.entries({
    ...rest,
    stopped: stop?.message,
    failures: kinds,
    [otherCount]: rows.length > 0 ? rows : undefined,
  });
  return Object.fromEntries(facts.filter(([, value]) => value !== undefined)) as JsonObject;
}

/** What this session did, then the whole run if that is more, then why rows failed. */
function summaryText(summary: ReportRecord, style: Style, columns: number): string {
  const { session, isResumed, requests, retries, seconds, run, rows } = summary;
  const counts = isResumed ? session : summary;
  const isNothing = counts.applied === 0 && counts.unchanged === counts.rows;
  const facts = [
    isNothing
      ? nothingText(summary, counts.rows)
      : `applied ${groupDigits(counts.applied)} of ${counted(counts.rows, 'row', 'rows')} in ${secondsText(seconds)}`,
    counted(requests, 'request', 'requests'),
    ...(retries > 0 ? [counted(retries, 'retry', 'retries')] : []),
    ...(seconds >= 1 ? [`${groupDigits(summary.rowsPerSecond)} rows/s`] : []),
  ];
  const states = (counts: Readonly<Partial<Record<RowState, number>>>, excluded?: RowState) =>
    reportedStates
      .filter((state) => state !== excluded && (counts[state] ?? 0) > 0)
      .map((state) => paintState(style, state)(`${groupDigits(counts[state] ?? 0)} ${stateWord(state)}`))
      .join(', ');
  const first = facts.join(', ');
  const others = isNothing ? '' : states(counts, 'applied');
  const isWhole = summary.applied === rows && rows > 0;
  const lines = [
    ...(isResumed ? [`this session: ${first}`] : [isWhole ? style.green(first) : first]),
    ...(others === '' ? [] : [others]),
    ...(isResumed ? [`run ${run}: ${counted(rows, 'row', 'rows')}: ${states(summary)}`] : []),
  ];
  for (const { state, count, kind, example } of summary.failures) {
    const paint = state === 'failed' ? style.red : style.yellow;
    lines.push(paint(`${groupDigits(count)} x  ${sanitize(`${state}: ${kind}`)}`));
    const text = wrap(
      exampleText(example, nounWords[summary.noun].record),
      Math.max(20, columns - 4),
      (each) => each.length,
    );
    lines.push(...text.map((line) => style.dim(`    ${line}`)));
  }
  if (run !== undefined && !isResumed) lines.push(style.dim(`run ${run}`));
  return `${lines.join('\n')}\n`;
}

function nothingText({ kind, isRelative }: ReportRecord, rows: number): string {
  if (kind === 'undo') return `nothing to undo: ${counted(rows, 'row needs', 'rows need')} no write`;
  if (isRelative) return `nothing to do: ${counted(rows, 'row needs', 'rows need')} no write`;
  return `nothing to do: ${counted(rows, 'row is', 'rows are')} as the file says`;
}

function stateWord(state: RowState): string {
  return state === 'unprocessed' ? 'not processed' : state;
}

function secondsText(seconds: number): string {
  return `${seconds < 10 ? seconds.toFixed(2) : groupDigits(Math.round(seconds))} s`;
}

function paintState(style: Style, state: RowState): (text: string) => string {
  if (state === 'applied') return style.green;
  if (state === 'failed' || state === 'invalid') return style.red;
  return state === 'unchanged' ? (text) => text : style.yellow;
}
