import { createReadStream } from 'node:fs';
import { crc32 } from 'node:zlib';
import { CliError } from '../errors.ts';
import { fileError } from '../file-error.ts';
import type { RecordFormat } from '../input/records.ts';
import { isJsonObject, type JsonObject, parseJson, printJson } from '../json.ts';
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
const version = 3;

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
type PlannedChange = readonly [
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

type JournalLine =
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

/**
 * Reads a journal and applies it to rows: states, counts before, and which rows were or may have been sent. An
 * incomplete last line is ignored.
 *
 * @param rowsOf returns the rows of the input, or blank ones, which then get ids and quantities too. @see blankRows
 * @throws CliError `failed` if it is not a journal of this version, or does not fit the rows.
 */
export async function readJournal(
  path: string,
  rowsOf: (header: JournalHeader) => Rows = ({ rows }) => blankRows(rows),
): Promise<{ image: JournalImage; rows: Rows }> {
  const lines = readLines(path);
  const first = await lines.next();
  if (first.done) throw damaged(path, 0);
  const header = headerOf(path, first.value.line);
  const rows = rowsOf(header);
  if (rows.length !== header.rows) {
    await lines.return(undefined);
    throw otherInput(path, `it has ${header.rows} rows, the input has ${rows.length}`);
  }
  const replay = new Replay(header, rows);
  let { bytes, sum } = first.value;
  for await (const next of lines) {
    const problem = replay.take(next.line as unknown as JournalLine);
    if (problem === 'other row') throw otherInput(path, `row ${replay.row + 1} is another one`);
    if (problem === 'misfit') throw damaged(path, bytes);
    ({ bytes, sum } = next);
  }
  if (!replay.isPlanned) throw damaged(path, bytes);
  replay.settleMarks();
  const { ending, sessions, lastAt, hasEnded, failures } = replay;
  return { image: { header, ending, sessions, lastAt, hasEnded, bytes, sum, failures }, rows };
}

/** The header alone. @throws as `readJournal` */
export async function readHeader(path: string): Promise<JournalHeader> {
  for await (const { line } of readLines(path, 4096)) return headerOf(path, line);
  throw damaged(path, 0);
}

/** Rows with nothing but their number. */
function blankRows(count: number): Rows {
  const rows = new Rows();
  for (let row = 0; row < count; row += 1) rows.add({ id: 0, quantity: 0, line: 0 });
  return rows;
}

/** Applies the lines of a journal to rows, one after the other. */
class Replay {
  isPlanned = false;
  ending: EndLine | undefined;
  sessions = 1;
  lastAt: number;
  hasEnded = false;
  /** The row of the last line. */
  row = 0;
  readonly failures = new Map<number, OutcomeLine>();
  private readonly header: JournalHeader;
  private readonly rows: Rows;
  /** Rows that the session plans to write and that have no outcome yet. */
  private readonly open: Uint8Array;
  private changes = 0;
  private markedTo = -1;

  constructor(header: JournalHeader, rows: Rows) {
    this.header = header;
    this.rows = rows;
    this.open = new Uint8Array(rows.length);
    this.lastAt = Date.parse(header.started);
  }

  take(line: JournalLine): 'other row' | 'misfit' | undefined {
    this.ending = undefined;
    if ('at' in line) this.lastAt = line.at;
    if ('row' in line) return this.takeOutcome(line);
    if ('plan' in line) return this.takePlan(line.plan);
    if ('planned' in line) return this.takePlanned(line.planned);
    if ('sending' in line) this.markedTo = Math.max(this.markedTo, line.sending);
    else if ('session' in line) this.beginSession(line.session);
    else if ('ended' in line && endings.includes(line.ended)) this.end(line);
    else return 'misfit';
    return undefined;
  }

  /** Marked rows without an outcome may have been sent, if the session was killed. */
  settleMarks(): void {
    const { rows, open } = this;
    for (let row = 0; row <= this.markedTo && row < rows.length; row += 1)
      if (open[row] === 1 && rows.isState(row, 'unprocessed')) rows.setSent(row);
    this.markedTo = -1;
  }

  private takePlan(changes: readonly PlannedChange[]): 'other row' | undefined {
    const { rows } = this;
    for (const [row, petId, before, after] of changes) {
      if (!this.isRow(row, petId, after, before)) return 'other row';
      rows.setBefore(row, toCount(before));
      rows.setState(row, 'unprocessed');
      this.open[row] = 1;
    }
    this.changes += changes.length;
    return undefined;
  }

  private takePlanned(count: number): 'misfit' | undefined {
    const { rows, header } = this;
    if (header.flags.blind) {
      this.open.fill(1);
      for (let row = 0; row < rows.length; row += 1)
        if (rows.isState(row, 'failed') || rows.isState(row, 'unknown')) rows.setState(row, 'unprocessed');
    } else if (count !== this.changes) return 'misfit';
    else if (!this.isPlanned)
      for (const row of rows.inState('unprocessed'))
        if (this.open[row] === 0) rows.setState(row, 'unchanged');
    this.isPlanned = true;
    return undefined;
  }

  private takeOutcome(line: OutcomeLine): 'other row' | 'misfit' | undefined {
    const { rows } = this;
    const { row, petId, state, before, after } = line;
    if (!this.isRow(row, petId, after, before)) return 'other row';
    if (this.open[row] === 1 && !this.header.flags.blind && toCount(before) !== rows.before(row))
      return 'misfit';
    rows.setState(row, state);
    if (before !== undefined) rows.setBefore(row, toCount(before));
    if (state === 'applied' || state === 'unknown' || line.maySent) rows.setSent(row);
    if (state !== 'failed' && state !== 'unknown') this.failures.delete(row);
    else if (this.failures.size < 10_000) this.failures.set(row, line);
    this.open[row] = 0;
    return undefined;
  }

  private beginSession(session: number): void {
    this.settleMarks();
    this.sessions = session;
    this.closePlan();
  }

  private end(line: EndLine): void {
    this.ending = line;
    if (line.ended === 'finished' || line.ended === 'stopped') this.hasEnded = true;
    else this.settleMarks();
    this.markedTo = -1;
    this.closePlan();
  }

  private closePlan(): void {
    this.open.fill(0);
    this.changes = 0;
  }

  /** Whether the line describes the same row as the input. */
  private isRow(row: number, petId: number | bigint, after: number | null, before: unknown): boolean {
    const { rows } = this;
    this.row = row;
    if (!(row < rows.length)) return false;
    if (rows.id(row) === 0n && !rows.isState(row, 'invalid')) {
      rows.put(row, { id: petId, quantity: after });
      return true;
    }
    if (rows.id(row) !== BigInt(petId)) return false;
    const change = rows.change(row);
    if (change === undefined && !this.header.flags.relative) return rows.quantity(row) === after;
    if (after === null) return false;
    if (change !== undefined && typeof before === 'number' && before + change !== after && after !== 0)
      return false;
    rows.setQuantity(row, after);
    return true;
  }
}

/** A count beyond 2^53 arrives as a bigint and is rounded, because no row is set back to it. */
function toCount(before: number | bigint | null | undefined): number | null | undefined {
  return before === null || before === undefined ? before : Number(before);
}

interface SealedLine {
  readonly line: JsonObject;
  /** Bytes and checksum up to its end. */
  readonly bytes: number;
  readonly sum: number;
}

async function* readLines(path: string, pieceBytes = 256 * 1024): AsyncGenerator<SealedLine> {
  let bytes = 0;
  let sum = 0;
  let rest = '';
  const stream = createReadStream(path, { encoding: 'utf8', highWaterMark: pieceBytes });
  try {
    for await (const piece of stream) {
      const text = rest + (piece as string);
      let at = 0;
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', at)) {
        const raw = text.slice(at, end);
        const line = unseal(raw, sum, bytes === 0);
        if (!line) throw damaged(path, bytes);
        sum = line.sum;
        bytes += Buffer.byteLength(raw) + 1;
        yield { line: line.value, bytes, sum };
        at = end + 1;
      }
      rest = text.slice(at);
    }
  } catch (error) {
    throw error instanceof CliError ? error : fileError('read', path, error);
  } finally {
    stream.destroy();
  }
}

