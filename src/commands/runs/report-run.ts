import { findNextCommand, groupFailures, isRetryable, type Report, toRunError } from '../../bulk/report.ts';
import { type Fate, type FateCounts, fates, type RunTotals, rowTotals } from '../../bulk/run.ts';
import type { RunHeader } from '../../bulk/run-header.ts';
import type { RunInfo } from '../../bulk/run-store.ts';
import { type Context, followUpCommand } from '../../context.ts';
import type { Column, View } from '../../output/columns.ts';
import type { Style } from '../../output/style.ts';
import { OutputClosedError } from '../../process/errors.ts';
import type { JsonObject } from '../../process/exact-json.ts';
import { counted, groupDigits, sanitize } from '../../process/text.ts';
import type { Row } from '../../writes/decide.ts';
import { idMember, rowWords } from './row-view.ts';
import { createPlanView, describeExample } from './show-plan.ts';

/** The command lines to offer after a session. */
interface NextCommands {
  /** The command that goes on with the run, as words. Undefined if it is finished. */
  readonly words?: readonly string[] | undefined;
  readonly next?: string | undefined;
  /** Takes back the run. Undefined if it wrote no row, or cannot be undone. */
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
  const { header, rows, stop, rejects, deferrals } = report;
  const totals = rowTotals(rows, header);
  const commands = nextCommands(context, report, totals);
  let problem: Error | undefined = report.problem;
  try {
    await printSummary(context, report, totals, commands);
  } catch (error) {
    // The run is done although nobody reads its summary.
    if (!(error instanceof OutputClosedError)) problem ??= error as Error;
  }
  const hint = hintOf(context, report, commands);
  const retryable = isRetryable(header, rows, totals.counts) && !report.isResumed && deferrals.size === 0;
  const error = toRunError(header, totals.counts, retryable, { stop, hint });
  if (rejects) await context.warn(`rejected rows are in ${rejects}`);
  if (!error && commands.undo !== undefined) await context.warn(`undo with: ${commands.undo}`);
  if (error && problem) await context.warn(`warning: ${problem.message}`);
  if (error ?? problem) throw error ?? problem;
}

function nextCommands(
  context: Context,
  { id, header, rows, rejects, problem }: Report,
  { written }: RunTotals,
): NextCommands {
  const command = (words: readonly string[]) => followUpCommand(context, words);
  const canUndo = header.kind !== 'undo' && header.kind !== 'delete' && written > 0;
  const words = findNextCommand({ id, header, rows }) ?? (problem ? ['resume', id] : undefined);
  return {
    words,
    next: words && command(words),
    undo: canUndo ? command(['undo', id]) : undefined,
    apply: rejects ? command(applyWords(header, rejects)) : undefined,
  };
}

/** Says what the user can do next: one command. Undefined if there is nothing to do. */
function hintOf(
  context: Context,
  { stop, rows }: Report,
  { words, undo, apply }: NextCommands,
): string | undefined {
  const next = words && nextHint(context, words);
  if (stop?.hint) return next ? `${stop.hint}; then ${next}` : stop.hint;
  if (next && rows.some(isStale)) return `petstore help gateways says what may stand between; then ${next}`;
  if (next) return next;
  return apply ? `correct the rejected rows, then run: ${apply}` : undo && `set back with: ${undo}`;
}

/** The hint for the command that goes on with a run, or with which a person says what happened to a row. */
export function nextHint(context: Context, words: readonly string[]): string {
  const command = followUpCommand(context, words);
  if (words[1] !== 'settle') return `go on with: ${command}`;
  return `look at the record, and say what happened: ${command}, or --as failed`;
}

/** Whether the service has refused the tag that its own reading gave. */
function isStale({ state }: Row): boolean {
  return state.at === 'settled' && state.outcome.reason?.code === 'stale';
}

/** The words of the command that applies a file of rejects, with the flags of the input. */
function applyWords({ kind, noun, flags, delivery }: RunHeader, file: string): string[] {
  const { map, thousands, decimal, relative, again, sum, createMissing } = flags;
  if (kind === 'create' || kind === 'update' || kind === 'delete') return [noun, kind, '--from', file];
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
    await io.stdout.write(summaryText(report, totals, await context.style('stdout')));
  } else await printer.record(toSummaryJson(report, totals, next), summaryView);
}

/** The states in the order of a report: `unprocessed` comes last. */
const reportedStates: readonly Fate[] = [...fates.slice(2), 'unprocessed', 'unsettled'];

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

