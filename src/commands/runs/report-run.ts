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
import { idMember } from './row-columns.ts';
import { describeExample } from './show-plan.ts';

/** The command lines to offer after a session. */
interface NextCommands {
  /** Continues the run. Undefined if no row is open. */
  readonly resume?: string | undefined;
  /** Takes back the run. Undefined if it wrote no row. */
  readonly undo?: string | undefined;
  /** Applies the file of rejects. Undefined if there is none. */
  readonly apply?: string | undefined;
}

/**
 * Reports a session: prints its summary on stdout, and hints on stderr.
 *
 * @throws CliError if not every row is as the run wants it.
 */
export async function printReport(context: Context, report: Report): Promise<void> {
  const { header, rows, stop, rejects } = report;
  const totals = rowTotals(rows, header);
  // If the service stored other counts than were sent, the user must look at them before any further write.
  const suspects = rows.filter(isSuspect);
  const isTrusted = suspects.length === 0;
  const commands = isTrusted ? nextCommands(context, report, totals) : {};
  let problem: Error | undefined = report.problem;
  try {
    await printSummary(context, report, totals, commands);
  } catch (error) {
    // The run is done although nobody reads its summary.
    if (!(error instanceof OutputClosedError)) problem ??= error as Error;
  }
  for (const { id, before = null, after = null, outcome } of suspects)
    await context.print(
      `pet ${id}: ${describeValue(before)} before, ${describeValue(after)} sent: ${outcome?.reason?.message}`,
    );
  const hint = hintOf(report, totals, commands, isTrusted);
  const isRetryable = groupFailures(rows).every(({ retryable }) => retryable);
  const error = toRunError(header, totals.counts, isRetryable, { stop, hint });
  if (rejects) await context.warn(`rejected rows are in ${rejects}`);
  if (!error && commands.undo !== undefined) await context.warn(`undo with: ${commands.undo}`);
  if (error && problem) await context.warn(`warning: ${problem.message}`);
  if (error ?? problem) throw error ?? problem;
}

function nextCommands(
  context: Context,
  { id, header, rows, rejects, problem }: Report,
  { counts, open }: RunTotals,
): NextCommands {
  const command = (words: readonly string[]) => followUpCommand(context, words);
  const resumeWords =
    findSettlingCommand(rows) ?? (header.undoes === null ? ['resume', id] : ['undo', header.undoes]);
  const canUndo = header.undoes === null && counts.applied + counts.unknown > 0;
  return {
    resume: open > 0 || problem ? command(resumeWords) : undefined,
    undo: canUndo ? command(['undo', id]) : undefined,
    apply: rejects ? command(applyWords(header, rejects)) : undefined,
  };
}

/** Says what the user can do next. Undefined if there is nothing to do. @param isTrusted whether all counts are as sent. */
function hintOf(
  { rows, stop, isResumed }: Report,
  { counts: { failed, unknown }, left }: RunTotals,
  { resume, undo, apply }: NextCommands,
  isTrusted: boolean,
): string | undefined {
  // A further `resume` cannot settle a row that a resumed session has left unknown.
  const needsHand = isTrusted && isResumed && unknown > 0 && !findSettlingCommand(rows);
  const hasStopHint = stop?.hint !== undefined;
  const hints: string[] = [];
  if (hasStopHint) hints.push(stop.hint);
  if (resume && (!needsHand || left > 0)) hints.push(`${hasStopHint ? 'then ' : ''}go on with: ${resume}`);
  if (needsHand) hints.push('look at the records that are still unknown, and set them by hand');
  if (!isTrusted && !hasStopHint) hints.push('look at these counts before you go on');
  if (apply && (!resume || left < failed + unknown))
    hints.push(`correct the rejected rows, then run: ${apply}`);
  if (undo && !resume) hints.push(`set back with: ${undo}`);
  return hints.length > 0 ? hints.join('; ') : undefined;
}

/** Whether the answer of a row shows another count than was sent. */
function isSuspect({ outcome }: Row): boolean {
  return outcome?.reason?.code === otherCountCode;
}

