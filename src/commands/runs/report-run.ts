import { describeValue, type Row } from '../../bulk/decide.ts';
import { findSettlingCommand, groupFailures, type Report, toRunError } from '../../bulk/report.ts';
import { type RowState, type RunTotals, rowStates, rowTotals } from '../../bulk/rows.ts';
import type { RunHeader } from '../../bulk/run-header.ts';
import { rowWords } from '../../bulk/value-access.ts';
import { otherCountCode } from '../../bulk/write-row.ts';
import { type Context, followUpCommand } from '../../context.ts';
import type { Column, View } from '../../output/columns.ts';
import { wrapLines } from '../../output/fold.ts';
import type { Style } from '../../output/style.ts';
import { OutputClosedError } from '../../process/errors.ts';
import type { JsonObject } from '../../process/exact-json.ts';
import { counted, groupDigits, sanitize } from '../../process/text.ts';
import { exampleText } from './show-plan.ts';

/** The command lines that go on with a run and that undo it; undefined if there is nothing to go on with, or to undo. */
interface NextCommands {
  readonly resume: string | undefined;
  readonly undo: string | undefined;
}

/**
 * Reports the result of a session: prints it on stdout, in the format asked for.
 *
 * @throws CliError if not every row is as it should be.
 */
export async function printReport(context: Context, report: Report): Promise<void> {
  const { id, header, rows, stop, rejects, problem: failure } = report;
  const totals = rowTotals(rows, header);
  const { counts, open, left } = totals;
  const { applied, unknown, failed } = counts;
  // A service that does not set what it is told must be looked at first.
  const suspects = rows.filter(isSuspect);
  const isTrusted = suspects.length === 0;
  const command = (...words: string[]) => followUpCommand(context, words);
  const settling = findSettlingCommand(rows);
  const goOn = settling ?? (header.undoes === null ? ['resume', id] : ['undo', header.undoes]);
  const canUndo = isTrusted && header.undoes === null && applied + unknown > 0;
  const resume = isTrusted && (open > 0 || failure) ? command(...goOn) : undefined;
  const undo = canUndo ? command('undo', id) : undefined;
  let problem: Error | undefined = failure;
  try {
    await printSummary(context, report, totals, { resume, undo });
  } catch (error) {
    // A reader that has gone away is not a problem.
    if (!(error instanceof OutputClosedError)) problem ??= error as Error;
  }
  for (const { id, before = null, after = null, outcome } of suspects)
    await context.print(
      `pet ${id}: ${describeValue(before)} before, ${describeValue(after)} sent: ${outcome?.reason?.message}`,
    );
  const before = stop?.hint === undefined ? '' : `${stop.hint}; then `;
  const retry = rejects && command(...applyWords(header, rejects));
  const shelf =
    report.isResumed && unknown > 0 && isTrusted && !settling
      ? 'look at the records that are still unknown, and set them by hand'
      : '';
  const hints = [
    resume && (shelf === '' || left > 0) ? `${before}go on with: ${resume}` : stop?.hint,
    shelf,
    isTrusted || stop?.hint !== undefined ? '' : 'look at these counts before you go on',
    retry && isTrusted && (!resume || left < failed + unknown)
      ? `correct the rejected rows, then run: ${retry}`
      : '',
    undo && !resume ? `set back with: ${undo}` : '',
  ].filter((hint) => hint);
  const hint = hints.length > 0 ? hints.join('; ') : undefined;
  const isRetryable = groupFailures(rows).every(({ retryable }) => retryable);
  const error = toRunError(header, counts, isRetryable, { stop, hint });
  if (rejects) await context.warn(`rejected rows are in ${rejects}`);
  if (!error && undo !== undefined) await context.warn(`undo with: ${undo}`);
  if (error && problem) await context.warn(`warning: ${problem.message}`);
  if (error ?? problem) throw error ?? problem;
}

/** Whether the answer of a row shows another count than the one that was sent. */
function isSuspect({ outcome }: Row): boolean {
  return outcome?.reason?.code === otherCountCode;
}

