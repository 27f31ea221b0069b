import { extname } from 'node:path';
import { InputError } from '../process/errors.ts';
import { CsvSplitter } from './csv.ts';
import { conversion } from './foreign-file.ts';
import type { InputFile } from './input-file.ts';
import { createLineSplitter, splitJson } from './json.ts';
import type { RecordSplitter, SplitRecord } from './record.ts';
import { createTsvSplitter, findTsvDialect } from './tsv.ts';
import { decodeUtf8 } from './utf8.ts';

/** The format of an input. */
export interface InputFormat {
  /** The kind of the text. `tsv` has no quotes; text with tabs and quotes is `csv`. */
  readonly kind: 'csv' | 'tsv' | 'json' | 'jsonl';
  /** The character between the cells of a table; empty for JSON. */
  readonly delimiter: string;
}

/** The text of an input, split into records. */
interface SplitInput {
  /** The format of the input; undefined if it is empty. */
  readonly format: InputFormat | undefined;
  /** The records in order, in pages as they arrive. */
  readonly pages: AsyncIterable<readonly SplitRecord[]>;
}

/** Whether an input has rows of cells, which are all text. */
export function isTable({ kind }: InputFormat): boolean {
  return kind === 'csv' || kind === 'tsv';
}

/** Names a record in a message: by its line, or in a JSON document by its number. */
export function recordPlace(name: string, { kind }: InputFormat, line: number): string {
  return kind === 'json' ? `${name}: record ${line}` : `${name}:${line}`;
}

/** Whether cells may be a header. The delimiter that makes a header is the delimiter of the input. */
type HeaderTest = (cells: readonly string[]) => boolean;

const delimiters = [',', ';', '\t', '|'] as const;

/**
 * Splits CSV, tab-separated text, JSON lines or JSON into records. Tables and JSON lines are read as a stream, with at most
 * one record in memory. JSON is read as a whole.
 *
 * @param file its ending decides the format; without a known ending the text does.
 * @throws InputError, also while the pages are read, if the input is not UTF-8, or is JSON that cannot be split or is
 *   too large.
 */
export async function splitInput(file: InputFile, isHeader: HeaderTest): Promise<SplitInput> {
  const { name } = file;
  const pieces = piecesOf(decodeUtf8(file.bytes(), name));
  const head = await readHead(pieces);
  if (head.trim() === '') return { format: undefined, pages: (async function* () {})() };
  const { kind, delimiter, rest } = detectFormat(head, name, isHeader);
  if (kind === 'json') return { format: { kind, delimiter }, pages: splitWhole(rest, pieces, name) };
  const splitter = kind === 'jsonl' ? createLineSplitter() : await tableSplitter(file, delimiter);
  const hasQuotes = splitter instanceof CsvSplitter;
  const format = { kind: kind === 'csv' && !hasQuotes ? ('tsv' as const) : kind, delimiter };
  return { format, pages: splitPieces(rest, pieces, splitter) };
}

/** Creates the splitter of a table. Tab-separated text is read to its end first, to find how its cells are written. */
async function tableSplitter({ bytes, name }: InputFile, delimiter: string): Promise<RecordSplitter> {
  if (delimiter !== '\t') return new CsvSplitter(delimiter);
  const dialect = await findTsvDialect(piecesOf(decodeUtf8(bytes(), name)));
  return dialect === 'quoted' ? new CsvSplitter(delimiter) : createTsvSplitter(dialect);
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

/** The longest JSON document, in characters: 128 MiB of ASCII. */
const maxDocumentLength = 2 ** 27;

async function* splitWhole(
  head: string,
  pieces: AsyncIterable<string>,
  name: string,
): AsyncGenerator<readonly SplitRecord[]> {
  let document = head;
  for await (const piece of pieces) {
    document += piece;
    if (document.length > maxDocumentLength)
      throw new InputError(
        `${name}: over 128 MiB of JSON: only CSV and JSON lines can be that large`,
        conversion(`jq -c '.[]'`, name, '.jsonl'),
      );
  }
  yield splitJson(document, name);
}

/** Yields a text in pieces. No piece ends within a CRLF. */
async function* piecesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of text) {
    const piece = rest + chunk;
    rest = piece.endsWith('\r') ? '\r' : '';
    yield rest === '' ? piece : piece.slice(0, -1);
  }
  yield rest;
}

/** Reads the first 64 Ki characters, or all if there are fewer. */
async function readHead(pieces: AsyncGenerator<string>): Promise<string> {
  let head = '';
  while (head.length < 65_536) {
    const next = await pieces.next();
    if (next.done) break;
    head += next.value;
  }
  return head;
}

/** The kind of a text and its delimiter. */
interface DetectedFormat {
  readonly kind: 'csv' | 'json' | 'jsonl';
  readonly delimiter: string;
  /** The head without the line in which Excel names the delimiter: `sep=;`. */
  readonly rest: string;
}

function detectFormat(head: string, name: string, isHeader: HeaderTest): DetectedFormat {
  const kind = kinds[extname(name).toLowerCase()] ?? kindOfText(head);
  if (kind === 'json' || kind === 'jsonl') return { kind, delimiter: '', rest: head };
  const [line, separator] = /^sep=([^"\r\n])(?=[\r\n]|$)/i.exec(head) ?? [];
  // A blank line stays, so that errors give the line numbers of the file.
  const rest = line === undefined ? head : head.slice(line.length);
  const delimiter = kind === 'tsv' ? '\t' : (separator ?? detectDelimiter(rest, isHeader));
  return { kind: 'csv', delimiter, rest };
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

/** The number of lines in which a header is looked for, because titles may stand above it. */
const headerLines = 100;

/**
 * Finds the delimiter that makes a header of one of the first lines. If there is none, the delimiter that makes the most
 * cells of the first line.
 */
function detectDelimiter(head: string, isHeader: HeaderTest): string {
  const tables = delimiters.map((delimiter) => {
    const records = new CsvSplitter(delimiter).push(`${head}\n`).slice(0, headerLines);
    const line = records.find(({ cells = [] }) => isHeader(cells))?.line ?? Number.POSITIVE_INFINITY;
    return { delimiter, line, count: records[0]?.cells?.length ?? head.split(delimiter).length };
  });
  tables.sort((a, b) => (a.line === b.line ? b.count - a.count : a.line - b.line));
  return tables[0]?.delimiter ?? ',';
}
