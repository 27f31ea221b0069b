import { crc32 } from 'node:zlib';
import { printJson } from '../json.ts';
import { fileError } from '../system-error.ts';
import { LineFile } from './line-file.ts';
import type { Outcome, Rows, State } from './rows.ts';
import type { Guards, RunFlags } from './run-flags.ts';

/** The version of the format. */
export const version = 3;

/** The identity of a run: the same rows, written in the same way, to the same target. */
export interface RunIdentity {
  readonly kind: 'apply' | 'undo';
  /** Of the input's bytes; for an undo, of the id of the run that it undoes. */
  readonly sha256: string;
  /** The base URL, or the file of the embedded store. */
  readonly target: string;
  readonly flags: RunFlags;
}

/** The first line of a journal. */
export interface JournalHeader extends RunIdentity {
  readonly journal: typeof version;
  readonly run: string;
  /** Absolute path; null for stdin and undo. */
  readonly file: string | null;
  /** The input as the user named it; for an undo, the run that it undoes. */
  readonly name: string;
  readonly profile: string | null;
  readonly guards: Guards;
  /** The file of `--events`, absolute. */
  readonly events: string | null;
  /** Data rows in the input. */
  readonly rows: number;
  /** How many of these were left out from the start. */
  readonly invalid: number;
  readonly skipped: number;
  /** RFC 3339. */
  readonly started: string;
}

/** A planned change: row number from 0, pet, current count and new count (null: no entry). */
export type PlannedChange = readonly [
  row: number,
  petId: bigint | number,
  before: number | null,
  after: number | null,
];

/** The outcome of a row. */
export interface OutcomeLine extends Omit<Outcome, 'isFinal' | 'isUnavailable'> {
  readonly row: number;
  readonly petId: bigint | number;
  /** The count before: null for a pet that had no entry, absent if it was not read. */
  readonly before?: number | null | undefined;
  /** Null for an entry that was removed. */
  readonly after: number | null;
  /** Set for a row that failed although a write may have been applied. */
  readonly maySent?: true | undefined;
}

/**
 * The end of a session: all rows settled, or stopped before that; or a later end of the run: undone (completely or
 * partly), or discarded.
 */
export const endings = ['finished', 'stopped', 'undone', 'discarded'] as const;
export type Ending = (typeof endings)[number];

export interface EndLine {
  readonly ended: Ending;
  /** The run that undid it; `restart` if another run replaced it. */
  readonly by?: string | undefined;
  /** Of `undone`: true if some rows could not be undone. */
  readonly isPartial?: boolean | undefined;
  readonly counts: Readonly<Record<State, number>>;
  /** Milliseconds since the epoch, as in all lines. */
  readonly at: number;
}

export type JournalLine =
  | JournalHeader
  | { readonly plan: readonly PlannedChange[] }
  /**
   * The plan of a session is complete, with this many changes. In a first session, a row without a plan line needs no
   * change.
   */
  | { readonly planned: number; readonly at: number }
  /** Another session begins. */
  | { readonly session: number; readonly at: number }
  /** Rows up to this number may have been sent, unless the session ended in order. */
  | { readonly sending: number }
  | OutcomeLine
  | EndLine;

/** Most rows that one line marks as sent before they are. */
const rowsPerMark = 64;
const changesPerLine = 500;

/** The journal as a session writes it. */
export class Journal {
  private readonly file: LineFile;
  private readonly rows: Rows;
  /** The checksum of all lines so far. */
  private sum: number;
  private markedTo = -1;

  private constructor(file: LineFile, rows: Rows, sum: number) {
    this.file = file;
    this.rows = rows;
    this.sum = sum;
  }

  /**
   * Begins a session: its plan is every row that is unprocessed now. A new run's journal is created together with its
   * plan, in one step, so that a journal never holds half of a first plan; that of an earlier session is continued after
   * its last complete line.
   *
   * @param start the header of a new run, or the journal so far.
   * @param outcomes of the rows that the plan has settled.
   * @throws CliError `failed` if it cannot be written; the journal of a new run then does not exist.
   */
  static async begin(
    path: string,
    start: JournalHeader | JournalImage,
    rows: Rows,
    outcomes: Iterable<readonly [row: number, outcome: Outcome]>,
  ): Promise<Journal> {
    const isNew = 'journal' in start;
    const journal = isNew
      ? new Journal(create(path), rows, 0)
      : new Journal(LineFile.reopen(path, start.bytes), rows, start.sum);
    const { flags } = isNew ? start : start.header;
    try {
      journal.append(isNew ? start : { session: start.sessions + 1, at: Date.now() });
      for (const [row, outcome] of outcomes)
        if (!isNew || outcome.state === 'failed') journal.settled(row, outcome);
      journal.appendPlan(flags.blind);
      if (isNew) journal.file.rename(path);
      return journal;
    } catch (error) {
      await (isNew ? journal.file.remove() : journal.file.close()).catch(() => {});
      throw error;
    }
  }

