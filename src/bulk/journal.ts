import { crc32 } from 'node:zlib';
import type { RecordFormat } from '../input/records.ts';
import { printJson } from '../json.ts';
import { fileError } from '../system-error.ts';
import type { ColumnMap, Shard } from './columns.ts';
import type { Ledger, Outcome, OutcomeListener } from './ledger.ts';
import { LineFile } from './line-file.ts';
import type { Guards, Plan } from './plan.ts';
import type { DuplicateRule } from './read.ts';
import { Rows, type State } from './rows.ts';
import type { ThousandsSeparator } from './values.ts';

/** The flags that determine what a run writes. Together with the same bytes and the same target they identify a run. */
export interface RunFlags {
  readonly format: RecordFormat | null;
  readonly delimiter: string | null;
  readonly map: ColumnMap;
  readonly columns: readonly string[] | null;
  /** `--key`: the column, the file as the user named it, and the hash of its bytes. */
  readonly key: { readonly column: string; readonly file: string; readonly sha256: string } | null;
  readonly thousands: ThousandsSeparator | null;
  readonly onDuplicate: DuplicateRule;
  readonly skipInvalid: boolean;
  readonly shard: Shard | null;
  readonly blind: boolean;
  readonly relative: boolean;
  readonly createMissing: boolean;
}

/** The version of the format. */
export const version = 3;

/** The first line of a journal. */
export interface JournalHeader {
  readonly journal: typeof version;
  readonly run: string;
  readonly kind: 'apply' | 'undo';
  /** Of the input's bytes; for an undo, of the id of the run that it takes back. */
  readonly sha256: string;
  /** Absolute path; null for stdin and undo. */
  readonly file: string | null;
  /** The input as the user named it; for an undo, the run that it takes back. */
  readonly name: string;
  /** The target of the run: the base URL, or the file of the embedded store. */
  readonly target: string;
  readonly profile: string | null;
  readonly flags: RunFlags;
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
export interface OutcomeLine {
  readonly row: number;
  readonly petId: bigint | number;
  readonly state: Exclude<State, 'unprocessed'>;
  /** The count before: null for a pet that had no entry, absent if it was not read. */
  readonly before?: number | null | undefined;
  /** Null for an entry that was removed. */
  readonly after: number | null;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly attempts?: number | undefined;
  readonly requestId?: string | undefined;
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

/** The journal that a session of a run writes. */
export class Journal implements OutcomeListener {
  private readonly file: LineFile;
  private readonly rows: Rows;
  private readonly now: () => Date;
  private sum: number;
  private markedTo = -1;

  private constructor(file: LineFile, rows: Rows, sum: number, now: () => Date) {
    this.file = file;
    this.rows = rows;
    this.sum = sum;
    this.now = now;
  }

  /**
   * Creates the journal of a new run together with its plan, in one step, so that a journal never holds half of a first
   * plan.
   *
   * @throws CliError `failed` if it cannot be written; then it does not exist.
   */
  static async create(
    path: string,
    header: JournalHeader,
    { plan, ledger, now }: { plan: Plan; ledger: Ledger; now: () => Date },
  ): Promise<Journal> {
    const { rows } = ledger;
    const file = orFileError(path, () => LineFile.create(`${path}.new`));
    const journal = new Journal(file, rows, 0, now);
    try {
      journal.append(header);
      for (const row of rows.inState('failed')) journal.settled(row, ledger.failureOf(row) ?? failedOutcome);
      journal.appendPlan(plan);
      file.rename(path);
      return journal;
    } catch (error) {
      await file.remove().catch(() => {});
      throw error;
    }
  }

  /** Continues the journal of an earlier session after its last complete line. @throws CliError `failed` */
  static async reopen(
    path: string,
    image: JournalImage,
    { plan, ledger, now }: { plan: Plan; ledger: Ledger; now: () => Date },
  ): Promise<Journal> {
    const { rows } = ledger;
    const journal = new Journal(LineFile.reopen(path, image.bytes), rows, image.sum, now);
    try {
      journal.append({ session: image.sessions + 1, at: now().getTime() });
      for (let row = 0; row < rows.length; row += 1) {
        const state = rows.state(row);
        if (state === 'unprocessed' || state === rows.earlierState(row)) continue;
        journal.settled(row, ledger.failureOf(row) ?? { state });
      }
      journal.appendPlan(plan);
      return journal;
    } catch (error) {
      await journal.file.close().catch(() => {});
      throw error;
    }
  }

  /** Appends a later end of the run to a journal without an active session. @throws CliError `failed` */
  static async conclude(path: string, image: JournalImage, end: EndLine): Promise<void> {
    const journal = new Journal(LineFile.reopen(path, image.bytes), new Rows(), image.sum, () => new Date());
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
      this.append({ ended, counts: this.rows.countStates(), at: this.now().getTime() });
    } finally {
      await this.file.close();
    }
  }

  private appendPlan({ changes, isBlind }: Plan): void {
    if (!isBlind) {
      const { rows } = this;
      let texts: string[] = [];
      const write = () => {
        if (texts.length > 0) this.appendText(`{"plan":[${texts.join()}]}`);
        texts = [];
      };
      for (const row of rows.inState('unprocessed')) {
        texts.push(`[${row},${rows.id(row)},${rows.before(row) ?? null},${rows.quantity(row)}]`);
        if (texts.length === changesPerLine) write();
      }
      write();
    }
    this.append({ planned: changes, at: this.now().getTime() });
    this.file.flushToDisk();
  }

  private append(line: JournalHeader | JournalLine): void {
    this.appendText(printJson(line));
  }

  /** The checksum of a line covers all lines so far, so that a lost, added or moved line is detected. */
  private appendText(text: string): void {
    this.sum = crc32(text, this.sum);
    this.file.append(`${text.slice(0, -1)},"sum":"${this.sum.toString(16)}"}`);
  }
}

const failedOutcome: Outcome = { state: 'failed' };

/** The contents of a journal, other than the outcomes of rows. */
export interface JournalImage {
  readonly header: JournalHeader;
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

function orFileError<Value>(path: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw fileError('write', path, error);
  }
}
