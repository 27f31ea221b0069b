import { type Stats, statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { CliError, fileError, InputError, isMissing } from '../process/errors.ts';
import { readPieces } from '../process/files.ts';
import type { Io } from '../process/io.ts';
import {
  CsvSplitter,
  createLineSplitter,
  createTsvSplitter,
  hasQuotedCell,
  type RecordSplitter,
  type SplitRecord,
  splitJson,
} from './splitters.ts';

/** A file, a pipe or stdin. It can be read once. */
export interface InputFile {
  /** The name in errors: the path as the user wrote it, or `stdin`. */
  readonly name: string;
  /** The absolute path. A pipe has none. */
  readonly path: string | undefined;
  /** The bytes in pieces. A piece is valid until the next one is requested. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Opens a file, or stdin for `-`. @throws InputError if the file does not exist or is a folder; CliError `failed` if it cannot be read. */
export async function openInputFile(io: Io, path: string): Promise<InputFile> {
  if (path === '-') {
    const bytes = wholeLines(checkedBytes(io.stdin.bytes(), 'stdin', maxBytes), 'stdin');
    return { name: 'stdin', path: undefined, bytes };
  }
  const absolute = resolve(io.cwd, path);
  let stats: Stats;
  try {
    stats = statSync(absolute);
  } catch (error) {
    if (isMissing(error)) throw new InputError(`${path}: no such file`);
    throw fileError('read', path, error);
  }
  if (stats.isDirectory()) throw new InputError(`${path}: is a folder`);
  const isFile = stats.isFile();
  const bytes = checkedBytes(readPieces(absolute), path, isFile ? Number.POSITIVE_INFINITY : maxBytes);
  return isFile
    ? { name: path, path: absolute, bytes }
    : { name: path, path: undefined, bytes: wholeLines(bytes, path) };
}

/**
 * Yields the pieces of a pipe. JSON shows by itself where it ends.
 *
 * @throws InputError if a table ends within a line, because its writer may have been killed within a number.
 */
async function* wholeLines(pieces: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  let isJson: boolean | undefined;
  let lastByte: number | undefined;
  for await (const piece of pieces) {
    const [start] = /[^\s\xef\xbb\xbf]/.exec(Buffer.from(piece.subarray(0, 100)).toString('latin1')) ?? [];
    if (start !== undefined) isJson ??= start === '[' || start === '{';
    lastByte = piece.at(-1) ?? lastByte;
    yield piece;
  }
  if (isJson || lastByte === undefined || lastByte === 10 || lastByte === 13) return;
  throw new InputError(
    `${name}: the last line has no line break, so it may be cut off; nothing was sent`,
    'if it is whole, end it with a line break',
  );
}

/** The most bytes of an input that may have no end, such as /dev/zero, and of an input that is read into memory. */
const maxBytes = 2 ** 28;

/** Yields pieces. @throws InputError after `most` bytes; CliError that names the input if the reading fails. */
async function* checkedBytes(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  most: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const piece of pieces) {
      size += piece.length;
      if (size > most) throw tooLongError(name);
      yield piece;
    }
  } catch (error) {
    throw error instanceof CliError ? error : fileError('read', name, error);
  }
}

/** Reads the rest of a text into memory. @throws InputError if the text is over 256 MiB. */
async function readText(head: string, pieces: AsyncIterable<string>, name: string): Promise<string> {
  let text = head;
  for await (const piece of pieces) {
    text += piece;
    if (text.length > maxBytes) throw tooLongError(name);
  }
  return text;
}

function tooLongError(name: string): InputError {
  return new InputError(
    `${name}: is longer than 256 MiB`,
    'only a file of CSV or JSON lines can be longer: it is read as a stream',
  );
}

/**
 * Decodes UTF-8, chunk by chunk. A BOM at the start is dropped.
 *
 * @param name of the input, for errors.
 * @throws InputError if the bytes are a workbook, or are not UTF-8.
 */
async function* decodeUtf8(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let size = 0;
  for await (const chunk of bytes) {
    if (size === 0 && Buffer.from(chunk.subarray(0, 4)).toString('latin1') === 'PK\x03\x04')
      throw new InputError(`${name}: is a workbook or another ZIP archive`, 'save the sheet as CSV UTF-8');
    let text: string;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch {
      throw new InputError(
        `${name}: not UTF-8 at byte ${size + firstInvalidByte(chunk) + 1}`,
        'save it as UTF-8, or convert it, for example with iconv -f WINDOWS-1252 -t UTF-8; -f UTF-16 for "Unicode text" of Excel',
      );
    }
    size += chunk.length;
    if (text !== '') yield text;
  }
  try {
    decoder.decode();
  } catch {
    throw new InputError(`${name}: cut short in the middle of a character`);
  }
}

/**
 * Finds the index of the first byte that is not UTF-8; 0 if its character began in the previous chunk. It looks for the U+FFFD of a
 * lenient decoder, and skips bytes at the start that may continue a character.
 */
