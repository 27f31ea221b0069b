import { basename } from 'node:path';
import type { NounName } from '../../api/operations.ts';
import type { Reason, Value } from '../../bulk/decide.ts';
import { changeOf } from '../../bulk/plan.ts';
import type { JournalContent } from '../../bulk/read-journal.ts';
import { isPerhapsWritten, type RowState, stateOf } from '../../bulk/rows.ts';
import { findRun, listRuns, type RunInfo, readRun, runFolderOf } from '../../bulk/run-store.ts';
import { rowWords } from '../../bulk/value-access.ts';
import type { Context } from '../../context.ts';
import type { Column, View } from '../../output/columns.ts';
import { inPages, type Output } from '../../output/print.ts';
import { shorten } from '../../process/text.ts';
import { Names } from '../../records/names.ts';
import type { IdOrName } from '../../records/parse-values.ts';
import { idMember, type PrintedRow, rowColumns } from './row-columns.ts';

interface RunRecord extends Readonly<Record<RowState, number>> {
  readonly id: string;
  readonly kind: string;
  readonly noun: string;
  /** The input without its folder. An undo has the id of the run that it undoes. */
  readonly file: string;
  readonly target: string;
  readonly state: string;
  readonly started: string;
  readonly rows: number;
  /** The number of rows without an outcome that a killed session may have written. `unprocessed` does not count them. */
  readonly unsettled: number;
  readonly delivery: string | undefined;
  /** The id of the last undo of the run. */
  readonly undoneBy: string | undefined;
}

/** @param isTerminal whether the lines must fit into a terminal of 80 columns. */
const createRunsView = (isTerminal: boolean): View<RunRecord> => ({
  plural: 'runs',
  columns: [
    { name: 'id', value: ({ id }) => id },
    { name: 'kind', value: ({ kind }) => kind },
    { name: 'noun', value: ({ noun }) => noun },
    { name: 'file', value: ({ file }) => (isTerminal ? shorten(file, 17) : file) },
    { name: 'started', value: ({ started }) => started, time: 'distance' },
    { name: 'state', value: ({ state }) => state, isStatus: true },
    countColumn('rows'),
    countColumn('applied'),
    { ...countColumn('failed'), isDroppable: true },
    { ...countColumn('unknown'), isDroppable: true },
    { ...countColumn('unchanged'), isDroppable: true },
    { ...countColumn('unprocessed'), isDroppable: true },
    { ...countColumn('unsettled'), isDroppable: true },
    { ...countColumn('invalid'), isHidden: true },
    { ...countColumn('skipped'), isHidden: true },
    { name: 'target', value: ({ target }) => target, isDroppable: true },
    { name: 'delivery', value: ({ delivery }) => delivery, isDroppable: true },
    { name: 'undoneBy', value: ({ undoneBy }) => undoneBy, isHidden: true },
  ],
});

function countColumn(name: 'rows' | 'unsettled' | RowState): Column<RunRecord> {
  return { name, value: (run) => run[name], align: 'right' };
}

interface RunFilter {
  readonly limit?: number | undefined;
  /** Only runs that wrote this pet or its count. */
  readonly pet?: IdOrName | undefined;
}

/** Returns the columns of the list of runs. */
export function runsView({ io, settings }: Context): View<object> {
  return createRunsView(io.stdout.isTerminal && settings.get('output') === 'table');
}

/** Reads the runs that this machine has kept, the newest first. */
export async function findRuns(context: Context, { limit, pet }: RunFilter): Promise<Output> {
  const petId =
    typeof pet === 'string' ? await new Names(context, await context.client()).idOf('pets', pet) : pet;
  return { pages: readRuns(context, petId), limit };
}

async function* readRuns(context: Context, petId: bigint | undefined): AsyncGenerator<RunRecord[]> {
  const { folder, runs, unreadable } = await listRuns(runFolderOf(context.io));
  for (const { problem } of unreadable) await context.print(`warning: ${problem.message}`);
  // All runs are one page, because the columns of a pipe have the same width only within a page.
  if (petId === undefined) return yield runs.map(toRunRecord);
  for (const info of runs)
    if (hasWrittenPet(await readRun(folder, info.id), petId)) yield [toRunRecord(info)];
}

function hasWrittenPet({ rows, header }: JournalContent, petId: bigint): boolean {
  const row = rows.get(petId);
  const isOfPet = rowWords(header.noun).record === 'pet';
  return isOfPet && row !== undefined && isPerhapsWritten(row);
}

function toRunRecord({ id, header, started, state, counts, unsettled, undo }: RunInfo): RunRecord {
  const { kind, noun, undoes, target, rows, delivery } = header;
  const file = undoes ?? basename(header.name);
  const unprocessed = counts.unprocessed - unsettled;
  return {
    id,
    kind,
    noun,
    file,
    target,
    state,
    started,
    rows,
    ...counts,
    unprocessed,
    unsettled,
    delivery: delivery ?? undefined,
    undoneBy: undo?.id,
  };
}

/** A row of a run with its outcome, as it is printed. */
interface SettledRow extends PrintedRow {
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly reason: Reason | undefined;
}

function createOutcomesView(noun: NounName): View<SettledRow> {
  const { id, change, state, line } = rowColumns(noun);
  return {
    plural: 'rows',
    columns: [
      id,
      { name: 'before', value: ({ before }) => before, align: 'right' },
      { name: 'after', value: ({ after }) => after, align: 'right' },
      ...change,
      state,
      { name: 'code', value: ({ reason }) => reason?.code, isDroppable: true },
      { name: 'message', value: ({ reason }) => reason?.message, isDroppable: true },
      line,
    ],
  };
}

/** Returns the columns of the rows of a run. @throws UsageError if there is no such run. */
export async function outcomesView({ io }: Context, id: string): Promise<View<object>> {
  return createOutcomesView(findRun(await listRuns(runFolderOf(io)), id).header.noun);
}

/** Reads the outcome of each row of a run. */
export async function readOutcomes({ io }: Context, id: string): Promise<Output> {
  const folder = runFolderOf(io);
  const { state } = findRun(await listRuns(folder), id);
  const journal = await readRun(folder, id);
  return { pages: inPages(settledRows(journal, state === 'running')) };
}

function* settledRows({ header, rows, end }: JournalContent, isRunning: boolean): Generator<SettledRow> {
  for (const row of rows.values()) {
    const { id, line, before, after, outcome } = row;
    const change = before === undefined ? undefined : changeOf(row);
    const state = !outcome && !end && !isRunning ? 'unsettled' : stateOf(row);
    yield {
      ...idMember(header.noun, id),
      before,
      after,
      change,
      state,
      reason: outcome?.reason,
      line,
    };
  }
}