/** Prints the totals of a run of which nothing is left to do, or that has no rows. A table has only the note before it. */
export async function printNothing(
  context: Context,
  header: RunHeader,
  isPreview: boolean,
  info?: Pick<RunInfo, 'id' | 'counts' | 'left'>,
): Promise<void> {
  const printer = await context.printer();
  if (printer.format === 'table') return;
  if (isPreview) return printer.records([], createPlanView(header.noun, false));
  const { counts, left } = info ?? rowTotals([], header);
  const none = rowTotals([]).counts;
  const session = { rows: 0, ...none };
  const record = {
    ...runFacts(info?.id, header, counts),
    session,
    requests: 0,
    retries: 0,
    seconds: 0,
    rowsPerSecond: 0,
    left,
  };
  await printer.record(withoutUndefined(record), summaryView);
}

function runFacts(run: string | undefined, header: RunHeader, counts: FateCounts) {
  const { kind, noun, target, delivery, undoes, name, rows } = header;
  const facts = { run, kind, noun, name: undoes ?? name, target, delivery: delivery ?? undefined, rows };
  return { ...facts, ...counts };
}

function withoutUndefined(facts: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** Makes a report one JSON object. Facts that are undefined are left out. */
function toSummaryJson(
  report: Report,
  { counts, left }: RunTotals,
  { next, undo }: NextCommands,
): JsonObject {
  const { id, header, rows, planned, deferrals, requests, retries, seconds, rowsPerSecond, rejects, stop } =
    report;
  const failures = groupFailures(rows, deferrals);
  return withoutUndefined({
    ...runFacts(id, header, counts),
    session: { rows: planned.length, ...rowTotals(planned).counts },
    requests,
    retries,
    seconds,
    rowsPerSecond,
    retryable: failures.length === 0 ? undefined : isRetryable(header, rows, counts) && !report.isResumed,
    left,
    rejects,
    next,
    undo,
    stopped: stop?.message,
    failures: failures.map(({ example: { id: rowId, ...example }, ...group }) => ({
      ...group,
      example: { ...example, ...idMember(header.noun, rowId) },
    })),
  });
}

/** The summary for a terminal: the session, the whole run if it has more rows, and the groups of failures. */
function summaryText(report: Report, { counts: all }: RunTotals, style: Style): string {
  const { id, header, rows, planned, deferrals, isResumed, requests, retries, seconds, rowsPerSecond } =
    report;
  const { noun, rows: total } = header;
  const counts = isResumed ? rowTotals(planned).counts : all;
  const rowCount = isResumed ? planned.length : total;
  const isAllUnchanged = counts.applied === 0 && counts.unchanged + counts.booked === rowCount;
  const facts = [
    isAllUnchanged
      ? unchangedText(header, rowCount)
      : `applied ${groupDigits(counts.applied)} of ${counted(rowCount, 'row', 'rows')} in ${elapsedText(seconds)}`,
    counted(requests, 'request', 'requests'),
    ...(retries > 0 ? [counted(retries, 'retry', 'retries')] : []),
    ...(seconds >= 1 ? [`${groupDigits(rowsPerSecond)} rows/s`] : []),
  ];
  const describeStates = (counts: FateCounts, excluded?: Fate) =>
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
  for (const { state, count, kind, example } of groupFailures(rows, deferrals)) {
    const paint = state === 'failed' ? style.red : style.yellow;
    lines.push(paint(`${groupDigits(count)} x  ${sanitize(`${state}: ${kind}`)}`));
    const text = describeExample(example, rowWords(noun).record);
    lines.push(style.dim(`    ${text}`));
  }
  if (!isResumed) lines.push(style.dim(`run ${id}`));
  return `${lines.join('\n')}\n`;
}

function unchangedText({ kind, flags }: RunHeader, rows: number): string {
  if (kind === 'undo') return `nothing to undo: ${counted(rows, 'row needs', 'rows need')} no write`;
  if (flags.relative) return `nothing to do: ${counted(rows, 'row needs', 'rows need')} no write`;
  return `nothing to do: ${counted(rows, 'row is', 'rows are')} as the file says`;
}

function stateWord(state: Fate): string {
  return state === 'unprocessed' ? 'not processed' : state;
}

function elapsedText(seconds: number): string {
  return `${seconds < 10 ? seconds.toFixed(2) : groupDigits(Math.round(seconds))} s`;
}

function paintState(style: Style, state: Fate): (text: string) => string {
  if (state === 'applied') return style.green;
  if (state === 'failed' || state === 'invalid') return style.red;
  return state === 'unchanged' || state === 'booked' ? (text) => text : style.yellow;
}
