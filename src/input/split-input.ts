import { extname } from 'node:path';
import { decodeUtf8, type InputFile, readText } from './input-file.ts';
import {
  CsvSplitter,
  createLineSplitter,
  createTsvSplitter,
  hasQuotedCell,
  type RecordSplitter,
  type SplitRecord,
  splitJson,
} from './splitters.ts';

/** The format of an input. */
export interface InputFormat {
  /** `tsv` has no quotes; text with tabs and quotes is `csv`. */
  readonly kind: 'csv' | 'tsv' | 'json' | 'jsonl';
  /** The character between the cells of a table; empty for JSON. */
  readonly delimiter: string;
}

/** The text of an input, split into records. */
interface SplitInput {
  /** The format of the input, unless it is empty. */
  readonly format: InputFormat | undefined;
  /** The records in order, in pages as they arrive. */
  readonly pages: AsyncIterable<readonly SplitRecord[]>;
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
  if (head.trim() === '') return { format: undefined, pages: eachPage([]) };
  const { kind, delimiter, text } = detectFormat(head, name, isColumn);
  if (kind === 'jsonl')
    return { format: { kind, delimiter }, pages: splitPieces(text, pieces, createLineSplitter()) };
  if (kind === 'csv' && delimiter !== '\t')
    return { format: { kind, delimiter }, pages: splitPieces(text, pieces, new CsvSplitter(delimiter)) };
  const whole = await readText(text, pieces, name);
  if (kind === 'json') return { format: { kind, delimiter }, pages: eachPage(splitJson(whole, name)) };
  const isQuoted = hasQuotedCell(whole);
  const splitter = isQuoted ? new CsvSplitter(delimiter) : createTsvSplitter();
  const format = { kind: isQuoted ? ('csv' as const) : ('tsv' as const), delimiter };
  return { format, pages: splitPieces('', wholeLineEnds(slicesOf(whole)), splitter) };
}

async function* eachPage(pages: Iterable<readonly SplitRecord[]>): AsyncGenerator<readonly SplitRecord[]> {
  yield* pages;
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
  // A blank line remains in its place, so that line numbers are those of the file.
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
