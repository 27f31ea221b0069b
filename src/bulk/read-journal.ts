import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { CliError } from '../process/errors.ts';
import { isJsonObject, parseJson } from '../process/exact-json.ts';
import { fileError } from '../process/system-error.ts';
import { syncPath } from '../process/write-file-sync.ts';
import type { RowState } from '../writes/decide.ts';
import { type EventLine, journalVersion, parseEvent } from './event-lines.ts';
import { applyEvent, createRun, keyOf, type RowKey, type Run, type RunRow } from './run.ts';
import type { RunHeader } from './run-header.ts';

/** A run as its journal has it. */
export interface JournalContent {
  readonly run: Run & { readonly id: string; readonly started: string };
  /** The length in bytes, without an incomplete plan or line at the end. */
  readonly bytes: number;
}

/** The first line of a journal. */
export interface JournalHead {
  readonly id: string;
  readonly started: string;
  readonly header: RunHeader;
}

/**
 * Reads a journal, without an incomplete line or plan at its end. If the last session was killed, syncs the journal first,
 * because a decision must not rest on lines that a power cut can take away.
 *
 * @returns undefined if the journal has no complete plan: then the run does not exist.
 * @throws CliError `usage` if a line cannot be read.
 */
export async function readJournal(path: string): Promise<JournalContent | undefined> {
  let replay: Replay | undefined;
  for await (const { line, end } of journalLines(path)) {
    if (replay) replay.apply(line, end);
    else replay = new Replay(path, toHead(path, line));
  }
  if (!replay || replay.run.planned === 0) return undefined;
  if (!replay.run.end) {
    syncPath(path);
    syncPath(dirname(path));
  }
  return replay;
}

/** Reads the first line alone. @throws CliError `usage` if the line cannot be read. */
export async function readHead(path: string): Promise<JournalHead> {
  for await (const { line } of journalLines(path)) return toHead(path, line);
  throw unreadableError(path, 'it is empty');
}

/** How every journal begins. One that was killed within its first line has sent nothing; any other text may hide a run. */
const beginText = '{"kind":"begin"';

/** Yields the complete lines of a journal, each with the offset of its end in bytes. */
async function* journalLines(
  path: string,
): AsyncGenerator<{ readonly line: EventLine; readonly end: number }> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  try {
    for await (const piece of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      const bytes = rest.length === 0 ? (piece as Buffer) : Buffer.concat([rest, piece as Buffer]);
      const length = bytes.lastIndexOf(10) + 1;
      const text = bytes.toString('utf8', 0, length);
      for (let from = 0; from < text.length; ) {
        const to = text.indexOf('\n', from);
        const lineText = text.slice(from, to);
        offset += Buffer.byteLength(lineText) + 1;
        const line = parseEvent(lineText);
        if (!line) throw unreadableError(path, 'a line is not an event');
        yield { line, end: offset };
        from = to + 1;
      }
      rest = bytes.subarray(length);
    }
    const start = rest.toString('utf8', 0, beginText.length);
    if (offset === 0 && (!beginText.startsWith(start) || rest.includes(0)))
      throw unreadableError(path, 'it does not begin as a journal does');
  } catch (error) {
    throw error instanceof CliError ? error : fileError('read', path, error);
  }
}

function toHead(path: string, line: EventLine): JournalHead {
  if (line.kind !== 'begin') throw unreadableError(path, 'its header is missing');
  const { version, run: id, started, header } = line;
  if (version !== journalVersion)
    throw unreadableError(path, `its format is ${version}, and this version reads ${journalVersion}`);
  // A journal of another machine must not become a run of this one.
  if (basename(path) !== `${id}.jsonl`) throw unreadableError(path, `it is the journal of run ${id}`);
  return { id, started, header };
}

/** The first line of a journal that this version cannot read, as far as it tells anything. */
export interface UnreadableHead {
  /** Undefined if nobody can tell. */
  readonly target: string | undefined;
  readonly delivery: string | null;
  /** The version of petstore that finishes the run. Undefined if the journal is damaged. */
  readonly writtenBy: string | undefined;
}

/** Reads what the first line of an unreadable journal tells. Earlier formats had the header in the line itself. */
export async function readUnreadableHead(path: string): Promise<UnreadableHead> {
  const nothing = { target: undefined, delivery: null, writtenBy: undefined };
  try {
    const [first = ''] = (await readFile(path, 'utf8')).split('\n', 1);
    const line = parseJson(first);
    if (!isJsonObject(line)) return nothing;
    const { target, delivery } = isJsonObject(line.header) ? line.header : line;
    const { journal: version } = line;
    return {
      target: typeof target === 'string' ? target : undefined,
      delivery: typeof delivery === 'string' ? delivery : null,
      writtenBy: typeof version === 'number' && version !== journalVersion ? writerOf(version) : undefined,
    };
  } catch {
    return nothing;
  }
}

function writerOf(version: number): string {
  if (version > journalVersion) return 'a later version of petstore';
  return version === 6 ? 'petstore 3' : 'petstore 2 or an earlier one';
}

function unreadableError(path: string, why: string): CliError {
  return new CliError('usage', `${path}: this journal cannot be read: ${why}; nothing was written`, {
    code: 'invalid_input',
    hint: 'look at the records of its rows, then move the file away, which forgets what it booked',
  });
}

/** Applies the lines of a journal one after the other. A plan is applied when its `planned` line comes. */
class Replay implements JournalContent {
  readonly run: JournalContent['run'];
  bytes = 0;
  /** The rows of a plan whose `planned` line has not come yet. */
  private pending: { readonly row: RunRow; readonly state: RowState }[] = [];
  private readonly rows = new Map<RowKey, RunRow>();
  private readonly path: string;

  constructor(path: string, { id, started, header }: JournalHead) {
    this.path = path;
    this.run = Object.assign(createRun(header, []), { id, started });
  }

  /** @param end the offset of the end of the line, in bytes. */
  apply(line: EventLine, end: number): void {
    const { run } = this;
    if (line.kind === 'plan') {
      this.pending.push({ row: line.row, state: line.state });
      return;
    }
    if (line.kind === 'planned') this.applyPlan(line.number);
    else if (this.pending.length > 0) throw unreadableError(this.path, 'a plan has no end');
    else if (line.kind === 'invalid') run.invalid.push(line.issue);
    else if (line.kind === 'mark')
      applyEvent(run, { ...line, rows: line.rows.map((key) => this.rowOf(key)) });
    else if (line.kind === 'outcome') applyEvent(run, { ...line, row: this.rowOf(line.row) });
    else if (line.kind === 'end') applyEvent(run, line);
    else throw unreadableError(this.path, 'it has two headers');
    this.bytes = end;
  }

  private applyPlan(number: number): void {
    const { run } = this;
    const rows = this.pending.map(({ row: read, state }) => {
      const key = keyOf(read);
      const row = this.rows.get(key) ?? this.add(key, read);
      row.state = state;
      return row;
    });
    this.pending = [];
    applyEvent(run, { kind: 'planned', number, rows });
  }

  private add(key: RowKey, row: RunRow): RunRow {
    const { rows } = this.run;
    // A person has told the id of a record that a create made, so the undo has the row under that id now.
    const unnamed = row.id === undefined ? undefined : this.rows.get(`line:${row.line}`);
    if (unnamed) rows[rows.indexOf(unnamed)] = row;
    else rows.push(row);
    this.rows.set(key, row);
    return row;
  }

  private rowOf(key: RowKey): RunRow {
    const row = this.rows.get(key);
    if (row) return row;
    throw unreadableError(this.path, 'it has an event of a row that is not in its plan');
  }
}
