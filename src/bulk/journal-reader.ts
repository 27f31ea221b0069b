import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { CliError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { fileError } from '../process/system-error.ts';
import {
  type EndLine,
  endings,
  type JournalHeader,
  type JournalLine,
  type OutcomeLine,
  type PlannedChange,
  version,
} from './journal-lines.ts';
import { Rows, type State } from './rows.ts';
import { damaged, readSealedLines, restartHint } from './sealed-lines.ts';

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
  /** Rows that failed after the last such end, and that are in no rejects yet. */
  readonly unreported: ReadonlySet<number>;
  /** Length of the file up to its last complete line, and the checksum of that line. */
  readonly bytes: number;
  readonly sum: number;
  /** The first 10,000 failures, by row. */
  readonly failures: ReadonlyMap<number, OutcomeLine>;
}

interface ReadingOptions {
  /** The rows of the input; without them blank rows get ids and quantities too. */
  readonly rows?: Rows;
  /**
   * The state of a row that a session may have sent before it was killed: `unprocessed` for whoever plans it again, and
   * `unknown` for whoever tells what became of it.
   */
  readonly unsettled?: 'unprocessed' | 'unknown';
}

/**
 * Reads a journal and applies it to rows: states, counts before, and which rows were or may have been sent. An
 * incomplete last line is ignored.
 *
 * @throws CliError `failed` if it is not a journal of this version, or does not fit the rows.
 */
export async function readJournal(path: string, options: ReadingOptions = {}): Promise<JournalImage> {
  let replay: Replay | undefined;
  for await (const { line, bytes, sum } of readSealedLines(path)) {
    replay ??= new Replay(path, headerOf(path, line), options);
    replay.take(line as unknown as JournalLine);
    replay.bytes = bytes;
    replay.sum = sum;
  }
  if (!replay?.isPlanned) throw damaged(path, replay?.bytes ?? 0);
  replay.settleMarks();
  return replay;
}

/** The header alone. @throws as `readJournal` */
export async function readHeader(path: string): Promise<JournalHeader> {
  for await (const { line } of readSealedLines(path, 4096)) return headerOf(path, line);
  throw damaged(path, 0);
}

