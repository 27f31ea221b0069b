import { basename } from 'node:path';
import { nouns } from '../api/nouns.ts';
import { type Context, followUpCommand } from '../context.ts';
import { type Column, propertyColumns, type View } from '../output/columns.ts';
import type { Notice } from '../output/messages.ts';
import type { Output } from '../output/printer.ts';
import type { Style } from '../output/style.ts';
import { CliError, type ErrorKind } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { countText, groupDigits, joinFirst, sanitize, shorten } from '../process/text.ts';
import { reasonRule } from '../writes/reasons.ts';
import { reasonOf } from '../writes/row.ts';
import { followUpOf, rejectsCommand, type UnwrittenPart } from './follow-up.ts';
import { failureText, groupFailures } from './row-view.ts';
import { type RowCounts, type Run, rowCountOf, runKinds, runName, shardName, targetName } from './run.ts';
import { idOfRow, type RunRow, rowName, rowStates } from './run-row.ts';

export interface Report {
  readonly run: Run;
  readonly rows: readonly RunRow[];
  readonly isFirstSession: boolean;
  /** The time of the writing of this session. */
  readonly seconds: number;
  readonly stop: CliError | undefined;
  /** The path of the file of rejects of this session, as the user may type it. */
  readonly rejects: string | undefined;
  /** Why the session could not write its end, and what of it. A resume writes it, unless the journal is gone. */
  readonly unwritten: { readonly part: UnwrittenPart | undefined; readonly error: CliError } | undefined;
}

/** The facts of a run as JSON: in the list of runs, and in the report of a session. */
export function toRunJson(run: Partial<Run> & Pick<Run, 'header' | 'counts'>): JsonObject {
  const { id, header, started, state, counts, leftCount, rejects, undo } = run;
  const { kind, noun, undoes, target, delivery, flags, profile, name } = header;
  const { shard } = flags;
  return {
    id,
    kind,
    noun,
    file: undoes ?? basename(name),
    shard: shard ? shardName(shard) : undefined,
    target: targetName(target),
    profile,
    delivery,
    started,
    state,
    rows: rowCountOf(counts),
    ...counts,
    left: leftCount,
    rejects,
    undoneBy: undo?.id,
  } as JsonObject;
}

/**
 * A report as one JSON object: the facts of the run, and the facts of the session.
 *
 * @param next the command that continues the run, unless it is finished.
 * @param undo the command that takes it back, if it wrote rows and can be undone.
 */
function toReportJson(report: Report, next: string | undefined, undo: string | undefined): JsonObject {
  const { run, rows, seconds, rejects, stop } = report;
  const { idField } = nouns[run.header.noun];
  return {
    ...toRunJson(run),
    seconds,
    rejects,
    next,
    undo,
    stopped: stop?.message,
    failures: groupFailures(rows).map(({ code, state, count, first: { line, id, state: rowState } }) => {
      const { message, requestId } = reasonOf(rowState) ?? {};
      return { kind: code, state, count, example: { line, [idField]: id, message, requestId } };
    }),
  } as JsonObject;
}

/** Returns the error of a session or of a finished run. There is none if every row is applied, unchanged, booked or skipped. */
export function runErrorOf(
  { header, counts }: Pick<Run, 'header' | 'counts'>,
  stop?: CliError | undefined,
  hint?: string | undefined,
): CliError | undefined {
  const states = (['failed', 'unknown', 'invalid', 'unprocessed', 'unsettled'] as const)
    .filter((state) => counts[state] > 0)
    .map((state) => `${groupDigits(counts[state])} ${state}`);
  if (!stop && states.length === 0) return undefined;
  const facts = [
    ...(stop ? [`stopped: ${stop.message}`] : []),
    ...(states.length > 0 ? [`${states.join(', ')} of ${countText(rowCountOf(counts), 'row', 'rows')}`] : []),
  ];
  // For the kinds partial and failed the counts decide, because rows may have been written before the stop.
  const stopKind = stop?.kind === 'partial' || stop?.kind === 'failed' ? undefined : stop?.kind;
  return new CliError(
    stopKind ?? kindOf(counts, header.undoes !== undefined),
    `${runName(header)}: ${facts.join('; ')}`,
    { hint, signal: stop?.details.signal, isPerhapsApplied: counts.unknown > 0 },
  );
}

/**
 * Returns the kind of error for a run with rows that failed, are unknown or were not processed. It is `partial` if other rows
 * succeeded, and for an undo, which need not take back every row. It is `unavailable` if every row is unknown.
 */
function kindOf(counts: RowCounts, isUndo: boolean): ErrorKind {
  const { applied, unchanged, booked, failed, unknown, invalid, unprocessed, unsettled } = counts;
  if (applied + unchanged + booked > 0) return 'partial';
  if (unknown === 0) return isUndo ? 'partial' : 'failed';
  return failed + invalid + unprocessed + unsettled === 0 ? 'unavailable' : 'partial';
}

const fileOf = ({ file, shard }: JsonObject) => (shard === undefined ? file : `${file} ${shard}`);

const shownColumns: readonly Column<JsonObject>[] = [
  { name: 'id', value: ({ id }) => id },
  { name: 'kind', value: ({ kind }) => kind },
  {
    name: 'file',
    value: fileOf,
    // A run takes 80 columns.
    text: (run, isTerminal) => (isTerminal ? shorten(String(fileOf(run)), 13) : undefined),
  },
  { name: 'started', value: ({ started }) => started, isTime: true },
  { name: 'state', value: ({ state }) => state, isState: true },
  { name: 'applied', value: ({ applied }) => applied, align: 'right' },
  { name: 'rows', value: ({ rows }) => rows, align: 'right' },
];

