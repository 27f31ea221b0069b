import { crc32 } from 'node:zlib';
import { printJson } from '../process/exact-json.ts';
import { fileError } from '../process/system-error.ts';
import type { Events } from './events.ts';
import type { Ending, EndLine, JournalHeader, JournalLine } from './journal-lines.ts';
import type { JournalImage } from './journal-reader.ts';
import { LineFile } from './line-file.ts';
import type { Outcome, Rows } from './rows.ts';
import { seal } from './sealed-lines.ts';

/** Most rows that one line marks as sent before they are. */
const rowsPerMark = 64;
const changesPerLine = 500;

type Outcomes = Iterable<readonly [row: number, outcome: Outcome]>;

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
   * Begins a new run. Its plan is every row that is unprocessed now; the file is created together with that plan, in one
   * step, so that a journal never holds half of a first plan.
   *
   * @param outcomes of the rows that the plan has settled.
   * @throws CliError `failed` if it cannot be written; then there is no journal.
   */
  static async create(path: string, header: JournalHeader, rows: Rows, outcomes: Outcomes): Promise<Journal> {
    const journal = new Journal(createFile(path), rows, 0);
    try {
      journal.append(header);
      for (const [row, outcome] of outcomes) if (outcome.state === 'failed') journal.settled(row, outcome);
      journal.appendPlan(header.flags.blind);
      journal.file.rename(path);
      return journal;
    } catch (error) {
      await journal.file.remove().catch(() => {});
      throw error;
    }
  }

  /**
   * Begins a further session of a run after the last complete line of its journal. Its plan is every row that is
   * unprocessed now.
   *
   * @param outcomes of the rows that the plan has settled.
   * @throws CliError `failed` if it cannot be written.
   */
  static async resume(path: string, earlier: JournalImage, outcomes: Outcomes): Promise<Journal> {
    const { header, rows, sessions, bytes, sum } = earlier;
    const journal = new Journal(LineFile.reopen(path, bytes), rows, sum);
    try {
      journal.append({ session: sessions + 1, at: Date.now() });
      for (const [row, outcome] of outcomes) journal.settled(row, outcome);
      journal.appendPlan(header.flags.blind);
      return journal;
    } catch (error) {
      await journal.file.close().catch(() => {});
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

  /**
   * Lets events reach their file before the same outcomes reach the journal: a resumed session tells no outcome that the
   * journal of a killed one has.
   */
  follow(events: Events): void {
    this.file.beforeWrite = () => events.flush();
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

  private appendText(text: string): void {
    this.sum = crc32(text, this.sum);
    this.file.append(seal(text, this.sum));
  }
}

function createFile(path: string): LineFile {
  try {
    return LineFile.create(`${path}.new`);
  } catch (error) {
    throw fileError('write', path, error);
  }
}