/**
 * The value of a line with a correct checksum; a first line may be any JSON object, because old versions had no
 * checksums.
 */
function unseal(raw: string, sum: number, isFirst: boolean): { value: JsonObject; sum: number } | undefined {
  const at = raw.lastIndexOf(',"sum":"');
  const text = at === -1 ? raw : `${raw.slice(0, at)}}`;
  const next = crc32(text, sum);
  const isSealed = at !== -1 && raw.slice(at) === `,"sum":"${next.toString(16)}"}`;
  try {
    const value = parseJson(text);
    if (!isJsonObject(value)) return undefined;
    return isSealed || (isFirst && value.journal !== version) ? { value, sum: next } : undefined;
  } catch {
    return undefined;
  }
}

function headerOf(path: string, line: JsonObject): JournalHeader {
  if (line.journal === version) return line as unknown as JournalHeader;
  if (typeof line.journal === 'number')
    throw new CliError(
      'failed',
      `${path}: is a journal of another version of this program (${line.journal})`,
      {
        hint: 'that version can resume or undo it; `petstore inventory runs discard` puts it aside',
      },
    );
  throw new CliError('failed', `${path}: is not a journal`, { hint: restartHint });
}

const restartHint = 'apply with --restart begins a run of its own';

function damaged(path: string, bytes: number): CliError {
  return new CliError('failed', `${path}: is damaged at byte ${bytes}`, { hint: restartHint });
}

function otherInput(path: string, why: string): CliError {
  return new CliError('failed', `${path}: does not fit the input: ${why}`, { hint: restartHint });
}

function orFileError<Value>(path: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw fileError('write', path, error);
  }
}