/** The further members of the JSON of a run. They are columns if `--fields` names them. */
const namedColumns = [
  ...propertyColumns(['noun', 'shard', 'target', 'profile', 'delivery', 'undoneBy', 'rejects']),
  ...propertyColumns(['left', ...rowStates.filter((state) => state !== 'applied')]).map((column) => ({
    ...column,
    align: 'right' as const,
  })),
].map((column) => ({ ...column, isHidden: true as const }));

/** The columns of a run, in the list of runs and in the report of a session. */
export const runsView: View<JsonObject> = { plural: 'runs', columns: [...shownColumns, ...namedColumns] };

/** Returns the output of a session: its summary, its notes, and the error of `runErrorOf`. */
export async function reportOutput(context: Context, report: Report): Promise<Output> {
  const { run, rows, stop, rejects, unwritten } = report;
  const { id, header, perhapsWrittenCount } = run;
  const { fields, sort } = context.flags;
  const next = followUpOf(context, run, rows, unwritten?.part);
  const canUndo =
    runKinds[header.kind].canBeUndone && perhapsWrittenCount > 0 && unwritten?.part !== 'journal';
  const undo = canUndo ? followUpCommand(context, ['undo', id]) : undefined;
  const error = runErrorOf(run, stop, reportHint(context, report, next?.hint));
  const leftAlone = header.undoes === undefined ? [] : rows.filter(({ state }) => state.kind === 'failed');
  const notices: Notice[] = [];
  if (error && unwritten && unwritten.error.message !== stop?.message)
    notices.push(['warning', unwritten.error.message]);
  if (rejects !== undefined) notices.push(['summary', `rejected rows are in ${rejects}`]);
  if (leftAlone.length > 0) {
    const names = leftAlone.map((row) => (row.id === undefined ? rowName(row) : `id ${row.id}`));
    const count = countText(names.length, 'row', 'rows');
    notices.push(['summary', `${count} left alone: ${joinFirst(names, 10)}`]);
  }
  if (!error && undo !== undefined) notices.push(['status', `undo with: ${undo}`]);
  const ending = {
    notices,
    warningIfUnprinted: `the report of run ${id} could not be printed`,
    error: error ?? unwritten?.error.with({ hint: next?.hint ?? noJournalHint }),
  };
  const { content } = context.printer;
  const json = toReportJson(report, next?.command, undo);
  if (content === 'ids' && header.kind === 'create')
    return {
      kind: 'text',
      text: rows
        .flatMap((row) => idOfRow(row) ?? [])
        .map((made) => `${made}\n`)
        .join(''),
      data: json,
      ...ending,
    };
  if (content !== 'text' || fields !== undefined || sort !== undefined)
    return { kind: 'record', record: json, ...ending };
  return { kind: 'text', text: summaryText(report, await context.style('stdout')), data: json, ...ending };
}

const noJournalHint =
  'put the journal back if it was moved; else check the records: without its journal the run can be neither resumed nor undone, and petstore does not know what it booked';

function reportHint(context: Context, report: Report, next: string | undefined): string | undefined {
  const { run, rows, stop, rejects, unwritten } = report;
  if (unwritten?.part === 'journal') return noJournalHint;
  const isStale = rows.some((row) => reasonOf(row.state)?.code === 'stale');
  const first = stop?.details.hint ?? (isStale ? reasonRule('stale').hint : undefined);
  if (first && next) return `${first}; then ${next}`;
  if (first || next) return first ?? next;
  const booked = rows.map(({ state }) => reasonOf(state)).find((why) => why?.code === 'booked_otherwise');
  if (booked?.waitsFor)
    return `take the booking back with ${followUpCommand(context, ['undo', booked.waitsFor.run])} and apply the whole file again, or book the difference under another --delivery`;
  return rejects && `correct what can be corrected, then run: ${rejectsCommand(context, run, rejects)}`;
}

/** The summary for a terminal: the run, its session, and the groups of failures. */
function summaryText(report: Report, style: Style): string {
  const { run, rows, isFirstSession, seconds } = report;
  const { id, header, counts } = run;
  const rowCount = rowCountOf(counts);
  const facts =
    counts.unchanged + counts.booked === rowCount
      ? `nothing to do: ${countText(rowCount, 'row needs', 'rows need')} no write`
      : `applied ${groupDigits(counts.applied)} of ${countText(rowCount, 'row', 'rows')}${isFirstSession ? ` in ${seconds.toFixed(2)} s` : ''}`;
  const stateTexts = rowStates
    .filter((state) => state !== 'applied' && counts[state] > 0)
    .map((state) => `${groupDigits(counts[state])} ${state}`);
  const lines = [counts.applied === rowCount ? style.green(facts) : facts];
  if (stateTexts.length > 0) lines.push(stateTexts.join(', '));
  for (const { state, count, code, first } of groupFailures(rows)) {
    const paint = state === 'failed' ? style.red : style.yellow;
    lines.push(paint(`${groupDigits(count)} x  ${sanitize(`${state}: ${code}`)}`));
    lines.push(style.dim(`    ${failureText(first, header)}`));
  }
  return `${[...lines, style.dim(`run ${id}`)].join('\n')}\n`;
}
