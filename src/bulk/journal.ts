import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { Issue } from '../input/issues.ts';
import { printJson } from '../process/exact-json.ts';
import { fileError } from '../process/system-error.ts';
import type { Outcome, Row, Value } from './decide.ts';
import type { RunTotals } from './rows.ts';
import type { RunHeader } from './run-header.ts';

// The journal of a run consists of JSON lines in this order:
//
//   the header          the facts of the run
//   invalid rows        the rows of the input that are in no plan
//   the plan            a row to write, with the value that was read (`before`) and the value to write (`after`); or a row
//                       that the plan has settled, with its outcome
//   `planned`           ends the plan; synced before the first write
//   outcomes            one line for each settled row. They are not synced: if one is lost, `resume` reads the record again
//   `ended`             the totals; synced
//
// A further session appends its plan, outcomes and end.

/** The version of the format. A journal of another version is not read. */
export const journalVersion = 5;

/** The line that ends a session. */
export interface RunEnd extends RunTotals {
  /** The number of the last plan among all plans on the target. */
  readonly planned: number;
  /** RFC 3339. */
  readonly ended: string;
}

const writeEveryMs = 5;
const maxPendingLines = 1000;

/**
 * Appends to the journal of a run. It writes the lines of 5 ms together, so a kill of the process loses at most those
 * lines.
 */
export class Journal {
  readonly path: string;
  private readonly file: number;
  private pending: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private failure: Error | undefined;

  /**
   * Creates a file with the mode 0600. With `bytes`, opens the file and truncates it to that length.
   *
   * @throws CliError `failed`.
   */
  constructor(path: string, bytes = 0) {
    this.path = path;
    try {
      this.file = openSync(path, bytes === 0 ? 'wx' : 'a', 0o600);
      if (bytes > 0) ftruncateSync(this.file, bytes);
    } catch (error) {
      throw fileError('write', path, error);
    }
  }

  /** Appends the header and the invalid rows. */
  begin(id: string, header: RunHeader, invalid: readonly Issue[]): void {
    const started = new Date().toISOString();
    this.append(printJson({ journal: journalVersion, run: id, started, ...header }));
    for (const row of invalid) this.append(printJson({ invalid: row }));
  }

  /**
   * Appends a plan and syncs it: it is on the disk when this returns.
   *
   * @param planNumber the number of the plan among all plans on the target.
   */
  keepPlan(rows: readonly Row[], planNumber: number): void {
    for (const row of rows) {
      const { id, before = null, after = null, outcome } = row;
      const values = `"before":${printValue(before)},"after":${printValue(after)}`;
      this.append(
        outcome
          ? `{"row":${id},${printRowMembers(row)},${printOutcomeMembers(row, outcome)}}`
          : `{"plan":${id},${printRowMembers(row)},${values}}`,
      );
    }
    this.append(`{"planned":${planNumber}}`);
    this.sync();
  }

  /** Appends the outcome of a row that the plan had to write. */
  keepOutcome(row: Row, outcome: Outcome): void {
    this.append(`{"row":${row.id},${printOutcomeMembers(row, outcome)}}`);
  }

  /** Appends the end of the session and syncs it. @throws CliError `failed` if a line was lost. */
  end(end: RunEnd): void {
    this.append(printJson(end));
    this.sync();
  }

  /** Returns when all lines are on the disk. @throws CliError `failed` if a line was lost; further lines are refused. */
  sync(): void {
    this.flush();
    this.keepFailure(() => fsyncSync(this.file));
  }

  /** Closes the file without a flush: pending lines are lost. */
  close(): void {
    clearTimeout(this.timer);
    closeSync(this.file);
  }

  /** @throws CliError `failed` if an earlier line was lost. */
  private append(line: string): void {
    if (this.failure) throw this.failure;
    this.pending.push(line);
    if (this.pending.length >= maxPendingLines) this.flush();
    else this.timer ??= setTimeout(() => this.flushQuietly(), writeEveryMs);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.failure) throw this.failure;
    if (this.pending.length === 0) return;
    const bytes = Buffer.from(`${this.pending.join('\n')}\n`);
    this.pending = [];
    this.keepFailure(() => {
      for (let offset = 0; offset < bytes.length; )
        offset += writeSync(this.file, bytes, offset, bytes.length - offset);
    });
  }

  /** Ignores the error, because nobody waits for this write: the next line throws it. */
  private flushQuietly(): void {
    try {
      this.flush();
    } catch {}
  }

  /** @throws CliError `failed` if the step fails, and keeps the error for all further lines. */
  private keepFailure(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.failure = fileError('write', this.path, error);
      throw this.failure;
    }
  }
}

/** The members of a line that describe a row. Texts are joined because it is faster for a million rows. @see bench/README.md */
function printRowMembers({ line, intent, undoneRow }: Row): string {
  const undone = undoneRow ? `,"undoes":${printUndoneRow(undoneRow)}` : '';
  if (intent.kind === 'add') return `"line":${line},"add":${intent.change}${undone}`;
  const expected = intent.expected === undefined ? '' : `,"expected":${printValue(intent.expected)}`;
  return `"line":${line},"set":${printValue(intent.value)}${expected}${undone}`;
}

/** The row that an undo takes back, if nobody knows whether that row was applied. */
function printUndoneRow(row: Row): string {
  const { before, after, mayBeApplied } = row;
  const values = `"before":${printValue(before ?? null)},"after":${printValue(after ?? null)}`;
  return `{${printRowMembers(row)},${values},"maybe":${mayBeApplied}}`;
}

function printOutcomeMembers({ mayBeWritten, mayBeApplied }: Row, { state, reason }: Outcome): string {
  const marks = `${mayBeWritten ? ',"sent":true' : ''}${mayBeApplied ? ',"maybe":true' : ''}`;
  return `"state":"${state}"${marks}${reason ? `,"reason":${printJson(reason)}` : ''}`;
}

function printValue(value: Value): string {
  return typeof value === 'object' ? printJson(value) : String(value);
}