  /** Appends a later end of the run to a journal without an active session. @throws CliError `failed` */
  static async conclude(path: string, { bytes, rows, sum }: JournalImage, end: EndLine): Promise<void> {
    const journal = new Journal(LineFile.reopen(path, bytes), rows, sum);
    try {
      journal.append(end);
    } finally {
      await journal.file.close();
    }
  }

  settled(row: number, { state, status, code, message, attempts, requestId, isFinal }: Outcome): void {
    const { rows } = this;
    const petId = rows.id(row);
    const before = rows.before(row);
    const after = rows.quantity(row);
    if (message === undefined) {
      // Built by hand, which is five times as fast: there is a line for every row.
      const known = before === undefined ? '' : `,"before":${before}`;
      this.appendText(`{"row":${row},"petId":${petId},"state":"${state}"${known},"after":${after}}`);
      return;
    }
    const line = { row, petId, state, before, after, status, code, message, attempts, requestId };
    this.append(isFinal ? { ...line, maySent: true } : line);
  }

  /** To be called before a row is sent: after a kill, every row that may have been sent must be on record. */
  starting(row: number): void {
    if (row <= this.markedTo) return;
    const { rows } = this;
    this.markedTo = row;
    for (let left = rowsPerMark - 1, at = row + 1; left > 0 && at < rows.length; at += 1)
      if (rows.isState(at, 'unprocessed')) {
        this.markedTo = at;
        left -= 1;
      }
    this.appendText(`{"sending":${this.markedTo}}`);
    this.file.flush();
  }

  /** Ends the session. @throws CliError `failed` if a line was lost. */
  async end(ended: Ending): Promise<void> {
    try {
      this.append({ ended, counts: this.rows.countStates(), at: Date.now() });
    } finally {
      await this.file.close();
    }
  }

  private appendPlan(isBlind: boolean): void {
    const { rows } = this;
    let planned = 0;
    let texts: string[] = [];
    for (const row of rows.inState('unprocessed')) {
      planned += 1;
      if (isBlind) continue;
      texts.push(`[${row},${rows.id(row)},${rows.before(row) ?? null},${rows.quantity(row)}]`);
      if (texts.length < changesPerLine) continue;
      this.appendText(`{"plan":[${texts.join()}]}`);
      texts = [];
    }
    if (texts.length > 0) this.appendText(`{"plan":[${texts.join()}]}`);
    this.append({ planned, at: Date.now() });
    this.file.flushToDisk();
  }

  private append(line: JournalLine): void {
    this.appendText(printJson(line));
  }

  /** The checksum of a line covers all lines so far, so that a lost, added or moved line is detected. */
  private appendText(text: string): void {
    this.sum = crc32(text, this.sum);
    this.file.append(`${text.slice(0, -1)},"sum":"${this.sum.toString(16)}"}`);
  }
}

/** A journal as it was read. */
export interface JournalImage {
  readonly header: JournalHeader;
  /** With the states and counts that the journal tells. */
  readonly rows: Rows;
  /** The last line, if it ends a session. */
  readonly ending: EndLine | undefined;
  readonly sessions: number;
  /** The time of the last dated line, in milliseconds since the epoch. */
  readonly lastAt: number;
  /** True if a session ended in order: its rejects were then written. */
  readonly hasEnded: boolean;
  /** Length of the file up to its last complete line, and the checksum of that line. */
  readonly bytes: number;
  readonly sum: number;
  /** The first 10,000 failures, by row. */
  readonly failures: ReadonlyMap<number, OutcomeLine>;
}

function create(path: string): LineFile {
  try {
    return LineFile.create(`${path}.new`);
  } catch (error) {
    throw fileError('write', path, error);
  }
}
