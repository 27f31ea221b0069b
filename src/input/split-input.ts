import { extname } from 'node:path';
import { InputError } from '../process/errors.ts';
import { CsvSplitter, createTsvSplitter } from './csv.ts';
import { createLineSplitter, splitJson } from './json.ts';
import type { SplitRecord } from './record.ts';
import { conversion, decodeUtf8 } from './utf8.ts';

/** The format of an input. */
export interface InputFormat {
  /** The kind of the text. `tsv` has the escapes that `-o tsv` writes, and no quotes. */
  readonly kind: 'csv' | 'tsv' | 'json' | 'jsonl';
  /** The character between the cells of a table; empty for JSON. */
  readonly delimiter: string;
}

/** The text of an input, split into records. */
interface SplitInput {
  /** The format of the input; undefined if it is empty. */
  readonly format: InputFormat | undefined;
  /** Whether the input is a JSON array. */
  readonly isArray: boolean;
  /** The records in order, in pages as they arrive. */
  readonly pages: AsyncIterable<readonly SplitRecord[]>;
}

/** Whether an input has rows of cells, which are all text. */
export function isTable({ kind }: InputFormat): boolean {
  return kind === 'csv' || kind === 'tsv';
}

/** Whether cells may be a header. The delimiter that makes a header is the delimiter of the input. */
type HeaderTest = (cells: readonly string[]) => boolean;

const delimiters = [',', ';', '\t', '|'] as const;

/**
 * Splits the bytes of CSV, JSONL or JSON into records. CSV and JSONL are read as a stream, with at most one record in
 * memory. JSON is read as a whole.
 *
 * @param name of the input. Its extension decides the format; without a known extension the text does.
 * @throws InputError, also while the pages are read, if the input is not UTF-8, or is JSON that cannot be split or is
 *   too large.
 */
export async function splitInput(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
  isHeader: HeaderTest,
): Promise<SplitInput> {
  const pieces = piecesOf(decodeUtf8(bytes, name));
  const head = await readHead(pieces);
  if (head.trim() === '') return { format: undefined, isArray: false, pages: (async function* () {})() };
  const { format, rest } = detectFormat(head, name, isHeader);
  const isDocument = format.kind === 'json';
  const pages = isDocument ? splitWhole(rest, pieces, name) : splitPieces(rest, pieces, format);
  return { format, isArray: isDocument && rest.trimStart().startsWith('['), pages };
}

async function* splitPieces(
  head: string,
  pieces: AsyncIterable<string>,
  { kind, delimiter }: InputFormat,
): AsyncGenerator<readonly SplitRecord[]> {
  const splitter =
    kind === 'jsonl'
      ? createLineSplitter()
      : kind === 'tsv'
        ? createTsvSplitter()
        : new CsvSplitter(delimiter);
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

/** Reads up to the end of the first line that is not blank, or 64 Ki characters. */
async function readHead(pieces: AsyncGenerator<string>): Promise<string> {
  let head = '';
  while (head.length < 65_536 && !/[\r\n]/.test(head.trimStart())) {
    const next = await pieces.next();
    if (next.done) break;
    head += next.value;
  }
  return head;
}

/** Detects the format. Returns it, and the head without the line in which Excel names the delimiter: `sep=;`. */
function detectFormat(
  head: string,
  name: string,
  isHeader: HeaderTest,
): { format: InputFormat; rest: string } {
  const kindFromName = kindOfName(name);
  const kind = kindFromName ?? kindOfText(head);
  if (kind === 'json' || kind === 'jsonl') return { format: { kind, delimiter: '' }, rest: head };
  const [line, separator] = /^sep=([^"\r\n])(?=[\r\n]|$)/i.exec(head) ?? [];
  // A blank line stays, so that errors give the line numbers of the file.
  const rest = line === undefined ? head : head.slice(line.length);
  const delimiter = kind === 'tsv' ? '\t' : (separator ?? detectDelimiter(rest, isHeader));
  // A spreadsheet quotes cells between tabs too, but the header of `-o tsv` has no quotes.
  const isTsv =
    delimiter === '\t' &&
    (kindFromName === 'tsv' || !/(^|\t)"/.test(rest.trimStart().split(/[\r\n]/, 1)[0] ?? ''));
  return { format: { kind: isTsv ? 'tsv' : 'csv', delimiter }, rest };
}

function kindOfName(name: string): InputFormat['kind'] | undefined {
  const endings: Record<string, InputFormat['kind']> = {
    '.csv': 'csv',
    '.tsv': 'tsv',
    '.json': 'json',
    '.jsonl': 'jsonl',
    '.ndjson': 'jsonl',
  };
  return endings[extname(name).toLowerCase()];
}

/** Detects the kind of a text. A first line that is a complete object makes it JSON lines. */
function kindOfText(head: string): InputFormat['kind'] {
  const [line = ''] = head.trimStart().split(/[\r\n]/, 1);
  if (line.startsWith('[')) return 'json';
  if (!line.startsWith('{')) return 'csv';
  return /\}\s*$/.test(line) ? 'jsonl' : 'json';
}

/** Finds the delimiter that makes a header. If there is none, the delimiter that makes the most cells. */
function detectDelimiter(head: string, isHeader: HeaderTest): string {
  const candidates = delimiters.map((delimiter) => {
    const [first] = new CsvSplitter(delimiter).push(`${head.trimStart()}\n`);
    const cells = first?.cells ?? head.split(delimiter);
    return { delimiter, rank: Number(isHeader(cells)), count: cells.length };
  });
  candidates.sort((a, b) => b.rank - a.rank || b.count - a.count);
  return candidates[0]?.delimiter ?? ',';
}
