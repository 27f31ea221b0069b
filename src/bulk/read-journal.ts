import { createReadStream } from 'node:fs';
import { CliError } from '../process/errors.ts';
import { isJsonObject, parseJson } from '../process/exact-json.ts';
import { fileError } from '../process/system-error.ts';
import { type RunEnd, type RunHeader, version } from './journal.ts';
import type { Count } from './number-lists.ts';
import { type InvalidRow, marks, type Reason, type RowOutcome, Rows, type StateCounts } from './rows.ts';

/** A line of a journal: what it has says what it is. */
interface JournalLine extends Partial<RunEnd & RowOutcome> {
  readonly journal?: unknown;
  readonly run?: unknown;
  readonly invalid?: InvalidRow;
  readonly plan?: number | bigint;
  readonly line?: number;
  readonly before?: Count;
  readonly after?: Count;
  readonly change?: number;
  readonly expected?: Count;
  readonly etag?: string;
  readonly perhaps?: boolean;
  readonly failed?: Reason;
  readonly planned?: number;
  readonly row?: number | bigint;
}

/** A journal as it was read. */
export type JournalImage = Readonly<
  Pick<Replay, 'header' | 'rows' | 'invalid' | 'end' | 'hasEnded' | 'bytes'>
>;

/**
 * Reads a journal. An incomplete last line, and plan lines at the end without their `planned`, do not count.
 *
 * @returns undefined if no plan is complete: then the run does not exist.
 * @throws CliError `failed` if a line cannot be read.
 */
export async function readJournal(path: string): Promise<JournalImage | undefined> {
  const first = await replay(path, Number.POSITIVE_INFINITY);
  if (!first?.isPlanned) return undefined;
  // Plan lines without their `planned` have changed rows: read again without them.
  const whole = first.isPlanning ? await replay(path, first.bytes) : first;
  whole?.finish();
  return whole;
}

async function replay(path: string, maxBytes: number): Promise<Replay | undefined> {
  let found: Replay | undefined;
  for await (const { line, end } of journalLines(path)) {
    if (end > maxBytes) break;
    if (found) found.take(line, end);
    else found = new Replay(path, toHeader(path, line));
  }
  return found;
}

/** The header alone. @throws CliError `failed` if it cannot be read. */
export async function readHeader(path: string): Promise<RunHeader> {
  for await (const { line } of journalLines(path)) return toHeader(path, line);
  throw unreadable(path, 'it is empty');
}

/** The complete lines of a journal, each with the offset of its end. */
async function* journalLines(
  path: string,
): AsyncGenerator<{ readonly line: JournalLine; readonly end: number }> {
  let rest: Buffer = Buffer.alloc(0);
  let at = 0;
  try {
    for await (const piece of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      const bytes = rest.length === 0 ? (piece as Buffer) : Buffer.concat([rest, piece as Buffer]);
      const length = bytes.lastIndexOf(10) + 1;
      const text = bytes.toString('utf8', 0, length);
      for (let from = 0; from < text.length; ) {
        const to = text.indexOf('\n', from);
        const written = text.slice(from, to);
        at += Buffer.byteLength(written) + 1;
        yield { line: parseLine(path, written), end: at };
        from = to + 1;
      }
      rest = bytes.subarray(length);
    }
  } catch (error) {
    throw error instanceof CliError ? error : fileError('read', path, error);
  }
}

function parseLine(path: string, text: string): JournalLine {
  try {
    const line = parseJson(text);
    if (isJsonObject(line)) return line;
  } catch {}
  throw unreadable(path, 'it has a line that is no JSON object');
}

function toHeader(path: string, line: JournalLine): RunHeader {
  if (line.journal === version && typeof line.run === 'string') return line as unknown as RunHeader;
  throw unreadable(
    path,
    line.journal === undefined ? 'its header is missing' : 'another version of this program wrote it',
  );
}

function unreadable(path: string, why: string): CliError {
  return new CliError('failed', `${path}: this journal cannot be read: ${why}; nothing was written`, {
    hint: 'look at the counts of its pets, then move the file away',
  });
}

const effects: readonly string[] = ['none', 'maybe', 'done'];

/** Applies the lines of a journal, one after the other. */
class Replay {
  readonly header: RunHeader;
  /**
   * The rows of its plans with their states. A row without an outcome is unknown if a session was killed that perhaps
   * sent it, else unprocessed.
   */
  readonly rows = new Rows();
  readonly invalid: InvalidRow[] = [];
  /** The end of the last session; undefined if it has none, and the process was killed. */
  end: RunEnd | undefined;
  /** True if an earlier session has ended, and so has written the invalid rows into its rejects. */
  hasEnded = false;
  /** The length of the lines that count, in bytes. */
  bytes = 0;
  /** True if a plan is complete. */
  isPlanned = false;
  /** True while the last lines are a plan that is not. */
  isPlanning = false;
  private readonly path: string;

  constructor(path: string, header: RunHeader) {
    this.path = path;
    this.header = header;
  }

  take(line: JournalLine, end: number): void {
    if (line.plan !== undefined) this.takePlan(line.plan, line);
    else if (line.invalid !== undefined) this.invalid.push(line.invalid);
    else {
      this.takeSettled(line);
      this.bytes = end;
    }
  }

  private takeSettled(line: JournalLine): void {
    if (line.planned !== undefined) {
      this.isPlanned = true;
      this.isPlanning = false;
      this.end = undefined;
    } else if (line.row !== undefined) {
      const row = this.rows.find(line.row);
      if (row === undefined)
        throw unreadable(this.path, 'it has an outcome of a row that is not in its plan');
      this.settle(row, line.effect, line.reason);
    } else if (line.ended !== undefined) {
      this.end = line as RunEnd;
      this.hasEnded = true;
      for (let row = 0; row < this.rows.length; row += 1) this.rows.mark(row, marks.reported);
    } else throw unreadable(this.path, 'it has an unknown line');
  }

  /** States that follow from how the last session ended. */
  finish(): void {
    const { rows } = this;
    for (const row of rows.inState('unprocessed')) {
      if (!this.end) rows.mark(row, marks.perhaps);
      if (rows.isMarked(row, marks.perhaps)) rows.setState(row, 'unknown');
    }
  }

  private takePlan(
    id: number | bigint,
    { line = 0, after = null, before, change, expected, etag, perhaps, failed }: JournalLine,
  ): void {
    const { rows } = this;
    const row = rows.find(id) ?? rows.add({ id, after, change, expected, line });
    rows.setAfter(row, after);
    if (before !== undefined) rows.setBefore(row, before);
    if (etag === undefined) rows.etags.delete(row);
    else rows.etags.set(row, etag);
    this.isPlanning = true;
    rows.reopen(row);
    if (failed) this.settle(row, 'none', failed);
    rows.mark(row, marks.perhaps, perhaps === true);
  }

  private settle(row: number, effect: RowOutcome['effect'] | undefined, reason: Reason | undefined): void {
    if (effect === undefined || !effects.includes(effect))
      throw unreadable(this.path, 'it has an unknown outcome');
    this.rows.settle(row, { effect, reason });
    this.rows.mark(row, marks.reported, false);
  }
}

/** The counts of a run: its planned rows, and those that were left out or needed no change. */
export function countRows({
  header: { rows: all, invalid, skipped },
  rows,
}: {
  readonly header: Pick<RunHeader, 'rows' | 'invalid' | 'skipped'>;
  readonly rows: Rows;
}): StateCounts {
  const counts = rows.countStates();
  const unchanged = counts.unchanged + all - invalid - skipped - rows.length;
  return { ...counts, invalid, skipped, unchanged };
}
