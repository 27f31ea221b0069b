import type { EndedRun } from '../../bulk/carry-out.ts';
import { type RowState, rowStates } from '../../bulk/rows.ts';
import type { Run } from '../../bulk/run.ts';
import { errorOf, type Summary } from '../../bulk/summary.ts';
import { type Context, commandLine } from '../../context.ts';
import type { Column, View } from '../../output/columns.ts';
import { wrap } from '../../output/fold.ts';
import type { Style } from '../../output/style.ts';
import { OutputClosedError } from '../../process/errors.ts';
import type { JsonObject } from '../../process/exact-json.ts';
import { counted, groupDigits, sanitize } from '../../process/text.ts';
import { exampleText } from './show-plan.ts';

/** A summary and the next steps for the user. */
interface SummaryRecord extends Summary {
  /** The file of rejected rows. */
  readonly rejects: string | undefined;
  /** The command that goes on with the run, if rows are left. */
  readonly resume: string | undefined;
  /** The command that undoes it, if it has written something. */
  readonly undo: string | undefined;
}

/**
 * Reports the result of a session: prints the summary on stdout, in the format asked for.
 *
 * @throws CliError if not every row is as it should be.
 */
export async function report(
  context: Context,
  run: Run,
  { summary, rejects, problem: failure }: EndedRun,
): Promise<void> {
  const { header } = run;
  const { run: id, stop, left, applied, unknown } = summary;
  const command = (...words: string[]) => commandLine(context, ['inventory', ...words]);
  const goOn = header.undoes === null ? ['resume', id ?? ''] : ['undo', header.undoes];
  // An undo that left rows alone compares again when it is typed again.
  const isPartial = header.undoes !== null && summary.failed > 0;
  const isOpen = id !== undefined && (left > 0 || isPartial || failure !== undefined);
  const resume = isOpen ? command(...goOn) : undefined;
  const mayUndo = id !== undefined && header.undoes === null && applied + unknown > 0;
  const undo = mayUndo ? command('undo', id) : undefined;
  let problem: Error | undefined = failure;
  try {
    await printSummary(context, { ...summary, rejects, resume, undo });
  } catch (error) {
    // A reader that has gone away is not a problem.
    if (!(error instanceof OutputClosedError)) problem ??= error as Error;
  }
  const before = stop?.hint === undefined ? '' : `${stop.hint}; then `;
  const again = rejects && command('apply', rejects, ...inputWords(run));
  const shelf = needsShelf(summary)
    ? 'count the shelf and use `petstore inventory set` for rows that changed since'
    : '';
  const hints = [
    resume && (shelf === '' || left > unknown) ? `${before}go on with: ${resume}` : stop?.hint,
    shelf,
    again && (!resume || left < summary.failed + unknown)
      ? `correct the rejected rows, then run: ${again}`
      : '',
    undo && !resume ? `set back with: ${undo}` : '',
  ].filter((hint) => hint);
  const error = errorOf(summary, hints.length > 0 ? hints.join('; ') : undefined);
  if (rejects) await context.warn(`rejected rows are in ${rejects}`);
  if (!error && undo !== undefined) await context.warn(`undo with: ${undo}`);
  if (error && problem) await context.warn(`warning: ${problem.message}`);
  if (error ?? problem) throw error ?? problem;
}

/** Whether rows are unknown that a further session cannot settle either. */
function needsShelf({ failures, isResumed }: Summary): boolean {
  return (
    isResumed && failures.some(({ state, kind }) => state === 'unknown' && kind.endsWith('changed_since'))
  );
}

/** The flags with which rejected rows must be read and written, the same as for their input. */
function inputWords({ header: { flags } }: Run): string[] {
  const { map, thousands } = flags;
  return [
    ...Object.entries(map).flatMap(([field, column]) => ['--map', `${field}=${column}`]),
    ...(thousands ? ['--thousands', thousands] : []),
    ...(flags.relative ? ['--relative'] : []),
    ...(flags.sum ? ['--sum'] : []),
    ...(flags.createMissing ? ['--create-missing'] : []),
  ];
}

async function printSummary(context: Context, summary: SummaryRecord): Promise<void> {
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
const reported: readonly RowState[] = [...rowStates.slice(1), 'unprocessed'];

/** For formats with columns: one line for the run. */
export const summaryView: View<JsonObject> = {
  noun: 'runs',
  columns: [
    ...['run', 'name', 'target', 'rows', ...reported],
    ...['requests', 'retries', 'seconds', 'rowsPerSecond'],
  ].map((name): Column<JsonObject> => ({ name, value: (row) => row[name], align: 'right' })),
};

/** A run as one JSON object; empty facts other than counts are left out. */
function toSummaryJson({ stop, failures, isResumed, isRelative, left, ...rest }: SummaryRecord): JsonObject {
  const facts = Object.entries({ ...rest, left, stopped: stop?.message, failures });
  return Object.fromEntries(facts.filter(([, value]) => value !== undefined)) as JsonObject;
}

/** What this session did, then the whole run if that is more, then why rows failed. */
function summaryText(summary: SummaryRecord, style: Style, columns: number): string {
  const { session, isResumed, requests, retries, seconds, run, rows } = summary;
  const shown = isResumed ? session : summary;
  const facts = [
    `applied ${groupDigits(shown.applied)} of ${counted(shown.rows, 'row', 'rows')} in ${secondsText(seconds)}`,
    counted(requests, 'request', 'requests'),
    ...(retries > 0 ? [counted(retries, 'retry', 'retries')] : []),
    ...(seconds >= 1 ? [`${groupDigits(summary.rowsPerSecond)} rows/s`] : []),
  ];
  const states = (counts: Readonly<Partial<Record<RowState, number>>>, excluded?: RowState) =>
    reported
      .filter((state) => state !== excluded && (counts[state] ?? 0) > 0)
      .map((state) => paintState(style, state)(`${groupDigits(counts[state] ?? 0)} ${stateWord(state)}`))
      .join(', ');
  const first = facts.join(', ');
  const others = states(shown, 'applied');
  const isWhole = summary.applied === rows && rows > 0;
  const lines = [
    ...(isResumed ? [`this session: ${first}`] : [isWhole ? style.green(first) : first]),
    ...(others === '' ? [] : [others]),
    ...(isResumed ? [`run ${run}: ${counted(rows, 'row', 'rows')}: ${states(summary)}`] : []),
  ];
  for (const { state, count, kind, example } of summary.failures) {
    const paint = state === 'failed' ? style.red : style.yellow;
    lines.push(paint(`${groupDigits(count)} x  ${sanitize(`${state}: ${kind}`)}`));
    const text = wrap(exampleText(example), Math.max(20, columns - 4), (each) => each.length);
    lines.push(...text.map((line) => style.dim(`    ${line}`)));
  }
  if (run !== undefined && !isResumed) lines.push(style.dim(`run ${run}`));
  return `${lines.join('\n')}\n`;
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