/** The words of the command that applies a file of rejects, with the flags of the input. */
function applyWords({ noun, flags, delivery }: RunHeader, file: string): string[] {
  if (noun !== 'inventory') return [noun, 'update', '--from', file];
  const { map, thousands, decimal, relative, again, sum, createMissing } = flags;
  return [
    'inventory',
    'apply',
    file,
    ...Object.entries(map).flatMap(([field, column]) => ['--map', `${field}=${column}`]),
    ...(thousands ? ['--thousands', thousands] : []),
    ...(decimal ? ['--decimal', decimal] : []),
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
  const { io } = context;
  const printer = await context.printer();
  const { fields, sort } = context.flags;
  if (printer.format === 'table' && fields === undefined && sort === undefined) {
    const { width } = io.stdout;
    await io.stdout.write(summaryText(report, totals, await context.style('stdout'), width ?? 80));
  } else await printer.record(toSummaryJson(report, totals, next), summaryView);
}

/** The states in the order of a report: `unprocessed` comes last. */
const reportedStates: readonly RowState[] = [...rowStates.slice(1), 'unprocessed'];

/** The columns of a run in formats with columns, such as CSV. */
export const summaryView: View<JsonObject> = {
  plural: 'runs',
  columns: [
    'run',
    'name',
    'target',
    'rows',
    ...reportedStates,
    'requests',
    'retries',
    'seconds',
    'rowsPerSecond',
  ].map((name): Column<JsonObject> => ({ name, value: (row) => row[name], align: 'right' })),
};

/** Makes a report one JSON object. Facts that are undefined are left out. */
function toSummaryJson(
  report: Report,
  { counts, open, left }: RunTotals,
  { resume, undo }: NextCommands,
): JsonObject {
  const { id: run, header, rows, planned, requests, retries, seconds, rowsPerSecond, rejects, stop } = report;
  const { kind, noun, target } = header;
  const failures = groupFailures(rows);
  const suspects = rows.filter(isSuspect).map(({ id, before, after, outcome }) => ({
    petId: id,
    before,
    sent: after,
    now: outcome?.reason?.message,
  }));
  const facts = Object.entries({
    run,
    kind,
    noun,
    name: header.undoes ?? header.name,
    target,
    rows: header.rows,
    ...counts,
    session: { rows: planned.length, ...rowTotals(planned).counts },
    requests,
    retries,
    seconds,
    rowsPerSecond,
    retryable: failures.length === 0 ? undefined : failures.every(({ retryable }) => retryable),
    open,
    left,
    rejects,
    resume,
    undo,
    stopped: stop?.message,
    failures: failures.map(({ example: { id, ...example }, ...group }) => ({
      ...group,
      example: { ...example, ...idMember(noun, id) },
    })),
    [otherCountCode]: suspects.length > 0 ? suspects : undefined,
  });
  return Object.fromEntries(facts.filter(([, value]) => value !== undefined)) as JsonObject;
}

/** The summary for a terminal: the session, the whole run if it has more rows, and the groups of failures. */
function summaryText(report: Report, { counts: all }: RunTotals, style: Style, columns: number): string {
  const { id, header, rows, planned, isResumed, requests, retries, seconds, rowsPerSecond } = report;
  const { noun, rows: total } = header;
  const counts = isResumed ? rowTotals(planned).counts : all;
  const rowCount = isResumed ? planned.length : total;
  const isAllUnchanged = counts.applied === 0 && counts.unchanged === rowCount;
  const facts = [
    isAllUnchanged
      ? unchangedText(header, rowCount)
      : `applied ${groupDigits(counts.applied)} of ${counted(rowCount, 'row', 'rows')} in ${elapsedText(seconds)}`,
    counted(requests, 'request', 'requests'),
    ...(retries > 0 ? [counted(retries, 'retry', 'retries')] : []),
    ...(seconds >= 1 ? [`${groupDigits(rowsPerSecond)} rows/s`] : []),
  ];
  const describeStates = (counts: Readonly<Record<RowState, number>>, excluded?: RowState) =>
    reportedStates
      .filter((state) => state !== excluded && counts[state] > 0)
      .map((state) => paintState(style, state)(`${groupDigits(counts[state])} ${stateWord(state)}`))
      .join(', ');
  const factsText = facts.join(', ');
  const otherStates = isAllUnchanged ? '' : describeStates(counts, 'applied');
  const isAllApplied = all.applied === total && total > 0;
  const lines = [
    ...(isResumed ? [`this session: ${factsText}`] : [isAllApplied ? style.green(factsText) : factsText]),
    ...(otherStates === '' ? [] : [otherStates]),
    ...(isResumed ? [`run ${id}: ${counted(total, 'row', 'rows')}: ${describeStates(all)}`] : []),
  ];
  for (const { state, count, kind, example } of groupFailures(rows)) {
    const paint = state === 'failed' ? style.red : style.yellow;
    lines.push(paint(`${groupDigits(count)} x  ${sanitize(`${state}: ${kind}`)}`));
    const text = describeExample(example, rowWords(noun).record);
    const folded = wrapLines(text, Math.max(20, columns - 4), (word) => word.length);
    lines.push(...folded.map((line) => style.dim(`    ${line}`)));
  }
  if (!isResumed) lines.push(style.dim(`run ${id}`));
  return `${lines.join('\n')}\n`;
}

function unchangedText({ kind, flags }: RunHeader, rows: number): string {
  if (kind === 'undo') return `nothing to undo: ${counted(rows, 'row needs', 'rows need')} no write`;
  if (flags.relative) return `nothing to do: ${counted(rows, 'row needs', 'rows need')} no write`;
  return `nothing to do: ${counted(rows, 'row is', 'rows are')} as the file says`;
}

function stateWord(state: RowState): string {
  return state === 'unprocessed' ? 'not processed' : state;
}

function elapsedText(seconds: number): string {
  return `${seconds < 10 ? seconds.toFixed(2) : groupDigits(Math.round(seconds))} s`;
}

function paintState(style: Style, state: RowState): (text: string) => string {
  if (state === 'applied') return style.green;
  if (state === 'failed' || state === 'invalid') return style.red;
  return state === 'unchanged' ? (text) => text : style.yellow;
}
