import { extname } from 'node:path';
import { UsageError } from '../errors.ts';
import { createCsvSplitter } from './csv.ts';
import { createJsonSplitter, createLineSplitter } from './json.ts';
import type { InputRecord, RecordSplitter } from './record.ts';
import { decodeUtf8 } from './utf8.ts';

export const recordFormats = ['csv', 'json', 'jsonl'] as const;
export type RecordFormat = (typeof recordFormats)[number];

/** The layout of an input: its format, and for CSV the delimiter. */
export interface Layout {
  readonly format: RecordFormat;
  readonly delimiter: string;
}

export interface RecordOptions {
  /** Of the input, for errors. */
  readonly name: string;
  /** The format that the user chose; otherwise the extension of the name or the text itself decides. */
  readonly format?: RecordFormat | undefined;
  /** Of CSV; likewise. */
  readonly delimiter?: string | undefined;
  /** Ranks the header that a delimiter would give; a higher rank is better. */
  rankHeader?(cells: readonly string[]): number;
}

interface RecordStream {
  /** Undefined if the input is empty. */
  readonly layout: Layout | undefined;
  /** Records in order, in batches as they arrive. */
  readonly batches: AsyncIterable<readonly InputRecord[]>;
}

export const delimiters = [',', ';', '\t', '|'] as const;

/**
 * The records of CSV, JSONL or JSON bytes, read as a stream with at most one record in memory. The first record of CSV
 * is its header.
 *
 * @throws UsageError, also while the batches are read, if the input is not UTF-8 or is JSON that cannot be split.
 */
export async function readRecords(
  bytes: AsyncIterable<Uint8Array>,
  options: RecordOptions,
): Promise<RecordStream> {
  const text = decodeUtf8(bytes, options.name)[Symbol.asyncIterator]();
  const head = await readHead(text);
  if (head.trim() === '') return { layout: undefined, batches: noBatches() };
  const { layout, rest } = detectLayout(head, options);
  return { layout, batches: split(rest, text, createSplitter(layout, options.name)) };
}

async function* noBatches(): AsyncGenerator<readonly InputRecord[]> {}

async function* split(
  head: string,
  text: AsyncIterator<string>,
  splitter: RecordSplitter,
): AsyncGenerator<readonly InputRecord[]> {
  try {
    for (const piece of piecesOf(head)) yield splitter.push(piece);
    for (let next = await text.next(); !next.done; next = await text.next())
      for (const piece of piecesOf(next.value)) yield splitter.push(piece);
    yield splitter.end();
  } finally {
    await text.return?.();
  }
}

/**
 * Text in pieces of 8 Ki characters. The records of a piece live at the same time. V8 collects few of them as young
 * objects; it would copy thousands again and again.
 */
function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += 8192) yield text.slice(at, at + 8192);
}

/** Text up to the end of the first line that is not blank, or 64 Ki characters. */
async function readHead(text: AsyncIterator<string>): Promise<string> {
  let head = '';
  while (head.length < 65_536 && !/[\r\n]/.test(head.trimStart())) {
    const next = await text.next();
    if (next.done) break;
    head += next.value;
  }
  return head;
}

function createSplitter({ format, delimiter }: Layout, name: string): RecordSplitter {
  if (format === 'csv') return createCsvSplitter(delimiter);
  return format === 'jsonl' ? createLineSplitter() : createJsonSplitter(name);
}

/** The layout, and the head without the line in which Excel gives the delimiter: `sep=;`. */
function detectLayout(head: string, options: RecordOptions): { layout: Layout; rest: string } {
  const format = options.format ?? formatOfName(options.name) ?? formatOfText(head);
  const [line, named] = (format === 'csv' && /^sep=(.)(?=[\r\n]|$)/i.exec(head)) || [];
  // A blank line stays, so that errors give the line numbers of the file.
  const rest = line === undefined ? head : head.slice(line.length);
  const given = options.delimiter ?? named;
  if (given !== undefined) return { layout: { format, delimiter: checkDelimiter(given) }, rest };
  const isTsv = extname(options.name).toLowerCase() === '.tsv';
  const delimiter = format !== 'csv' ? '' : isTsv ? '\t' : detectDelimiter(head, options);
  return { layout: { format, delimiter }, rest };
}

function checkDelimiter(text: string): string {
  const delimiter = text === '\\t' || text === 'tab' ? '\t' : text;
  if (delimiter.length === 1 && !/["\r\n]/.test(delimiter)) return delimiter;
  throw new UsageError(`--delimiter ${JSON.stringify(text)}: must be one character, as , ; | or tab`);
}

function formatOfName(name: string): RecordFormat | undefined {
  const endings: Record<string, RecordFormat> = {
    '.csv': 'csv',
    '.tsv': 'csv',
    '.json': 'json',
    '.jsonl': 'jsonl',
    '.ndjson': 'jsonl',
  };
  return endings[extname(name).toLowerCase()];
}

/** If the first line is a complete object, the text is JSON lines; otherwise it is one JSON document. */
function formatOfText(head: string): RecordFormat {
  const [line = ''] = head.trimStart().split(/[\r\n]/, 1);
  if (line.startsWith('[')) return 'json';
  if (!line.startsWith('{')) return 'csv';
  return /\}\s*$/.test(line) ? 'jsonl' : 'json';
}

function detectDelimiter(head: string, { rankHeader }: RecordOptions): string {
  const candidates = delimiters.map((delimiter) => {
    const cells =
      firstRecord(createCsvSplitter(delimiter), `${head.trimStart()}\n`)?.cells ?? head.split(delimiter);
    return { delimiter, rank: rankHeader?.(cells) ?? 0, count: cells.length };
  });
  candidates.sort((one, other) => other.rank - one.rank || other.count - one.count);
  return candidates[0]?.delimiter ?? ',';
}

function firstRecord(splitter: RecordSplitter, text: string): InputRecord | undefined {
  for (const piece of piecesOf(text)) {
    const [record] = splitter.push(piece);
    if (record) return record;
  }
  return undefined;
}
