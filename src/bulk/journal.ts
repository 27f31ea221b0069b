import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { Issue } from '../input/issues.ts';
import { printJson } from '../process/exact-json.ts';
import { fileError } from '../process/system-error.ts';
import type { Row, Value } from './decide.ts';
import type { RunTotals } from './rows.ts';
import type { RunHeader } from './run-header.ts';

// The journal of a run has JSON lines, in this order:
//
//   the header          what the run is
//   invalid rows        rows of the input that are left out
//   the plan            a row to write has the value that was read (`before`) and the one to write (`after`); a row that
//                       the plan has decided has its outcome
//   `planned`           synced before the first write
//   outcomes            one for each row that was settled. They are not synced: if one is lost, the record is read again
//   `ended`             the totals, synced
//
// A further session appends its plan, its outcomes and its end.

/** The version of the format. A program reads no other. */
export const version = 5;

/** The last line of a session. */
export interface RunEnd extends RunTotals {
  /** The number of the last plan. */
  readonly planned: number;
  /** RFC 3339. */
  readonly ended: string;
}

const writeEveryMs = 5;
/** So many lines are held back at most. */
const maxPending = 1000;

/**
 * Appends to the journal of a run. Lines appended within 5 ms are written together, so a kill of the process loses at
 * most those.
 */
export class Journal {
  readonly path: string;
  private readonly file: number;
  private pending: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private failure: Error | undefined;

  /**
   * Creates a new file with the mode 0600, or continues after the first bytes of one and drops the rest.
   *
   * @throws CliError `failed`
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

  begin(id: string, header: RunHeader, invalid: readonly Issue[]): void {
    const started = new Date().toISOString();
    this.append(printJson({ journal: version, run: id, started, ...header } as never));
    for (const row of invalid) this.append(printJson({ invalid: { ...row } as never }));
  }

  /**
   * Keeps a plan, which is on the disk when this returns.
   *
   * @param planNumber the number of the plan among all plans on the target.
   */
  keepPlan(rows: readonly Row[], planNumber: number): void {
    for (const row of rows) {
      const { id, before = null, after = null, outcome } = row;
      const values = `"before":${valueText(before)},"after":${valueText(after)}`;
      if (outcome) this.outcome(row, false);
      else this.append(`{"plan":${id},${membersOf(row)},${values}}`);
    }
    this.append(`{"planned":${planNumber}}`);
    this.sync();
  }

  /** @param isPlanned whether the journal has a plan line for the row; else the outcome says what the row wants. */
  outcome(row: Row, isPlanned: boolean): void {
    const { id, outcome, isSent, mayBeApplied } = row;
    if (!outcome) return;
    const members = isPlanned ? '' : `${membersOf(row)},`;
    const marks = `${isSent ? ',"sent":true' : ''}${mayBeApplied ? ',"maybe":true' : ''}`;
    const why = outcome.reason ? `,"reason":${printJson(outcome.reason)}` : '';
    this.append(`{"row":${id},${members}"state":"${outcome.state}"${marks}${why}}`);
  }

  /** Ends the session. @throws CliError `failed` if a line was lost. */
  end(end: RunEnd): void {
    this.append(printJson(end));
    this.sync();
  }

  /** Returns when everything is on the disk. @throws CliError `failed` if that fails; then nothing more is written. */
  sync(): void {
    this.flush();
    this.guard(() => fsyncSync(this.file));
  }

  /** Closes the file without a flush: lines that are held back are lost. */
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

  /** The next line throws the error, because nobody waits for this write. */
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

/** The members of a line that describe a row, put together from texts because there may be a million. @see bench/README.md */
function membersOf({ line, intent, undoneRow }: Row): string {
  const undone = undoneRow ? `,"undoes":${undoneMembersOf(undoneRow)}` : '';
  if (intent.kind === 'add') return `"line":${line},"add":${intent.change}${undone}`;
  const expected = intent.expected === undefined ? '' : `,"expected":${valueText(intent.expected)}`;
  return `"line":${line},"set":${valueText(intent.value)}${expected}${undone}`;
}

/** A row that an undo takes back, and of which nobody knows whether it was applied. */
function undoneMembersOf(row: Row): string {
  const { before, after, mayBeApplied } = row;
  const values = `"before":${valueText(before ?? null)},"after":${valueText(after ?? null)}`;
  return `{${membersOf(row)},${values},"maybe":${mayBeApplied}}`;
}

function valueText(value: Value): string {
  return typeof value === 'object' ? printJson(value) : String(value);
}
