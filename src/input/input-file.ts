import { isUtf8 } from 'node:buffer';
import { statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { type CellDialect, csv, tsv } from '../output/cells.ts';
import { InputError, systemReason } from '../process/errors.ts';
import { readFileOrStdin } from '../process/files.ts';
import type { Io } from '../process/io.ts';
import { hasQuotedCell, type SplitRecord, splitCsv, splitJson, splitLines, splitTsv } from './splitters.ts';

/** A file, a pipe or stdin, read whole. */
export interface InputFile {
  /** The name in errors: the path as the user wrote it, or `stdin`. */
  readonly name: string;
  /** The absolute path. A pipe has none. */
  readonly path: string | undefined;
  readonly text: string;
}

/** The most bytes of an input. It is read into memory, and may have no end, such as /dev/zero. */
const maxBytes = 2 ** 28;

/**
 * Reads a file, or stdin for `-`.
 *
 * @throws InputError if it cannot be read, is over 256 MiB, or is not UTF-8; and for a table from a pipe whose last line has no end,
 *   because its writer may have been killed within a number.
 */
export async function readInputFile(io: Io, path: string): Promise<InputFile> {
  const isStdin = path === '-';
  const name = isStdin ? 'stdin' : path;
  const bytes = await readFileOrStdin(io, path, maxBytes).catch((error) => {
    throw new InputError(`${name}: ${systemReason(error)}`);
  });
  const text = decodeUtf8(bytes, name);
  const absolute = resolve(io.cwd, path);
  // A path below these folders names an open file, and nothing can be written beside it.
  const isOpenFile = isStdin || /^\/(dev|proc)\//.test(absolute);
  if (!isOpenFile && statSync(absolute, { throwIfNoEntry: false })?.isFile())
    return { name, path: absolute, text };
  if (!/^\s*[[{]|[\r\n]$|^$/.test(text))
    throw new InputError(
      `${name}: the last line has no line break, so it may be cut off; nothing was sent`,
      'if it is whole, end it with a line break',
    );
  return { name, path: undefined, text };
}

/** Decodes UTF-8 without its BOM. @throws InputError if the bytes are a workbook, or are not UTF-8. */
export function decodeUtf8(bytes: Buffer, name: string): string {
  if (bytes.subarray(0, 4).toString('latin1') === 'PK\x03\x04')
    throw new InputError(`${name}: this is a workbook or another ZIP archive`, 'save the sheet as CSV UTF-8');
  const text = bytes.toString();
  if (isUtf8(bytes)) return text.startsWith('\ufeff') ? text.slice(1) : text;
  const at = Buffer.byteLength(text.slice(0, text.indexOf('\ufffd')));
  // A file in UTF-16 begins with FF FE or FE FF.
  const encoding = Number(bytes[0]) >= 0xfe ? 'UTF-16' : 'WINDOWS-1252';
  throw new InputError(
    `${name}: not UTF-8 at byte ${at + 1}`,
    `if it is text, save it as UTF-8, or convert it, for example with iconv -f ${encoding} -t UTF-8`,
  );
}

export interface InputFormat {
  /** `tsv` has no quotes; text with tabs and quotes is `csv`. */
  readonly kind: 'csv' | 'tsv' | 'json' | 'jsonl';
  /** The character between the cells of a table; empty for JSON. */
  readonly delimiter: string;
}

interface SplitInput {
  readonly format: InputFormat;
  /** The records in order. Reading them throws InputError for a text that cannot be split. */
  readonly records: Generator<SplitRecord, undefined>;
}

/** Returns true if the records of an input are rows of cells, which are texts. */
export function isTable({ kind }: InputFormat): boolean {
  return kind === 'csv' || kind === 'tsv';
}

/**
 * Splits CSV, tab-separated text, JSON lines or JSON into records. Returns undefined for a blank text.
 *
 * @param file its extension decides the format; without a known extension, the text does.
 * @param isColumn whether the command reads a column of this name. The delimiter that yields the most such columns is taken.
 */
export function splitInput(
  { name, text }: Pick<InputFile, 'name' | 'text'>,
  isColumn: (cell: string) => boolean,
): SplitInput | undefined {
  if (text.trim() === '') return undefined;
  const kind = kinds[extname(name).toLowerCase()] ?? kindOfText(text);
  if (kind === 'json') return { format: { kind, delimiter: '' }, records: splitJson(text, name) };
  if (kind === 'jsonl') return { format: { kind, delimiter: '' }, records: splitLines(text, name) };
  // The line in which Excel names the delimiter. It stays as a blank line, so that each line keeps its number.
  const [, separator] = /^sep=([,;\t|])(?=[\r\n]|$)/i.exec(text) ?? [];
  const table = separator === undefined ? text : text.slice('sep=;'.length);
  const delimiter = kind === 'tsv' ? '\t' : (separator ?? detectDelimiter(table, isColumn));
  const isPlain = delimiter === '\t' && !hasQuotedCell(table);
  const format: InputFormat = { kind: isPlain ? 'tsv' : 'csv', delimiter };
  return { format, records: splitTable(table, name, format) };
}

/** Splits the text of a table into its records. */
export function splitTable(
  text: string,
  name: string,
  { kind, delimiter }: InputFormat,
): SplitInput['records'] {
  return kind === 'tsv' ? splitTsv(text, name) : splitCsv(text, name, delimiter);
}

/** Returns how the cells of a table are written. */
export function dialectOf({ kind }: InputFormat): CellDialect {
  return kind === 'tsv' ? tsv : csv;
}

const kinds: Readonly<Record<string, InputFormat['kind']>> = {
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
};

/** Detects the kind of a text. A first line that is a complete object makes it JSON lines. */
function kindOfText(text: string): InputFormat['kind'] {
  const [, line = ''] = /^\s*([^\r\n]*)/.exec(text) ?? [];
  if (line.startsWith('[')) return 'json';
  if (!line.startsWith('{')) return 'csv';
  return /\}\s*$/.test(line) ? 'jsonl' : 'json';
}

/** Finds the delimiter that yields the most known columns in the first record, or else the most cells. */
function detectDelimiter(text: string, isColumn: (cell: string) => boolean): string {
  const tables = [',', ';', '\t', '|'].map((delimiter) => {
    try {
      const { cells = [], problem } = splitCsv(text, '', delimiter).next().value ?? {};
      if (!problem) return { delimiter, columnCount: cells.filter(isColumn).length, cellCount: cells.length };
    } catch {
      // A quote that no other closes, or a very long record: the text has another delimiter.
    }
    return { delimiter, columnCount: 0, cellCount: 0 };
  });
  tables.sort((a, b) => b.columnCount - a.columnCount || b.cellCount - a.cellCount);
  return tables[0]?.delimiter ?? ',';
}
