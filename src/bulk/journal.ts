import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CliError } from '../process/errors.ts';
import { withLock } from '../process/lock.ts';
import { fileError } from '../process/system-error.ts';
import { syncFile, syncPath } from '../process/write-file-sync.ts';
import { printEvent } from './event-lines.ts';
import { applyEvent, type Run, type RunChange, type RunEvent, type RunRow } from './run.ts';
import {
  ensureRunFolder,
  journalPath,
  numberOf,
  type RunInfo,
  type RunList,
  readRunIds,
  readRunInfo,
} from './run-store.ts';

/** The lines of a plan that are written together. */
const linesOfWrite = 1000;

/**
 * Appends the events of a run to its journal, and changes the run by them. The lines of one turn of the event loop are written
 * together at its end, because a write for each is seven times as many calls of the system. `sync` puts all lines on the disk.
 */
export class Journal {
  readonly path: string;
  private readonly run: Run;
  private readonly file: number;
  private failure: CliError | undefined;
  private lines = '';

  /**
   * Creates a file with the mode 0600. With `bytes`, opens the file and truncates it to that length.
   *
   * @throws CliError `failed`.
   */
  constructor(path: string, run: Run, bytes = 0) {
    this.path = path;
    this.run = run;
    try {
      this.file = openSync(path, bytes === 0 ? 'wx' : 'a', 0o600);
      if (bytes > 0) ftruncateSync(this.file, bytes);
    } catch (error) {
      throw fileError('write', path, error);
    }
  }

  /** Why a line was lost. Undefined if none was. */
  get error(): CliError | undefined {
    return this.failure;
  }

  /** Appends the header and the invalid rows. */
  begin(id: string): void {
    const { run } = this;
    run.id = id;
    run.started = new Date().toISOString();
    this.append([{ kind: 'begin', run: id, started: run.started, header: run.header }]);
    this.append(run.invalid.map((issue) => ({ kind: 'invalid', issue })));
  }

  /** Appends a plan and syncs it: it is on the disk when this returns. @param number its number among all plans on the target. */
  keepPlan(rows: readonly RunRow[], number: number): void {
    for (let at = 0; at < rows.length; at += linesOfWrite) {
      this.append(rows.slice(at, at + linesOfWrite).map((row) => ({ kind: 'plan', row })));
      this.attempt(() => this.write());
    }
    this.append([{ kind: 'planned', number }]);
    this.sync();
    applyEvent(this.run, { kind: 'planned', number, rows });
  }

  /** Appends an event and changes the run by it. @throws CliError `failed` if a line was lost; the run is changed. */
  keep(event: Exclude<RunChange, { kind: 'planned' }>): void {
    applyEvent(this.run, event);
    this.append([event]);
  }

  /** Returns when all lines are on the disk. @throws CliError `failed` if a line was lost, or the file was removed. */
  sync(): void {
    this.attempt(() => {
      this.write();
      syncFile(this.file);
      if (fstatSync(this.file).nlink === 0) throw new Error('it was removed');
    });
    if (this.failure) throw this.failure;
  }

  close(): void {
    this.attempt(() => this.write());
    closeSync(this.file);
  }

  private append(events: readonly RunEvent[]): void {
    if (this.failure) throw this.failure;
    if (this.lines === '') setImmediate(() => this.attempt(() => this.write()));
    for (const event of events) this.lines += `${printEvent(event)}\n`;
  }

  private write(): void {
    const bytes = Buffer.from(this.lines);
    this.lines = '';
    for (let offset = 0; offset < bytes.length; )
      offset += writeSync(this.file, bytes, offset, bytes.length - offset);
  }

  /** Writes to the file, and notes a failure: after one nothing more is written, because the last line may be incomplete. */
  private attempt(step: () => void): void {
    if (this.failure) return;
    try {
      step();
    } catch (error) {
      this.failure = fileError('write', this.path, error);
    }
  }
}

/**
 * Creates the journal of a new run. Removes old journals, and journals without a complete plan.
 *
 * @param keepPlan must append a whole plan to the journal.
 * @throws CliError `failed`; then the run does not exist.
 */
export async function createJournal(
  list: RunList,
  run: Run,
  keepPlan: (journal: Journal, id: string) => void,
): Promise<Journal> {
  const { folder } = list;
  await ensureRunFolder(folder);
  // A plan is kept under this lock, so a journal without a complete plan belongs to a process that has ended.
  return withLock(
    join(folder, 'runs'),
    async () => {
      const ids = await readRunIds(folder);
      await removeJournals(list, ids);
      const id = `r${numberOf(ids[0] ?? 'r0') + 1}`;
      const journal = new Journal(journalPath(folder, id), run);
      try {
        keepPlan(journal, id);
        syncPath(folder);
        return journal;
      } catch (error) {
        journal.close();
        await rm(journal.path, { force: true }).catch(() => {});
        throw error;
      }
    },
    120_000,
  );
}

/** The most bytes that all journals together may have, unless the last runs alone have more. */
const maxJournalBytes = 2 ** 30;
/** The number of last runs that are always kept. */
const minKeptRuns = 50;

/** Removes journals without a complete plan, and the oldest finished ones without a delivery until the others fit. */
async function removeJournals({ folder, runs, unreadable }: RunList, ids: readonly string[]): Promise<void> {
  const known = new Set([...runs, ...unreadable].map(({ id }) => id));
  const sizes = new Map<string, number>();
  for (const id of ids) {
    const path = journalPath(folder, id);
    const isRun = known.has(id) || (await readRunInfo(path, false, undefined).catch(() => true));
    // A process was killed before its plan was complete, so it sent nothing.
    if (!isRun) await rm(path, { force: true }).catch(() => {});
    else sizes.set(id, await stat(path).then(({ size }) => size));
  }
  let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const deliveryOf = ({ header }: RunInfo): string | null =>
    header.delivery ?? runs.find((run) => run.id === header.undoes)?.header.delivery ?? null;
  const isRemovable = (info: RunInfo) =>
    (info.state === 'finished' || info.state === 'undone') && deliveryOf(info) === null;
  for (const { id } of runs.slice(minKeptRuns).filter(isRemovable).reverse()) {
    if (bytes <= maxJournalBytes) return;
    await rm(journalPath(folder, id), { force: true }).catch(() => {});
    bytes -= sizes.get(id) ?? 0;
  }
}
