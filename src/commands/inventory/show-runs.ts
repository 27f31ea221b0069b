import { basename } from 'node:path';
import { changeOf } from '../../bulk/make-plan.ts';
import type { Count } from '../../bulk/number-lists.ts';
import type { JournalImage } from '../../bulk/read-journal.ts';
import type { Reason, RowState } from '../../bulk/rows.ts';
import type { RunInfo } from '../../bulk/run-store.ts';
import type { Context } from '../../context.ts';
import type { Column, View } from '../../output/columns.ts';
import { inPages } from '../../output/print.ts';
import { shorten } from '../../process/text.ts';
import { Names } from '../../records/names.ts';
import type { IdOrName } from '../../records/parse-values.ts';
import { runStore } from './session.ts';

interface RunRecord extends Readonly<Record<RowState, number>> {
  readonly id: string;
  readonly kind: string;
  /** The input without its folder; of an undo, the run that it undoes. */
  readonly file: string;
  readonly target: string;
  readonly state: string;
  readonly started: string;
  readonly rows: number;
  /** The last undo of it. */
  readonly undoneBy: string | undefined;
}

/** @param isForPeople whether the rows are to fit a terminal of 80 columns. */
const runsView = (isForPeople: boolean): View<RunRecord> => ({
  noun: 'runs',
  columns: [
    { name: 'id', value: ({ id }) => id },
    { name: 'kind', value: ({ kind }) => kind },
    { name: 'file', value: ({ file }) => (isForPeople ? shorten(file, 17) : file) },
    {
      name: 'started',
      value: ({ started }) => (isForPeople ? started.slice(5, 16).replace('T', ' ') : started),
    },
    { name: 'state', value: ({ state }) => state, status: true },
    countColumn('rows'),
    countColumn('applied'),
    { ...countColumn('failed'), spare: true },
    { ...countColumn('unknown'), spare: true },
    { ...countColumn('unchanged'), spare: true },
    { ...countColumn('unprocessed'), spare: true },
    { ...countColumn('invalid'), extra: true },
    { ...countColumn('skipped'), extra: true },
    { name: 'target', value: ({ target }) => target, spare: true },
    { name: 'undoneBy', value: ({ undoneBy }) => undoneBy, extra: true },
  ],
});

function countColumn(name: 'rows' | RowState): Column<RunRecord> {
  return { name, value: (run) => run[name], align: 'right' };
}

interface Filter {
  readonly limit?: number | undefined;
  /** Only runs that wrote this pet. */
  readonly pet?: IdOrName | undefined;
}

/** Prints the runs that this machine has kept, the newest first. */
export async function listRuns(context: Context, { limit, pet }: Filter): Promise<void> {
  const printer = await context.printer();
  const view = runsView(printer.format === 'table');
  await printer.check(view);
  const petId =
    typeof pet === 'string' ? await new Names(context, await context.client()).idOf('pets', pet) : pet;
  await printer.records(readRuns(context, petId), view, { limit });
}

async function* readRuns(context: Context, petId: bigint | undefined): AsyncGenerator<RunRecord[]> {
  const store = runStore(context);
  const { runs, unreadable } = await store.all();
  for (const { problem } of unreadable) await context.print(`warning: ${problem.message}`);
  // One page, so that the columns of a pipe have one width.
  if (petId === undefined) return yield runs.map(toRecord);
  for (const each of runs) if (hasWritten(await store.read(each.header.run), petId)) yield [toRecord(each)];
}

function hasWritten({ rows }: JournalImage, petId: bigint): boolean {
  const row = rows.find(petId);
  return row !== undefined && rows.mayHaveBeenWritten(row);
}

function toRecord({ header, state, counts, undo }: RunInfo): RunRecord {
  const { run: id, kind, undoes, target, started, rows } = header;
  const file = undoes ?? basename(header.name);
  return { id, kind, file, target, state, started, rows, ...counts, undoneBy: undo?.header.run };
}

/** One row of a run. */
interface OutcomeRecord {
  readonly petId: bigint;
  readonly before: Count | undefined;
  readonly after: Count | undefined;
  readonly change: number | undefined;
  readonly state: RowState;
  readonly reason: Reason | undefined;
  readonly line: number;
}

const outcomesView: View<OutcomeRecord> = {
  noun: 'rows',
  columns: [
    { name: 'petId', value: ({ petId }) => petId, align: 'right' },
    { name: 'before', value: ({ before }) => before, align: 'right' },
    { name: 'after', value: ({ after }) => after, align: 'right' },
    { name: 'change', value: ({ change }) => change, align: 'right' },
    { name: 'state', value: ({ state }) => state, status: true },
    { name: 'code', value: ({ reason }) => reason?.code, spare: true },
    { name: 'message', value: ({ reason }) => reason?.message, spare: true },
    { name: 'line', value: ({ line }) => line, align: 'right', extra: true },
  ],
};

/** Prints the outcome of each row of a run, except of rows that it left alone. */
export async function showRun(context: Context, run: string): Promise<void> {
  const printer = await context.printer();
  await printer.check(outcomesView);
  const runs = runStore(context);
  const { state } = await runs.find(run);
  const image = await runs.read(run);
  await printer.records(inPages(outcomesOf(image, state === 'running')), outcomesView);
}

function* outcomesOf({ rows }: JournalImage, isRunning: boolean): Generator<OutcomeRecord> {
  for (let row = 0; row < rows.length; row += 1) {
    const before = rows.before(row);
    // A row that could not be planned has nothing to write.
    const after = before === undefined ? undefined : rows.after(row);
    const change = before === undefined ? undefined : changeOf(before, rows.after(row));
    const reason = rows.reason(row);
    const known = rows.state(row);
    const state = isRunning && known === 'unknown' && !reason ? 'unprocessed' : known;
    yield { petId: rows.id(row), before, after, change, state, reason, line: rows.line(row) };
  }
}