/** The command that applies a file of rejects, with the flags that its input had. */
function applyWords({ noun, flags, delivery }: RunHeader, file: string): string[] {
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

async function printSummary(
  context: Context,
  report: Report,
  totals: RunTotals,
  next: NextCommands,
): Promise<void> {
  const { io, quiet } = context;
  const printer = await context.printer();
  const { fields, sort } = context.flags;
  if (printer.format === 'table' && fields === undefined && sort === undefined) {
    if (quiet) return;
    const { width } = io.stdout;
    await io.stdout.write(summaryText(report, totals, await context.style('stdout'), width ?? 80));
  } else await printer.record(toSummaryJson(report, totals, next), summaryView);
}

/** The states in the order of a report: successes, then the others. */
const reportedStates: readonly RowState[] = [...rowStates.slice(1), 'unprocessed'];

/** For formats with columns: one line for the run. */
export const summaryView: View<JsonObject> = {
  plural: 'runs',
  columns: [
    ...['run', 'name', 'target', 'rows', ...reportedStates],
    ...['requests', 'retries', 'seconds', 'rowsPerSecond'],
  ].map((name): Column<JsonObject> => ({ name, value: (row) => row[name], align: 'right' })),
};

/** A run as one JSON object; empty facts other than counts are left out. */
function toSummaryJson(report: Report, { counts, open, left }: RunTotals, next: NextCommands): JsonObject {
  const { id: run, header, rows, planned, requests, retries, seconds, rowsPerSecond, rejects, stop } = report;
  const { kind, noun, target } = header;
  const failures = groupFailures(rows);
  const suspects = rows.filter(isSuspect).map(({ id, before, after, outcome }) => ({
    ...{ petId: id, before, sent: after, now: outcome?.reason?.message },
  }));
  const facts = Object.entries({
    ...{ run, kind, noun, name: header.undoes ?? header.name, target, rows: header.rows, ...counts },
    session: { rows: planned.length, ...rowTotals(planned).counts },
    ...{ requests, retries, seconds, rowsPerSecond },
    retryable: failures.length === 0 ? undefined : failures.every((kind) => kind.retryable),
    ...{ open, left, rejects, ...next, stopped: stop?.message },
    failures: failures.map(({ example: { id, ...example }, ...kind }) => ({
      ...kind,
      example: { ...example, ...(noun === 'inventory' ? { petId: id } : { id }) },
    })),
    [otherCountCode]: suspects.length > 0 ? suspects : undefined,
  });
  return Object.fromEntries(facts.filter(([, value]) => value !== undefined)) as JsonObject;
}

/** What this session did, then the whole run if that is more, then why rows failed. */
function summaryText(report: Report, { counts: all }: RunTotals, style: Style, columns: number): string {
  const { id, header, rows, planned, isResumed, requests, retries, seconds, rowsPerSecond } = report;
  const { noun, rows: total } = header;
  const counts = isResumed ? rowTotals(planned).counts : all;
  const rowCount = isResumed ? planned.length : total;
  const isNothing = counts.applied === 0 && counts.unchanged === rowCount;
  const facts = [
    isNothing
      ? nothingText(header, rowCount)
      : `applied ${groupDigits(counts.applied)} of ${counted(rowCount, 'row', 'rows')} in ${secondsText(seconds)}`,
    counted(requests, 'request', 'requests'),
    ...(retries > 0 ? [counted(retries, 'retry', 'retries')] : []),
    ...(seconds >= 1 ? [`${groupDigits(rowsPerSecond)} rows/s`] : []),
  ];
  const states = (counts: Readonly<Record<RowState, number>>, excluded?: RowState) =>
    reportedStates
      .filter((state) => state !== excluded && counts[state] > 0)
      .map((state) => paintState(style, state)(`${groupDigits(counts[state])} ${stateWord(state)}`))
      .join(', ');
  const first = facts.join(', ');
  const others = isNothing ? '' : states(counts, 'applied');
  const isWhole = all.applied === total && total > 0;
  const lines = [
    ...(isResumed ? [`this session: ${first}`] : [isWhole ? style.green(first) : first]),
    ...(others === '' ? [] : [others]),
    ...(isResumed ? [`run ${id}: ${counted(total, 'row', 'rows')}: ${states(all)}`] : []),
  ];
  for (const { state, count, kind, example } of groupFailures(rows)) {
    const paint = state === 'failed' ? style.red : style.yellow;
    lines.push(paint(`${groupDigits(count)} x  ${sanitize(`${state}: ${kind}`)}`));
    const text = exampleText(example, rowWords(noun).record);
    const folded = wrapLines(text, Math.max(20, columns - 4), (word) => word.length);
    lines.push(...folded.map((line) => style.dim(`    ${line}`)));
  }
  if (!isResumed) lines.push(style.dim(`run ${id}`));
  return `${lines.join('\n')}\n`;
}

function nothingText({ kind, flags }: RunHeader, rows: number): string {
  if (kind === 'undo') return `nothing to undo: ${counted(rows, 'row needs', 'rows need')} no write`;
  if (flags.relative) return `nothing to do: ${counted(rows, 'row needs', 'rows need')} no write`;
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
