import type { State } from '../../bulk/rows.ts';
import type { RunInfo, RunStore } from '../../bulk/runs.ts';
import type { Context } from '../../context.ts';
import type { Column, View } from '../../output/columns.ts';
import { infoOrWarning, runStore } from './bulk/jobs.ts';

/** Prints the runs that this machine has kept, the newest first. */
export async function listRuns(context: Context): Promise<void> {
  const printer = await context.printer();
  await printer.records(readRuns(context, runStore(context)), runsView);
}

interface RunRow extends Readonly<Record<State, number>> {
  readonly id: string;
  readonly kind: string;
  /** The input as it was named; for an undo, the run that it took back. */
  readonly file: string;
  readonly target: string;
  readonly state: string;
  readonly started: string;
  readonly rows: number;
  readonly by: string | undefined;
}

const runsView: View<RunRow> = {
  noun: 'runs',
  columns: [
    { name: 'id', value: ({ id }) => id },
    { name: 'file', value: ({ kind, file }) => (kind === 'undo' ? `undo ${file}` : file) },
    { name: 'target', value: ({ target }) => target, spare: true },
    { name: 'state', value: ({ state }) => state, status: true },
    countColumn('rows'),
    countColumn('applied'),
    { ...countColumn('unchanged'), spare: true },
    countColumn('failed'),
    { ...countColumn('unknown'), spare: true },
    { ...countColumn('unprocessed'), spare: true },
    { ...countColumn('invalid'), extra: true },
    { ...countColumn('skipped'), extra: true },
    { name: 'kind', value: ({ kind }) => kind, extra: true },
    { name: 'started', value: ({ started }) => started, extra: true },
    { name: 'by', value: ({ by }) => by, extra: true },
  ],
};

function countColumn(name: 'rows' | State): Column<RunRow> {
  return { name, value: (row) => row[name], align: 'right' };
}

async function* readRuns(context: Context, runs: RunStore): AsyncGenerator<RunRow[]> {
  for (const id of await runs.ids()) {
    const info = await infoOrWarning(context, runs, id);
    if (info) yield [toRow(info)];
  }
}

function toRow({ header, state, by, counts }: RunInfo): RunRow {
  const { run: id, kind, name: file, target, started, rows } = header;
  return { id, kind, file, target, state, started, rows, ...counts, by };
}
