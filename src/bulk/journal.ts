import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { printJson } from '../process/exact-json.ts';
import { fileError } from '../process/system-error.ts';
import { type InvalidRow, marks, type RowOutcome, type Rows, type StateCounts } from './rows.ts';
import type { Guards, RunFlags } from './run-flags.ts';

// The journal of a run: JSON lines. The header; for each row of the plan what was read (`before`) and what is written
// (`after`); `planned`, synced before the first write; an outcome for each row that was settled; `ended`, synced. A
// resumed run appends a second plan, its outcomes and a second end. Outcomes are not synced: a lost one is found by
// reading the count again and comparing it with the plan.

/** The version of the format; a program reads only its own. */
export const version = 4;

/** The first line of a journal: what the run is. */
export interface RunHeader {
  readonly journal: typeof version;
  /** Such as `r7`. */
  readonly run: string;
  readonly kind: 'apply' | 'undo';
  /** As `targetOf` has it. */
  readonly target: string;
  /** The input as the user named it; of an undo, that of the run that it undoes. */
  readonly name: string;
  /** The absolute path of the input; null for stdin and for an undo. */
  readonly file: string | null;
  /** Of the input's bytes; null for an undo. */
  readonly sha256: string | null;
  readonly format: 'csv' | 'json' | 'jsonl';
  /** Of a relative run: the hash of its delivery. */
  readonly delivery: string | null;
  /** The runs that rejected its rows, if the input is a file of rejects. */
  readonly rejectedBy: readonly string[];
  /** Of an undo: the run that it undoes. */
  readonly undoes: string | null;
  readonly flags: RunFlags;
  readonly guards: Guards;
  /** Data rows of the input, and how many of them were left out from the start. */
  readonly rows: number;
  readonly invalid: number;
  readonly skipped: number;
  /** RFC 3339. */
  readonly started: string;
}

/** The last line of a session. */
export interface RunEnd {
  readonly counts: StateCounts;
  /** How many rows `resume` would take. */
  readonly left: number;
  /** Milliseconds since the epoch. */
  readonly ended: number;
}

const writeEveryMs = 5;
/** Lines are written at the latest when so many are held back. */
const maxPending = 1000;

/**
 * Appends to the journal of a run. Lines appended within 5 ms are written together, so a kill of the process loses at
 * most those.
 */
export class Journal {
  readonly path: string;
  private readonly rows: Rows;
  private readonly file: number;
  private pending: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private failure: Error | undefined;

  /**
   * Creates a new file with the mode 0600, or continues after the first bytes of one and drops the rest.
   *
   * @throws CliError `failed`
   */
  constructor(path: string, rows: Rows, bytes = 0) {
    this.path = path;
    this.rows = rows;
    try {
      this.file = openSync(path, bytes === 0 ? 'wx' : 'a', 0o600);
      if (bytes > 0) ftruncateSync(this.file, bytes);
    } catch (error) {
      throw fileError('write', path, error);
    }
  }

  begin(header: RunHeader, invalid: readonly InvalidRow[]): void {
    this.append(printJson(header));
    for (const row of invalid) this.append(printJson({ invalid: row }));
  }

  plan(row: number): void {
    const { rows } = this;
    const before = rows.before(row);
    const change = rows.change(row);
    const expected = rows.expected(row);
    const etag = rows.etags.get(row);
    // Built by hand, which is five times as fast: there is a line for every row.
    let text = `{"plan":${rows.id(row)},"line":${rows.line(row)},"after":${rows.after(row)}`;
    if (before !== undefined) text += `,"before":${before}`;
    if (change !== undefined) text += `,"change":${change}`;
    if (expected !== undefined) text += `,"expected":${expected}`;
    if (etag !== undefined) text += `,"etag":${JSON.stringify(etag)}`;
    if (rows.isMarked(row, marks.perhaps)) text += ',"perhaps":true';
    if (rows.isState(row, 'failed')) text += `,"failed":${printJson(rows.reason(row))}`;
    this.append(`${text}}`);
  }

  /** The plan is complete and on the disk when this returns. */
  planned(rows: number): void {
    this.append(printJson({ planned: rows, at: Date.now() }));
    this.sync();
  }

  outcome(row: number, { effect, reason }: RowOutcome): void {
    const why = reason === undefined ? '' : `,"reason":${printJson(reason)}`;
    this.append(`{"row":${this.rows.id(row)},"effect":"${effect}"${why}}`);
  }

  /** Ends the session. @throws CliError `failed` if a line was lost. */
  end(end: RunEnd): void {
    this.append(printJson(end));
    this.sync();
  }

  /** Closes the file without a flush; lines that are held back are lost. */
  close(): void {
    clearTimeout(this.timer);
    closeSync(this.file);
  }

  /** @throws CliError `failed` if an earlier line was lost. */
  private append(line: string): void {
    if (this.failure) throw this.failure;
    this.pending.push(line);
    if (this.pending.length >= maxPending) this.flush();
    else this.timer ??= setTimeout(() => this.flushOrKeepError(), writeEveryMs);
  }

  /** Returns when everything is on the disk. @throws CliError `failed` if that fails; then nothing more is written. */
  private sync(): void {
    this.flush();
    this.guard(() => fsyncSync(this.file));
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.failure) throw this.failure;
    if (this.pending.length === 0) return;
    const bytes = Buffer.from(`${this.pending.join('\n')}\n`);
    this.pending = [];
    this.guard(() => {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.file, bytes, at, bytes.length - at);
    });
  }

  /** An error of a write that nobody waits for is thrown at the next line. */
  private flushOrKeepError(): void {
    try {
      this.flush();
    } catch {}
  }

  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.failure = fileError('write', this.path, error);
      throw this.failure;
    }
  }
}