/** The last line alone, if it ends a session. @throws CliError `failed` if the file cannot be read. */
export function readEnd(path: string): EndLine | undefined {
  const tail = Buffer.alloc(4096);
  let length = 0;
  try {
    const file = openSync(path, 'r');
    try {
      length = readSync(file, tail, 0, tail.length, Math.max(0, fstatSync(file).size - tail.length));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw fileError('read', path, error);
  }
  const text = tail.toString('utf8', 0, length);
  if (!text.endsWith('\n')) return undefined;
  try {
    const line = JSON.parse(text.slice(0, -1).split('\n').at(-1) ?? '');
    return typeof line.ended === 'string' ? (line as EndLine) : undefined;
  } catch {
    return undefined;
  }
}

/** Rows with nothing but their number. */
function blankRows(count: number): Rows {
  const rows = new Rows();
  rows.length = count;
  return rows;
}

/** Applies the lines of a journal to rows, one after the other. */
class Replay implements JournalImage {
  readonly header: JournalHeader;
  readonly rows: Rows;
  isPlanned = false;
  ending: EndLine | undefined;
  sessions = 1;
  lastAt: number;
  hasEnded = false;
  readonly unreported = new Set<number>();
  bytes = 0;
  sum = 0;
  readonly failures = new Map<number, OutcomeLine>();
  private readonly path: string;
  private readonly unsettled: State;
  /** Rows that the session plans to write and that have no outcome yet. */
  private readonly open: Uint8Array;
  private changes = 0;
  private markedTo = -1;

  constructor(
    path: string,
    header: JournalHeader,
    { rows = blankRows(header.rows), unsettled = 'unprocessed' }: ReadingOptions,
  ) {
    if (rows.length !== header.rows)
      throw otherInput(path, `it has ${header.rows} rows, the input has ${rows.length}`);
    this.path = path;
    this.unsettled = unsettled;
    this.header = header;
    this.rows = rows;
    this.open = new Uint8Array(rows.length);
    this.lastAt = Date.parse(header.started);
  }

  /** @throws CliError `failed` if the line does not fit the rows, or those before it. */
  take(line: JournalLine): void {
    this.ending = undefined;
    if ('at' in line) this.lastAt = line.at;
    if ('row' in line) this.takeOutcome(line);
    else if ('plan' in line) this.takePlan(line.plan);
    else if ('planned' in line) this.takePlanned(line.planned);
    else if ('sending' in line) this.markedTo = Math.max(this.markedTo, line.sending);
    else if ('session' in line) this.beginSession(line.session);
    else if ('ended' in line && endings.includes(line.ended)) this.end(line);
    else if (!('journal' in line) || this.bytes > 0) throw damaged(this.path, this.bytes);
  }

  /** Marked rows without an outcome may have been sent, if the session was killed. */
  settleMarks(): void {
    const { rows, open } = this;
    for (let row = 0; row <= this.markedTo && row < rows.length; row += 1)
      if (open[row] === 1 && rows.isState(row, 'unprocessed')) {
        rows.setSent(row);
        rows.setState(row, this.unsettled);
      }
    this.markedTo = -1;
  }

  private takePlan(changes: readonly PlannedChange[]): void {
    const { rows } = this;
    for (const [row, petId, before, after] of changes) {
      this.takeRow(row, petId, toCount(after), before);
      rows.setBefore(row, toCount(before));
      rows.setState(row, 'unprocessed');
      this.open[row] = 1;
    }
    this.changes += changes.length;
  }

  private takePlanned(count: number): void {
    const { rows, header } = this;
    if (header.flags.blind) {
      this.open.fill(1);
      for (let row = 0; row < rows.length; row += 1)
        if (rows.isState(row, 'failed') || rows.isState(row, 'unknown')) rows.setState(row, 'unprocessed');
    } else if (count !== this.changes) throw damaged(this.path, this.bytes);
    else if (!this.isPlanned)
      for (const row of rows.inState('unprocessed'))
        if (this.open[row] === 0) rows.setState(row, 'unchanged');
    this.isPlanned = true;
  }

  private takeOutcome(line: OutcomeLine): void {
    const { rows } = this;
    const { row, petId, state, before, after } = line;
    this.takeRow(row, petId, toCount(after), before);
    if (this.open[row] === 1 && !this.header.flags.blind && toCount(before) !== rows.before(row))
      throw damaged(this.path, this.bytes);
    rows.setState(row, state);
    if (before !== undefined) rows.setBefore(row, toCount(before));
    if (state === 'applied' || state === 'unknown' || line.maySent) rows.setSent(row);
    if (state === 'failed') this.unreported.add(row);
    else this.unreported.delete(row);
    if (state !== 'failed' && state !== 'unknown') this.failures.delete(row);
    else if (this.failures.size < 10_000) this.failures.set(row, line);
    this.open[row] = 0;
  }

  private beginSession(session: number): void {
    this.settleMarks();
    this.sessions = session;
    this.closePlan();
  }

  private end(line: EndLine): void {
    this.ending = line;
    if (line.ended === 'finished' || line.ended === 'stopped') {
      this.hasEnded = true;
      this.unreported.clear();
    } else this.settleMarks();
    this.markedTo = -1;
    this.closePlan();
  }

  private closePlan(): void {
    this.open.fill(0);
    this.changes = 0;
  }

  /**
   * Takes over the new count of a row: in a relative run only the plan knows it. A blank row gets its id too.
   *
   * @throws CliError `failed` if the input has another row there.
   */
  private takeRow(row: number, petId: number | bigint, after: number | null, before: unknown): void {
    const { rows } = this;
    const isBlank = row < rows.length && rows.id(row) === 0n && !rows.isState(row, 'invalid');
    if (isBlank) rows.put(row, { id: petId, quantity: after });
    else if (!this.isSameRow(row, petId, after, before))
      throw otherInput(this.path, `row ${row + 1} is another one`);
    else if (after !== null) rows.setQuantity(row, after);
  }

  private isSameRow(row: number, petId: number | bigint, after: number | null, before: unknown): boolean {
    const { rows } = this;
    if (!(row < rows.length) || rows.id(row) !== BigInt(petId)) return false;
    const change = rows.change(row);
    if (change === undefined && !this.header.flags.relative) return rows.quantity(row) === after;
    if (after === null) return false;
    // A row that could not be planned has the count 0.
    return change === undefined || typeof before !== 'number' || before + change === after || after === 0;
  }
}

/** A count beyond 2^53 arrives as a bigint and is rounded, because no row is set back to it. */
function toCount<None extends null | undefined>(count: number | bigint | None): number | None {
  return typeof count === 'bigint' ? Number(count) : count;
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

function otherInput(path: string, why: string): CliError {
  return new CliError('failed', `${path}: does not fit the input: ${why}`, { hint: restartHint });
}
