import { unescapeCell } from '../output/cells.ts';
import { InputError, messageOf, ValueError } from '../process/errors.ts';
import { type JsonItem, parseItem, parseItems } from '../process/exact-json.ts';

/** An unparsed record of an input: a row of a table, a line of JSON lines, or an item of a JSON array. */
export interface SplitRecord {
  /** The line on which the record begins, from 1. In a JSON document the number of the record. */
  readonly line: number;
  /** The text of the record, as in the input and without its line end. */
  readonly text: string;
  /** The values of the cells of a table, without quotes and escapes. */
  readonly cells?: readonly string[] | undefined;
  /** The value of an item of a JSON document. */
  readonly item?: JsonItem | undefined;
  readonly problem?: ValueError | undefined;
}

/** The length of the longest record, in characters: 1 MiB of ASCII. */
const maxRecordLength = 2 ** 20;

/** Returns a record. @throws InputError if it is longer than 1 MiB. @param place of the record, for the error. */
function requireLength(record: SplitRecord, place: string): SplitRecord {
  if (record.text.length <= maxRecordLength) return record;
  throw new InputError(`${place}: the record is longer than 1 MiB`, cutOffHint);
}

const cutOffHint = 'the file may be cut off: nothing was sent';

/** Splits text into its lines that are not blank. @throws InputError for a line over 1 MiB. */
export function* splitLines(text: string, name: string): Generator<SplitRecord, undefined> {
  const lineEnd = /[\n\r]|$/g;
  for (let [line, at] = [1, 0]; at < text.length; line += 1) {
    lineEnd.lastIndex = at;
    const end = lineEnd.exec(text)?.index ?? text.length;
    const content = text.slice(at, end);
    if (content.trim() !== '') yield requireLength({ line, text: content }, `${name}:${line}`);
    at = afterLineEnd(text, end);
  }
}

/** Parses the text of a record. @throws ValueError if it is not JSON. */
export function toItem(text: string): JsonItem {
  try {
    return parseItem(text);
  } catch (error) {
    const why = messageOf(error).replace(' at line 1, column', ' at column');
    throw new ValueError(`not valid JSON: ${why}`, { rule: 'not valid JSON' });
  }
}

/**
 * Splits a JSON document into numbered records: the items of an array, or one value.
 *
 * @throws InputError if it is not JSON, and for a record over 1 MiB.
 */
export function* splitJson(text: string, name: string): Generator<SplitRecord, undefined> {
  let line = 0;
  try {
    for (const item of parseItems(text)) {
      line += 1;
      yield requireLength({ line, text: item.text, item }, `${name}: record ${line}`);
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new InputError(`${name}: not valid JSON: ${error.message}`);
  }
}

/**
 * Splits CSV text (RFC 4180) into records. Lines may end in LF, CRLF or CR in any mix. Rows with only empty cells, which spreadsheets
 * leave at the end, are skipped. A quote within an unquoted cell is an ordinary character.
 *
 * csv-parse is not used: it reports the last line of a record with quoted newlines, and is slow (bench/README.md).
 *
 * @throws InputError for a record over 1 MiB, and a quote that is never closed.
 */
export function* splitCsv(text: string, name: string, delimiter: string): Generator<SplitRecord, undefined> {
  const lineEndOrQuote = /[\n\r"]|$/g;
  for (let [line, at] = [1, 0]; at < text.length; ) {
    const place = `${name}:${line}`;
    lineEndOrQuote.lastIndex = at;
    const end = lineEndOrQuote.exec(text)?.index ?? text.length;
    const record: SplitRecord & { readonly cells: readonly string[] } =
      text[end] === '"'
        ? { line, ...parseQuotedRecord(text, at, place, delimiter) }
        : { line, text: text.slice(at, end), cells: text.slice(at, end).split(delimiter) };
    if (record.problem || record.cells.some((cell) => cell.trim() !== '')) yield requireLength(record, place);
    line += 1 + (text[end] === '"' ? lineEndsIn(record.text) : 0);
    at = afterLineEnd(text, at + record.text.length);
  }
}

/** Returns the index after the line end at `end`: LF, CR or CRLF. */
function afterLineEnd(text: string, end: number): number {
  return text.charCodeAt(end) === 0x0d && text.charCodeAt(end + 1) === 0x0a ? end + 2 : end + 1;
}

function lineEndsIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}

/** Reads the record at an index, which may have quotes. @throws InputError for a quote that is never closed. */
function parseQuotedRecord(text: string, from: number, place: string, delimiter: string) {
  const plainText = new RegExp(`[^${delimiter}\\n\\r]*`, 'y');
  const cells: string[] = [];
  let problem: ValueError | undefined;
  for (let start = from; ; start = plainText.lastIndex + 1) {
    const isQuoted = text[start] === '"';
    const close = isQuoted ? findClosingQuote(text, start) : start - 1;
    if (isQuoted && close === -1)
      throw new InputError(`${place}: a quote is opened and never closed`, cutOffHint);
    plainText.lastIndex = close + 1;
    const [plain = ''] = plainText.exec(text) ?? [];
    if (isQuoted && plain !== '')
      problem = new ValueError('text follows a closing quote', {
        hint: 'within quotes, write each quote twice',
      });
    cells.push(isQuoted ? text.slice(start + 1, close).replaceAll('""', '"') : plain);
    const end = plainText.lastIndex;
    if (text[end] !== delimiter) return { text: text.slice(from, end), cells, problem };
  }
}

/** Finds the quote that closes a cell; -1 if there is none. */
function findClosingQuote(text: string, open: number): number {
  let at = text.indexOf('"', open + 1);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

/** Returns true if tab-separated text has a quoted cell. Within its quotes, which may be on several lines, all quotes are doubled. */
export function hasQuotedCell(text: string): boolean {
  return /(?:^|[\t\r\n])"(?:[^\t\r\n]*|[^"]*(?:""[^"]*)*)"(?=[\t\r\n]|$)/.test(text);
}

/** Splits tab-separated text as `-o tsv` writes it: a record on each line. */
export function* splitTsv(text: string, name: string): Generator<SplitRecord, undefined> {
  for (const record of splitLines(text, name))
    yield { ...record, cells: record.text.split('\t').map(unescapeCell) };
}
