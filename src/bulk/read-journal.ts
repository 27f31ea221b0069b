import { createReadStream } from 'node:fs';
import { dirname } from 'node:path';
import type { Issue } from '../input/issues.ts';
import { CliError } from '../process/errors.ts';
import { isJsonObject, parseJson } from '../process/exact-json.ts';
import { syncPath } from '../process/files.ts';
import { fileError } from '../process/system-error.ts';
import type { Intent, Outcome, Row, Value } from './decide.ts';
import { journalVersion, type RunEnd } from './journal.ts';
import { createRow } from './rows.ts';
import type { RunHeader } from './run-header.ts';

/** The members of a line that describe a row. */
interface RowMembers {
  readonly line?: number;
  readonly set?: Value;
  readonly add?: number;
  readonly expected?: Value;
  readonly before?: Value;
  readonly after?: Value;
  readonly undoes?: RowMembers;
  readonly maybe?: boolean;
}

/** A line of a journal. Its members tell which kind of line it is. */
interface JournalLine extends Partial<Omit<RunEnd, 'planned'>>, Partial<Outcome>, RowMembers {
  readonly journal?: unknown;
  readonly run?: unknown;
  readonly invalid?: Issue;
  readonly plan?: number | bigint;
  readonly planned?: number;
  readonly row?: number | bigint;
  readonly sent?: boolean;
}

/** A row of a journal. */
export interface JournalRow extends Row {
  /** The value that each plan read, with the number of the plan among all plans on the target. */
  readonly readings: { readonly planNumber: number; readonly before: Value }[];
  /** The outcome at the end of the last session that was not killed. The rejects of that session have it. */
  outcomeAtEnd: Outcome | undefined;
}

/** The first line of a journal. */
export interface JournalHead {
  /** The id of the run, such as `r7`. */
  readonly id: string;
  readonly header: RunHeader;
  /** RFC 3339. */
  readonly started: string;
}

/** The content of a journal. */
export interface JournalContent extends JournalHead {
  /**
   * The rows of all plans by their ids, as the last session left them. If that session was killed, a row without an
   * outcome may be written.
   */
  readonly rows: ReadonlyMap<bigint, JournalRow>;
  readonly invalid: readonly Issue[];
  /** The end of the last session; undefined if it was killed. */
  readonly end: RunEnd | undefined;
  /** Whether a session was not killed. It has written the invalid rows to its rejects. */
  readonly hasEnded: boolean;
  /** The length in bytes, without an incomplete plan or line at the end. */
  readonly bytes: number;
  /** The number of the last plan. */
  readonly planned: number;
}

/**
 * Reads a journal, without an incomplete line or plan at its end. If the last session was killed, syncs the journal first,
 * because a decision must not rest on lines that a power cut can take away.
 *
 * @returns undefined if the journal has no complete plan: then the run does not exist.
 * @throws CliError `failed` if a line cannot be read.
 */
export async function readJournal(path: string): Promise<JournalContent | undefined> {
  let replay: JournalReplay | undefined;
  for await (const { line, end } of journalLines(path)) {
    if (replay) replay.applyLine(line, end);
    else replay = new JournalReplay(path, toHead(path, line));
  }
  if (!replay || replay.planned === 0) return undefined;
  if (!replay.end) {
    await syncPath(path);
    await syncPath(dirname(path));
  }
  return replay;
}

/** Reads the first line alone. @throws CliError `failed` if the line cannot be read. */
export async function readHead(path: string): Promise<JournalHead> {
  for await (const { line } of journalLines(path)) return toHead(path, line);
  throw unreadableError(path, 'it is empty');
}

