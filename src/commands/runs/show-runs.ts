import { basename } from 'node:path';
import type { NounName } from '../../api/operations.ts';
import type { Reason, Value } from '../../bulk/decide.ts';
import { changeOf } from '../../bulk/plan.ts';
import type { JournalContent } from '../../bulk/read-journal.ts';
import { isPerhapsWritten, type RowState, stateOf } from '../../bulk/rows.ts';
import { findRun, listRuns, type RunInfo, readRun } from '../../bulk/run-store.ts';
import { rowWords } from '../../bulk/value-access.ts';
import type { Context } from '../../context.ts';
import type { Column, View } from '../../output/columns.ts';
import { inPages } from '../../output/print.ts';
import { shorten } from '../../process/text.ts';
import { Names } from '../../records/names.ts';
import type { IdOrName } from '../../records/parse-values.ts';
import { runFolderOf } from './run-session.ts';
import { idColumn } from './show-plan.ts';

interface RunRecord extends Readonly<Record<RowState, number>> {
  readonly id: string;
  readonly kind: string;
  readonly noun: string;
  /** The input without its folder; for an undo, the run that it undoes. */
  readonly file: string;
  readonly target: string;
  readonly state: string;
  readonly started: string;
  readonly rows: number;
  /** Rows of a killed session without an outcome; they are not among the unprocessed ones. */
  readonly unsettled: number;
  readonly delivery: string | undefined;
  /** The last undo of it. */
  readonly undoneBy: string | undefined;
}

/** @param isTerminal whether the rows are to fit a terminal of 80 columns. */
const runsView = (isTerminal: boolean): View<RunRecord> => ({
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

interface Filter {
  readonly limit?: number | undefined;
  /** Only runs that wrote this pet. */
  readonly pet?: IdOrName | undefined;
}

/** Prints the runs that this machine has kept, the newest first. */
export async function printRuns(context: Context, { limit, pet }: Filter): Promise<void> {
  const printer = await context.printer();
  const view = runsView(context.io.stdout.isTerminal && printer.format === 'table');
  await printer.requireColumns(view);
  const petId =
    typeof pet === 'string' ? await new Names(context, await context.client()).idOf('pets', pet) : pet;
  await printer.records(readRuns(context, petId), view, { limit });
}

async function* readRuns(context: Context, petId: bigint | undefined): AsyncGenerator<RunRecord[]> {
  const { folder, runs, unreadable } = await listRuns(runFolderOf(context));
  for (const { problem } of unreadable) await context.print(`warning: ${problem.message}`);
  // One page, so that the columns of a pipe have one width.
  if (petId === undefined) return yield runs.map(toRunRecord);
  for (const info of runs) if (hasWritten(await readRun(folder, info.id), petId)) yield [toRunRecord(info)];
}

function hasWritten({ rows, header }: JournalContent, petId: bigint): boolean {
  const row = rows.get(petId);
  const isOfPet = rowWords(header.noun).record === 'pet';
  return isOfPet && row !== undefined && isPerhapsWritten(row);
}

function toRunRecord({ id, header, started, state, counts, unsettled, undo }: RunInfo): RunRecord {
  const { kind, noun, undoes, target, rows, delivery } = header;
  const file = undoes ?? basename(header.name);
  const unprocessed = counts.unprocessed - unsettled;
  return {
    ...{ id, kind, noun, file, target, state, started, rows },
    ...{ ...counts, unprocessed, unsettled },
    delivery: delivery ?? undefined,
    undoneBy: undo?.id,
  };
}

/** One row of a run. */
interface OutcomeRecord {
  /** `petId` for a count. */
  readonly petId?: bigint;
  readonly id?: bigint;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly change: number | undefined;
  readonly state: string;
  readonly reason: Reason | undefined;
  readonly line: number;
}

const outcomesView = (noun: NounName): View<OutcomeRecord> => ({
  plural: 'rows',
  columns: [
    idColumn(noun),
    { name: 'before', value: ({ before }) => before, align: 'right' },
    { name: 'after', value: ({ after }) => after, align: 'right' },
    ...(noun === 'inventory'
      ? [{ name: 'change', value: ({ change }: OutcomeRecord) => change, align: 'right' } as const]
      : []),
    { name: 'state', value: ({ state }) => state, isStatus: true },
    { name: 'code', value: ({ reason }) => reason?.code, isDroppable: true },
    { name: 'message', value: ({ reason }) => reason?.message, isDroppable: true },
    { name: 'line', value: ({ line }) => line, align: 'right', isHidden: true },
  ],
});

/** Prints what became of each row of a run. */
export async function printRun(context: Context, run: string): Promise<void> {
  const printer = await context.printer();
  const folder = runFolderOf(context);
  const { state, header } = findRun(await listRuns(folder), run);
  const view = outcomesView(header.noun);
  await printer.requireColumns(view);
  const image = await readRun(folder, run);
  await printer.records(inPages(outcomesOf(image, state === 'running')), view);
}

function* outcomesOf({ header, rows, end }: JournalContent, isRunning: boolean): Generator<OutcomeRecord> {
  for (const row of rows.values()) {
    const { id, line, before, after, outcome } = row;
    const change = before === undefined ? undefined : changeOf(row);
    const state = !outcome && !end && !isRunning ? 'unsettled' : stateOf(row);
    yield {
      ...(header.noun === 'inventory' ? { petId: id } : { id }),
      before,
      after,
      change,
      state,
      reason: outcome?.reason,
      line,
    };
  }
}
