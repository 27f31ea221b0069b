import { closeSync, fstatSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type CliError, fileError } from '../process/errors.ts';
import { syncFile, syncPath } from '../process/files.ts';
import { withLock } from '../process/lock.ts';
import { isOpen, journalPath, nextPlanNumber, type RunList, readRunIds } from './list-runs.ts';
import { type Run, targetName } from './run.ts';
import {
  applyEvent,
  endPlan,
  type JournalEvent,
  printEvent,
  type RunEvent,
  toPlanEvent,
} from './run-events.ts';
import { type RunRow, rowTotals } from './run-row.ts';

/** The lines of a plan that are written together. */
const linesOfWrite = 1000;

/**
 * Changes a run by its events, and appends them to its journal. `sync` puts all lines on the disk. If the plan cannot be written, the
 * run is given up. If a later line cannot be written, the run in memory is changed all the same, so that the report is complete.
 */
export class Journal {
  readonly path: string;
  private readonly run: Run;
  private readonly file: number;
  /** The error of a lost line, if one was lost. */
  error: CliError | undefined;

  /**
   * Creates a file with the mode 0600. If the run has been read, opens its file and cuts off an incomplete end.
   *
   * @throws CliError `failed` if the file cannot be created or opened.
   */
  constructor(path: string, run: Run) {
    this.path = path;
    this.run = run;
    try {
      this.file = openSync(path, run.journalBytes === undefined ? 'wx' : 'a', 0o600);
      if (run.journalBytes !== undefined) ftruncateSync(this.file, run.journalBytes);
    } catch (error) {
      throw fileError('write', path, error);
    }
  }

  /** Begins the run: writes its header and the invalid records. */
  appendHeader(): void {
    const { run } = this;
    const { id = '', header } = run;
    run.started = new Date().toISOString();
    this.write([{ kind: 'begin', run: id, started: run.started, header }]);
    this.write(run.invalid.map((issue) => ({ kind: 'invalid', issue })));
  }

  /** Appends a plan, and returns when it is on the disk. @param number `planNumber` of `Run`. */
  appendPlan(rows: readonly RunRow[], number: number): void {
    for (let at = 0; at < rows.length; at += linesOfWrite)
      this.write(rows.slice(at, at + linesOfWrite).map(toPlanEvent));
    endPlan(this.run, rows, number);
    this.write([{ kind: 'plan-end', number }]);
    this.sync();
  }

  /**
   * Appends the end of a session. The run has ended once that is on the disk.
   *
   * @param rejects the path of the file of rejects that the session has written.
   */
  appendEnd(rejects = this.run.rejects): void {
    const { rows, header, planNumber } = this.run;
    const end = { ...rowTotals(rows, header), planNumber, rejects, ended: new Date().toISOString() };
    this.write([{ kind: 'end', end }]);
    this.sync();
    applyEvent(this.run, { kind: 'end', end });
  }

  /** @throws CliError `failed` if a line was lost; the run is changed. */
  append(events: readonly RunEvent[]): void {
    for (const event of events) applyEvent(this.run, event);
    this.write(events);
  }

  private write(events: readonly JournalEvent[]): void {
    this.attempt(() => {
      const bytes = Buffer.from(events.map((event) => `${printEvent(event)}\n`).join(''));
      for (let offset = 0; offset < bytes.length; )
        offset += writeSync(this.file, bytes, offset, bytes.length - offset);
    });
  }

  /** Returns when all lines are on the disk. @throws CliError `failed` if a line was lost, or the file was removed. */
  sync(): void {
    this.attempt(() => {
      syncFile(this.file);
      if (fstatSync(this.file).nlink === 0) throw new Error('it was removed');
    });
  }

  [Symbol.dispose](): void {
    closeSync(this.file);
  }

  /** Does a step. @throws CliError `failed` at the first failure and at every later step, because the last line may be incomplete. */
  private attempt(step: () => void): void {
    if (this.error) throw this.error;
    try {
      step();
    } catch (error) {
      this.error = fileError('write', this.path, error);
      throw this.error;
    }
  }
}

/**
 * Begins a session: opens the journal of its run, and appends the plan. For a new run it first removes surplus journals, and creates
 * the journal.
 *
 * @throws CliError `failed`: then nothing was sent, and a new run does not exist.
 */
export async function beginSession(list: RunList, run: Run, rows: readonly RunRow[]): Promise<Journal> {
  const { folder } = list;
  const number = nextPlanNumber(list, run.header.target);
  const isNew = run.id === undefined;
  const journal =
    run.id === undefined ? await createJournal(list, run) : new Journal(journalPath(folder, run.id), run);
  try {
    if (isNew) journal.appendHeader();
    journal.appendPlan(rows, number);
    if (isNew) syncPath(folder);
    return journal;
  } catch (error) {
    journal[Symbol.dispose]();
    if (isNew) await rm(journal.path, { force: true }).catch(() => {});
    throw error;
  }
}

/** Creates the journal of the next run, which gets its id. */
function createJournal(list: RunList, run: Run): Promise<Journal> {
  return withLock(join(list.folder, 'runs'), async () => {
    await removeSurplusJournals(list);
    const [last = 'r0'] = await readRunIds(list.folder);
    const id = `r${Number(last.slice(1)) + 1}`;
    const journal = new Journal(journalPath(list.folder, id), run);
    run.id = id;
    return journal;
  });
}

/** The most bytes that all journals together may have, unless the journals that must stay have more. */
const maxJournalBytes = 2 ** 30;
/** The number of newest runs that are always kept. */
const minKeptRuns = 50;

/**
 * Removes the oldest journals until the others fit. Keeps those of deliveries, and an unfinished run with all later runs of its noun and
 * target: when that run or its undo continues, it looks in them for later plans of its records.
 */
async function removeSurplusJournals({ folder, runs }: RunList): Promise<void> {
  const sizeOf = (id: string) => statSync(journalPath(folder, id), { throwIfNoEntry: false })?.size ?? 0;
  let bytes = runs.reduce((sum, { id }) => sum + sizeOf(id), 0);
  const deliveries = new Set(runs.flatMap(({ id, header }) => (header.delivery === undefined ? [] : id)));
  const openPlaces = new Set<string>();
  for (const { id, state, undo, header } of runs.slice(minKeptRuns).reverse()) {
    if (bytes <= maxJournalBytes) return;
    const place = `${header.noun} of ${targetName(header.target)}`;
    if (isOpen(undo ?? { state })) openPlaces.add(place);
    if (openPlaces.has(place) || deliveries.has(header.undoes ?? id)) continue;
    bytes -= sizeOf(id);
    await rm(journalPath(folder, id), { force: true });
  }
}
