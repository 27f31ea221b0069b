import { confirmDestruction } from '../../asking.ts';
import type { OutcomeLine } from '../../bulk/journal-lines.ts';
import { type JournalImage, readJournal } from '../../bulk/journal-reader.ts';
import type { State } from '../../bulk/rows.ts';
import type { Context } from '../../context.ts';
import type { Column, View } from '../../output/columns.ts';
import { CliError, UsageError } from '../../process/errors.ts';
import { counted } from '../../process/text.ts';
import { Names } from '../../records/names.ts';
import type { IdOrName } from '../../records/values.ts';
import { bookedForMs } from './deliveries.ts';
import { readableRuns } from './earlier.ts';
import { runStore, targetOf } from './job.ts';

/** Prints the runs kept on this machine, the newest first. */
export async function listRuns(context: Context): Promise<void> {
  const printer = await context.printer();
  await printer.records(readRuns(context), runsView);
}

interface RunRecord extends Readonly<Record<State, number>> {
  readonly id: string;
  readonly kind: string;
  /** The input as the user named it; for an undo, the run that it undoes. */
  readonly file: string;
  readonly target: string;
  readonly state: string;
  readonly started: string;
  readonly rows: number;
  readonly by: string | undefined;
}

const runsView: View<RunRecord> = {
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

function countColumn(name: 'rows' | State): Column<RunRecord> {
  return { name, value: (run) => run[name], align: 'right' };
}

async function* readRuns(context: Context): AsyncGenerator<RunRecord[]> {
  for await (const { header, state, by, counts } of readableRuns(context)) {
    const { run: id, kind, name: file, target, started, rows } = header;
    yield [{ id, kind, file, target, state, started, rows, ...counts, by }];
  }
}

/** Prints the outcome of each row of a run, except of rows that it left alone. */
export async function showRun(context: Context, text: string): Promise<void> {
  const printer = await context.printer();
  await printer.check(changesView);
  const run = await runStore(context).resolve(text);
  await printer.records(readChanges(context, run), changesView);
}

/** One row of a run. */
interface OutcomeRecord {
  readonly run: string;
  readonly target: string;
  readonly started: string;
  readonly file: string;
  readonly petId: bigint;
  readonly before: number | null | undefined;
  readonly after: number | null;
  readonly state: State;
  readonly outcome: OutcomeLine | undefined;
}

const outcomeColumns: readonly Column<OutcomeRecord>[] = [
  { name: 'before', value: ({ before }) => before, align: 'right' },
  { name: 'after', value: ({ after }) => after, align: 'right' },
  {
    name: 'change',
    value: ({ before, after }) => (before === undefined ? undefined : (after ?? 0) - (before ?? 0)),
    align: 'right',
  },
  { name: 'state', value: ({ state }) => state, status: true },
  { name: 'code', value: ({ outcome }) => outcome?.code, spare: true },
  { name: 'message', value: ({ outcome }) => outcome?.message, spare: true },
];

const changesView: View<OutcomeRecord> = {
  noun: 'rows',
  columns: [{ name: 'petId', value: ({ petId }) => petId, align: 'right' }, ...outcomeColumns],
};

const logView: View<OutcomeRecord> = {
  noun: 'runs',
  columns: [
    { name: 'run', value: ({ run }) => run },
    { name: 'started', value: ({ started }) => started },
    { name: 'file', value: ({ file }) => file },
    ...outcomeColumns,
    { name: 'target', value: ({ target }) => target, extra: true },
  ],
};

async function* readChanges(context: Context, run: string): AsyncGenerator<OutcomeRecord[]> {
  const image = await readRun(context, run);
  const { rows } = image;
  let page: OutcomeRecord[] = [];
  for (let row = 0; row < rows.length; row += 1) {
    if (rows.id(row) === noId) continue;
    page.push(toRecord(image, row));
    if (page.length < 1000) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/** The id of a row that its run left alone, or that a blind run was perhaps sending when it was killed. */
const noId = 0n;

function readRun(context: Context, run: string): Promise<JournalImage> {
  const runs = runStore(context);
  return readJournal(runs.pathOf(run), { unsettled: runs.isRunning(run) ? 'unprocessed' : 'unknown' });
}

function toRecord({ header, rows, failures }: JournalImage, row: number): OutcomeRecord {
  const { run, target, kind, name, started } = header;
  return {
    run,
    target,
    started,
    file: kind === 'undo' ? `undo ${name}` : name,
    petId: rows.id(row),
    before: rows.before(row),
    after: rows.quantity(row),
    state: rows.state(row),
    outcome: failures.get(row),
  };
}

/** Prints the runs that set, or may have set, the count of a pet, the newest first. */
export async function logPet(context: Context, pet: IdOrName): Promise<void> {
  const printer = await context.printer();
  await printer.check(logView);
  const petId =
    typeof pet === 'bigint' ? pet : await new Names(context, await context.client()).idOf('pets', pet);
  const here = await targetOf(context);
  let elsewhere = 0;
  async function* told() {
    for await (const found of readLog(context, petId)) {
      elsewhere += found.filter(({ target }) => target !== here).length;
      yield found;
    }
  }
  await printer.records(told(), logView);
  // Another service may have given the same id to another pet.
  if (here !== '' && elsewhere > 0)
    await context.note(`note: ${elsewhere} of these runs did not write to ${here}: see --fields run,target`);
}

async function* readLog(context: Context, petId: bigint): AsyncGenerator<OutcomeRecord[]> {
  for (const run of await runStore(context).ids()) {
    const image = await readRun(context, run).catch(async (error) => {
      if (!(error instanceof CliError)) throw error;
      await context.notice(`warning: ${error.message}`);
    });
    if (!image) continue;
    const found = findSent(image, petId);
    if (found) yield [found];
    else if (hasUnnamed(image))
      await context.notice(`warning: run ${run} was killed; with --blind it may have set this pet too`);
  }
}

/** The row of a run that set, or may have set, the count of a pet. */
function findSent(image: JournalImage, petId: bigint): OutcomeRecord | undefined {
  const { rows } = image;
  for (let row = 0; row < rows.length; row += 1) {
    if (rows.id(row) !== petId || !rows.wasSent(row)) continue;
    const record = toRecord(image, row);
    // An earlier session has sent it.
    return record.state === 'unprocessed' ? { ...record, state: 'unknown' } : record;
  }
  return undefined;
}

/** Whether a blind run was perhaps sending rows when it was killed: its journal does not name their pets. */
function hasUnnamed({ rows }: JournalImage): boolean {
  for (const row of rows.inState('unknown')) if (rows.id(row) === noId) return true;
  return false;
}

/** Discards an unfinished run: it can no longer be resumed, but still be undone. */
export async function discardRun(context: Context, text: string): Promise<void> {
  const runs = runStore(context);
  const run = await runs.resolve(text);
  await runs.holdRun(run, async () => {
    try {
      const ended = (await readJournal(runs.pathOf(run))).ending?.ended;
      if (ended !== undefined && ended !== 'stopped')
        throw new UsageError(`discard ${run}: the run is ${ended}, there is nothing to give up`);
    } catch (error) {
      if (!(error instanceof CliError) || error instanceof UsageError) throw error;
      const kept = await runs.setAside(run);
      await context.notice(`warning: ${error.message}`);
      await context.notice(`its journal is kept as ${kept}`);
      return;
    }
    await runs.conclude(run, { ended: 'discarded' });
    await context.notice(`discarded run ${run}; it can still be undone`);
  });
}

/** Deletes the journals of runs that ended at least this long ago, after asking. */
export async function pruneRuns(context: Context, olderThanMs: number): Promise<void> {
  const runs = runStore(context);
  const old: string[] = [];
  for await (const { header, state, lastAt } of readableRuns(context)) {
    if (!['finished', 'undone', 'discarded'].includes(state)) continue;
    const leastMs = header.flags.relative ? Math.max(olderThanMs, bookedForMs) : olderThanMs;
    if (Date.now() - lastAt > leastMs) old.push(header.run);
  }
  if (old.length === 0) return context.notice('no runs to delete');
  const what = counted(old.length, 'run', 'runs');
  await confirmDestruction(context, `delete ${what}, which can then not be undone`);
  for (const run of old) await runs.remove(run);
  await context.notice(`deleted ${what}`);
}
