import { crc32 } from 'node:zlib';
import { printJson } from '../json.ts';
import { fileError } from '../system-error.ts';
import type { Ending, EndLine, JournalHeader, JournalLine } from './journal-lines.ts';
import type { JournalImage } from './journal-reader.ts';
import { LineFile } from './line-file.ts';
import type { Outcome, Rows } from './rows.ts';

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

function create(path: string): LineFile {
  try {
    return LineFile.create(`${path}.new`);
  } catch (error) {
    throw fileError('write', path, error);
  }
}