/** Yields the complete lines of a journal, each with the offset of its end in bytes. */
async function* journalLines(
  path: string,
): AsyncGenerator<{ readonly line: JournalLine; readonly end: number }> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  try {
    for await (const piece of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      const bytes = rest.length === 0 ? (piece as Buffer) : Buffer.concat([rest, piece as Buffer]);
      const length = bytes.lastIndexOf(10) + 1;
      const text = bytes.toString('utf8', 0, length);
      for (let from = 0; from < text.length; ) {
        const to = text.indexOf('\n', from);
        const line = text.slice(from, to);
        offset += Buffer.byteLength(line) + 1;
        yield { line: parseLine(path, line), end: offset };
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
    if (isJsonObject(line)) return line as JournalLine;
  } catch {}
  throw unreadableError(path, 'it has a line that is not a JSON object');
}

/** The code of the error for a journal of another version. */
export const otherVersionCode = 'other_version';

function toHead(path: string, line: JournalLine): JournalHead {
  const { journal: _, run: id, started, ...header } = line as JournalLine & { readonly started: string };
  if (line.journal === journalVersion && typeof id === 'string')
    return { id, started, header: header as unknown as RunHeader };
  if (line.journal === undefined) throw unreadableError(path, 'its header is missing');
  throw new CliError('failed', `${path}: another version of petstore wrote this journal`, {
    code: otherVersionCode,
    hint: 'that version finishes or undoes the run',
  });
}

function unreadableError(path: string, why: string): CliError {
  return new CliError('failed', `${path}: this journal cannot be read: ${why}; nothing was written`, {
    hint: 'look at the records of its rows, then move the file away',
  });
}

const outcomeStates: readonly string[] = ['applied', 'unchanged', 'failed', 'unknown'];

/** Applies the lines of a journal one after the other. A plan is applied when its `planned` line comes. */
class JournalReplay implements JournalContent {
  readonly id: string;
  readonly header: RunHeader;
  readonly started: string;
  readonly rows = new Map<bigint, JournalRow>();
  readonly invalid: Issue[] = [];
  end: RunEnd | undefined;
  hasEnded = false;
  bytes = 0;
  planned = 0;
  /** The rows of a plan whose `planned` line has not come yet. */
  private plannedRows: JournalRow[] = [];
  private readonly path: string;

  constructor(path: string, { id, header, started }: JournalHead) {
    this.path = path;
    this.id = id;
    this.header = header;
    this.started = started;
  }

  /** @param end the offset of the end of the line, in bytes. */
  applyLine(line: JournalLine, end: number): void {
    const { plan, row, invalid, planned, ended, set, add } = line;
    if (plan !== undefined) this.plannedRows.push(toRowToWrite(BigInt(plan), line));
    else if (row !== undefined && (set !== undefined || add !== undefined))
      this.plannedRows.push(this.applyOutcome(toJournalRow(BigInt(row), line), line));
    else if (row !== undefined) this.applyOutcome(this.rows.get(BigInt(row)), line);
    else if (invalid !== undefined) this.invalid.push(invalid);
    else if (ended !== undefined) this.applyEnd(line as RunEnd);
    else if (planned !== undefined) this.applyPlan(planned);
    else throw unreadableError(this.path, 'it has an unknown line');
    if (this.plannedRows.length === 0) this.bytes = end;
  }

  private applyPlan(planNumber: number): void {
    for (const plannedRow of this.plannedRows) {
      const { id, before, after, mayBeWritten, mayBeApplied, outcome } = plannedRow;
      const row = this.rows.get(id) ?? plannedRow;
      this.rows.set(id, row);
      if (!outcome) {
        row.before = before;
        row.after = after;
        row.readings.push({ planNumber, before: before ?? null });
      }
      row.mayBeWritten = mayBeWritten;
      row.mayBeApplied = mayBeApplied;
      row.outcome = outcome;
    }
    this.plannedRows = [];
    this.planned = planNumber;
    this.end = undefined;
  }

  private applyOutcome(
    row: JournalRow | undefined,
    { state, reason, sent = false, maybe = false }: JournalLine,
  ): JournalRow {
    if (state === undefined || !outcomeStates.includes(state))
      throw unreadableError(this.path, 'it has an unknown outcome');
    if (!row) throw unreadableError(this.path, 'it has an outcome of a row that is not in its plan');
    row.outcome = { state, reason };
    row.mayBeWritten = sent;
    row.mayBeApplied = maybe;
    return row;
  }

  private applyEnd(end: RunEnd): void {
    this.end = end;
    this.hasEnded = true;
    for (const row of this.rows.values()) {
      row.outcomeAtEnd = row.outcome;
      if (row.outcome) continue;
      row.mayBeWritten = false;
      row.mayBeApplied = false;
    }
  }
}

function toJournalRow(id: bigint, line: JournalLine): JournalRow {
  return Object.assign(toRow(id, line), { readings: [], outcomeAtEnd: undefined });
}

/** A row to write. It may be written until the journal says otherwise, by an outcome or the end of the session. */
function toRowToWrite(id: bigint, line: JournalLine): JournalRow {
  const row = toJournalRow(id, line);
  row.before = toValue(line.before);
  row.after = toValue(line.after);
  row.mayBeWritten = true;
  row.mayBeApplied = true;
  return row;
}

function toRow(id: bigint, { line = 0, set, add, expected, undoes }: RowMembers): Row {
  const intent: Intent =
    add === undefined
      ? { kind: 'set', value: toValue(set), expected: expected === undefined ? undefined : toValue(expected) }
      : { kind: 'add', change: Number(add) };
  return createRow(line, id, intent, { undoneRow: undoes && toUndoneRow(id, undoes) });
}

function toUndoneRow(id: bigint, members: RowMembers): Row {
  const { before, after, maybe = false } = members;
  return {
    ...toRow(id, members),
    before: toValue(before),
    after: toValue(after),
    mayBeWritten: true,
    mayBeApplied: maybe,
  };
}

/** Makes a count a number if a number can hold it: the parser makes a bigint of many digits. */
function toValue(value: Value = null): Value {
  return typeof value === 'bigint' && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}