function firstInvalidByte(chunk: Uint8Array): number {
  let start = 0;
  while (start < 3 && ((chunk[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(chunk.subarray(start));
  const at = text.indexOf('\ufffd');
  return at === -1 ? 0 : start + Buffer.byteLength(text.slice(0, at));
}

export interface InputFormat {
  /** `tsv` has no quotes; text with tabs and quotes is `csv`. */
  readonly kind: 'csv' | 'tsv' | 'json' | 'jsonl';
  /** The character between the cells of a table; empty for JSON. */
  readonly delimiter: string;
}

interface SplitInput {
  /** The format of the input, unless it is empty. */
  readonly format: InputFormat | undefined;
  /** The records in order, in pages as they arrive. */
  readonly pages: AsyncIterable<readonly SplitRecord[]> | Iterable<readonly SplitRecord[]>;
}

/** Returns true if the records of an input are rows of cells, which are texts. */
export function isTable({ kind }: InputFormat): boolean {
  return kind === 'csv' || kind === 'tsv';
}

/** Names a record in a message, by its line; in a JSON document, by its number. */
export function recordPlace(name: string, { kind }: InputFormat, line: number): string {
  return kind === 'json' ? `${name}: record ${line}` : `${name}:${line}`;
}

/**
 * Splits CSV, tab-separated text, JSON lines or JSON into records. CSV and JSON lines are read as a stream, with at most one record in
 * memory. JSON is read whole, and so is tab-separated text, because its last cell may be the first one with quotes.
 *
 * @param file its extension decides the format; without a known extension, the text does.
 * @param isColumn whether the command reads a column of this name. The delimiter that yields the most such columns is taken.
 * @throws InputError, also while the pages are read, if the input is not UTF-8, is not JSON, or is too long.
 */
export async function splitInput(
  { name, bytes }: InputFile,
  isColumn: (cell: string) => boolean,
): Promise<SplitInput> {
  const pieces = wholeLineEnds(decodeUtf8(bytes, name));
  const head = await takeHead(pieces);
  if (head.trim() === '') return { format: undefined, pages: [] };
  const { kind, delimiter, text } = detectFormat(head, name, isColumn);
  const format = { kind, delimiter };
  if (kind === 'jsonl') return { format, pages: splitPieces(text, pieces, createLineSplitter()) };
  if (kind === 'csv' && delimiter !== '\t')
    return { format, pages: splitPieces(text, pieces, new CsvSplitter(delimiter)) };
  const whole = await readText(text, pieces, name);
  if (kind === 'json') return { format, pages: splitJson(whole, name) };
  const slices = wholeLineEnds(slicesOf(whole));
  return hasQuotedCell(whole)
    ? { format: { kind: 'csv', delimiter }, pages: splitPieces('', slices, new CsvSplitter(delimiter)) }
    : { format: { kind: 'tsv', delimiter }, pages: splitPieces('', slices, createTsvSplitter()) };
}

async function* slicesOf(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += headLength) yield text.slice(at, at + headLength);
}

async function* splitPieces(
  head: string,
  pieces: AsyncIterable<string>,
  splitter: RecordSplitter,
): AsyncGenerator<readonly SplitRecord[]> {
  yield splitter.push(head);
  for await (const piece of pieces) yield splitter.push(piece);
  yield splitter.end();
}

/** Yields a text in pieces. No piece ends within a CRLF. */
async function* wholeLineEnds(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of text) {
    const piece = rest + chunk;
    rest = piece.endsWith('\r') ? '\r' : '';
    yield rest === '' ? piece : piece.slice(0, -1);
  }
  yield rest;
}

const headLength = 65_536;

/** Reads the first 64 Ki characters, or all if there are fewer. */
async function takeHead(pieces: AsyncGenerator<string>): Promise<string> {
  let head = '';
  while (head.length < headLength) {
    const next = await pieces.next();
    if (next.done) break;
    head += next.value;
  }
  return head;
}

/** Detects the format of a text, and drops the line in which Excel names the delimiter: `sep=;`. */
function detectFormat(head: string, name: string, isColumn: (cell: string) => boolean) {
  const kind = kinds[extname(name).toLowerCase()] ?? kindOfText(head);
  if (kind === 'json' || kind === 'jsonl') return { kind, delimiter: '', text: head };
  const [line, separator] = /^sep=([^"\r\n])(?=[\r\n]|$)/i.exec(head) ?? [];
  // A blank line remains in its place, so that each line has the number that it has in the file.
  const text = line === undefined ? head : head.slice(line.length);
  const delimiter = kind === 'tsv' ? '\t' : (separator ?? detectDelimiter(text, isColumn));
  return { kind, delimiter, text };
}

const kinds: Readonly<Record<string, InputFormat['kind']>> = {
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
};

/** Detects the kind of a text. A first line that is a complete object makes it JSON lines. */
function kindOfText(head: string): InputFormat['kind'] {
  const [line = ''] = head.trimStart().split(/[\r\n]/, 1);
  if (line.startsWith('[')) return 'json';
  if (!line.startsWith('{')) return 'csv';
  return /\}\s*$/.test(line) ? 'jsonl' : 'json';
}

const delimiters = [',', ';', '\t', '|'] as const;

/** Finds the delimiter that yields the most known columns in the first record, or else the most cells. */
function detectDelimiter(head: string, isColumn: (cell: string) => boolean): string {
  const tables = delimiters.map((delimiter) => {
    const { cells = [], problem } = new CsvSplitter(delimiter).push(`${head}\n`)[0] ?? {};
    if (problem) return { delimiter, columnCount: 0, cellCount: 0 };
    return { delimiter, columnCount: cells.filter(isColumn).length, cellCount: cells.length };
  });
  tables.sort((a, b) => b.columnCount - a.columnCount || b.cellCount - a.cellCount);
  return tables[0]?.delimiter ?? ',';
}
