import { closeSync, constants, fstatSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type CliError, fileError } from '../process/errors.ts';
import { syncFile, syncPath } from '../process/files.ts';
import { withLock } from '../process/lock.ts';
import { isOpen, journalPath, nextPlanNumber, type RunList, readRunIds } from './list-runs.ts';
import { numbersOf, type RunBegin, type RunLog, targetName } from './run.ts';
import {
  applyEvent,
  endPlan,
  type JournalEvent,
  printEvent,
  type RunEvent,
  toPlanEvent,
} from './run-events.ts';
import type { RunRow } from './run-row.ts';
import type { SessionRuns } from './session-runs.ts';

const linesAtOnce = 1000;

/**
 * Changes a run by its events, and appends them to its journal. `sync` puts all lines on the disk. After a line is lost, every later step
 * throws. A mark or an outcome changes the run in memory all the same, so that the report is complete.
 */
export class Journal {
  readonly begin: RunBegin;
  readonly log: RunLog;
  readonly path: string;
  private readonly file: number;
  /** The error of a lost line, if one was lost. */
  error: CliError | undefined;

  /**
   * Creates a file with the mode 0600. If the log has been read, opens its file and cuts off an incomplete end.
   *
   * @throws CliError `failed` if the file cannot be created or opened, or has become shorter.
   */
  constructor(folder: string, begin: RunBegin, log: RunLog) {
    this.begin = begin;
    this.log = log;
    this.path = journalPath(folder, begin.id);
    try {
      const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = constants;
      this.file = openSync(this.path, O_WRONLY | O_APPEND | (log.bytes === 0 ? O_CREAT | O_EXCL : 0), 0o600);
      if (fstatSync(this.file).size < log.bytes) throw new Error('it has become shorter');
      ftruncateSync(this.file, log.bytes);
    } catch (error) {
      throw fileError('write', this.path, error);
    }
  }

  /** Begins the run: writes its header and the invalid records. */
  appendHeader(): void {
    const { id, started, header } = this.begin;
    this.write([{ kind: 'begin', run: id, started, header }]);
    this.write(this.log.invalid.map((record) => ({ kind: 'invalid', record })));
  }

  /** Appends a plan, and returns when it is on the disk. @param planNumber as in `RunNumbers`. */
  appendPlan(rows: readonly RunRow[], planNumber: number): void {
    for (let at = 0; at < rows.length; at += linesAtOnce)
      this.write(rows.slice(at, at + linesAtOnce).map(toPlanEvent));
    endPlan(this.log, rows, planNumber);
    this.write([{ kind: 'plan-end', planNumber }]);
    this.sync();
  }

  /**
   * Appends the end of a session. The run has ended once that is on the disk.
   *
   * @param rejects the path of the file of rejects that the session has written.
   */
  appendEnd(rejects = this.log.rejects): void {
    const event: RunEvent = { kind: 'end', end: { ...numbersOf(this.log), rejects } };
    this.write([event]);
    this.sync();
    applyEvent(this.log, event);
  }

  /** @throws CliError `failed` if a line was lost; the run is changed. */
  append(events: readonly RunEvent[]): void {
    for (const event of events) applyEvent(this.log, event);
    this.write(events);
  }

  private write(events: readonly JournalEvent[]): void {
    this.attempt(() => {
      const bytes = Buffer.from(events.map((event) => `${printEvent(event)}\n`).join(''));
      for (let offset = 0; offset < bytes.length; )
        offset += writeSync(this.file, bytes, offset, bytes.length - offset);
    });
  }

  /** False if the file was moved, removed or replaced. */
  get isInPlace(): boolean {
    try {
      return statSync(this.path).ino === fstatSync(this.file).ino;
    } catch {
      return false;
    }
  }

  /** Returns when all lines are on the disk. @throws CliError `failed` if a line was lost, or the file is no longer at its path. */
  sync(): void {
    this.attempt(() => {
      syncFile(this.file);
      if (!this.isInPlace) throw new Error('it was removed or replaced');
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
export async function beginSession(
  { list, run, log }: SessionRuns,
  rows: readonly RunRow[],
): Promise<Journal> {
  const { folder } = list;
  const planNumber = nextPlanNumber(list, log.header.target);
  const journal = run ? new Journal(folder, run, log) : await createJournal(list, log);
  try {
    if (!run) journal.appendHeader();
    journal.appendPlan(rows, planNumber);
    if (!run) syncPath(folder);
    return journal;
  } catch (error) {
    journal[Symbol.dispose]();
    if (!run) await rm(journal.path, { force: true }).catch(() => {});
    throw error;
  }
}

/** Creates the journal of a new run, which gets the next id. */
function createJournal(list: RunList, log: RunLog): Promise<Journal> {
  return withLock(join(list.folder, 'runs'), async () => {
    await removeSurplusJournals(list);
    const [last = 'r0'] = await readRunIds(list.folder);
    const id = `r${Number(last.slice(1)) + 1}`;
    const begin = { id, started: new Date().toISOString(), header: log.header };
    return new Journal(list.folder, begin, log);
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
  for (const run of runs.slice(minKeptRuns).reverse()) {
    if (bytes <= maxJournalBytes) return;
    const { id, header } = run;
    const place = `${header.noun} of ${targetName(header.target)}`;
    if (isOpen(run.undo ?? run)) openPlaces.add(place);
    if (openPlaces.has(place) || deliveries.has(header.undoes ?? id)) continue;
    bytes -= sizeOf(id);
    await rm(journalPath(folder, id), { force: true });
  }
}
