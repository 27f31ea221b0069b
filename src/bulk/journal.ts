import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { CliError } from '../process/errors.ts';
import { fileError } from '../process/system-error.ts';
import { printEvent } from './event-lines.ts';
import { applyEvent, type PlannedRow, type Run, type RunChange, type RunEvent } from './run.ts';

/** The lines of a plan that are written together. */
const linesOfWrite = 1000;

/**
 * Appends the events of a run to its journal, and changes the run by them. A line is written when it is kept; `sync` puts it
 * on the disk.
 */
export class Journal {
  readonly path: string;
  private readonly run: Run;
  private readonly file: number;
  private failure: CliError | undefined;

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
  keepPlan(rows: readonly PlannedRow[], number: number): void {
    for (let at = 0; at < rows.length; at += linesOfWrite)
      this.append(rows.slice(at, at + linesOfWrite).map((planned) => ({ kind: 'plan', ...planned })));
    this.append([{ kind: 'planned', number }]);
    this.sync();
    applyEvent(this.run, { kind: 'planned', number, rows });
  }

  /** Appends an event and changes the run by it. @throws CliError `failed` if the line cannot be kept; the run is changed. */
  keep(event: Exclude<RunChange, { kind: 'planned' }>): void {
    applyEvent(this.run, event);
    this.append([event]);
  }

  /** Returns when all lines are on the disk. @throws CliError `failed` if a line was lost, or the file was removed. */
  sync(): void {
    this.attempt(() => {
      fsyncSync(this.file);
      if (fstatSync(this.file).nlink === 0) throw new Error('it was removed');
    });
  }

  close(): void {
    closeSync(this.file);
  }

  private append(events: readonly RunEvent[]): void {
    if (events.length === 0) return;
    const bytes = Buffer.from(events.map((event) => `${printEvent(event)}\n`).join(''));
    this.attempt(() => {
      for (let offset = 0; offset < bytes.length; )
        offset += writeSync(this.file, bytes, offset, bytes.length - offset);
    });
  }

  /** After a failure nothing more is written, because the last line may be incomplete. @throws CliError `failed`. */
  private attempt(step: () => void): void {
    if (this.failure) throw this.failure;
    try {
      step();
    } catch (error) {
      this.failure = fileError('write', this.path, error);
      throw this.failure;
    }
  }
}
