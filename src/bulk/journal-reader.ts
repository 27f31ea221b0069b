import { open } from 'node:fs/promises';
import { CliError } from '../errors.ts';
import { fileError } from '../file-error.ts';
import { isJsonObject, type JsonObject, parseJson } from '../json.ts';
import type { JournalHeader, JournalLine } from './journal-lines.ts';

/** A line of a journal and where it stands. */
interface PlacedLine<Line> {
  readonly line: Line;
  /** Bytes before it. */
  readonly start: number;
}

export interface Journal {
  readonly header: JournalHeader;
  /** What follows the header; a torn last line is left out. */
  readonly lines: AsyncGenerator<PlacedLine<JournalLine>>;
}

const newline = 0x0a;

/** Opens a journal; undefined where it has no whole header yet. @throws CliError `failed` where it is no journal. */
export async function openJournal(path: string): Promise<Journal | undefined> {
  const lines = readLines(path, 0);
  const first = await lines.next();
  if (first.done) return undefined;
  const { line } = first.value;
  if (line.journal === 1)
    return { header: line as unknown as JournalHeader, lines: lines as Journal['lines'] };
  await lines.return(undefined);
  throw unreadable(path, 'is no journal that this version can read');
}

/** The last whole line of a journal, where it is one of the short ones that end a session. */
export async function readLastLine(path: string): Promise<JsonObject | undefined> {
  const file = await open(path, 'r').catch((error) => {
    throw fileError('read', path, error);
  });
  try {
    const { size } = await file.stat();
    const piece = Buffer.alloc(Math.min(size, 4096));
    await file.read(piece, 0, piece.length, size - piece.length).catch((error) => {
      throw fileError('read', path, error);
    });
    return parseLine(piece.toString('utf8').split('\n').at(-2) ?? '');
  } finally {
    await file.close();
  }
}

/** The line of a journal that begins at a byte. */
export async function readLineAt(path: string, start: number): Promise<JournalLine | undefined> {
  for await (const { line } of readLines(path, start)) return line as unknown as JournalLine;
  return undefined;
}

/** The first piece holds the one line that many callers want, the next ones are larger. */
const pieceBytes = { first: 4 * 1024, most: 256 * 1024 };

async function* readLines(path: string, from: number): AsyncGenerator<PlacedLine<JsonObject>> {
  const file = await open(path, 'r').catch((error) => {
    throw fileError('read', path, error);
  });
  try {
    let piece = Buffer.allocUnsafe(pieceBytes.first);
    let rest = Buffer.alloc(0);
    let start = from;
    for (;;) {
      const position = start + rest.length;
      const { bytesRead } = await file.read(piece, 0, piece.length, position).catch((error) => {
        throw fileError('read', path, error);
      });
      if (bytesRead === 0) return;
      const bytes = Buffer.concat([rest, piece.subarray(0, bytesRead)]);
      let at = 0;
      for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, at)) {
        const line = parseLine(bytes.toString('utf8', at, end));
        if (!line) throw unreadable(path, `is damaged at byte ${start + at}`);
        yield { line, start: start + at };
        at = end + 1;
      }
      start += at;
      rest = bytes.subarray(at);
      if (piece.length < pieceBytes.most) piece = Buffer.allocUnsafe(piece.length * 4);
    }
  } finally {
    await file.close();
  }
}

function unreadable(path: string, why: string): CliError {
  return new CliError('failed', `${path}: ${why}`, { hint: 'apply with --restart begins a run of its own' });
}

function parseLine(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
