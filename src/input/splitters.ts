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
  /** Set if nothing can be read after this record: it is over the limit, or holds the rest of a truncated file. */
  readonly isBroken?: true | undefined;
}

/** Splits text that comes in pieces. No piece ends within a CRLF. At most one record is held in memory. */
export interface RecordSplitter {
  /** Adds a piece, and returns the records that it completes. Records after a broken record may be missing. */
  push(piece: string): SplitRecord[];
  /** Ends the text, and returns the last records. */
  end(): SplitRecord[];
}

/** The length of the longest record, in characters: 1 MiB of ASCII. */
const maxRecordLength = 2 ** 20;

function brokenRecord(line: number, message = 'the record is longer than 1 MiB'): SplitRecord {
  return { line, text: '', problem: new ValueError(message), isBroken: true };
}

/** Splits text into its lines that are not blank. */
export function createLineSplitter(): RecordSplitter {
  let line = 1;
  let rest = '';
  const push = (piece: string): SplitRecord[] => {
    const records: SplitRecord[] = [];
    const lines = piece.split(/\r\n|\n|\r/);
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    for (const text of lines) {
      if (text.length > maxRecordLength) return [...records, brokenRecord(line)];
      if (text.trim() !== '') records.push({ line, text });
      line += 1;
    }
    return rest.length > maxRecordLength ? [...records, brokenRecord(line)] : records;
  };
  return { push, end: () => push('\n') };
}

/** Parses the text of a record. @throws ValueError if it is not JSON. */
export function toItem(text: string): JsonItem {
  try {
    return parseItem(text);
  } catch (error) {
    throw new ValueError(`not valid JSON: ${messageOf(error).replace(' at line 1, column', ' at column')}`, {
      rule: 'not valid JSON',
    });
  }
}

const pageSize = 1000;

/** Splits a JSON document into numbered records: the items of an array, or one value. @throws InputError if it is not JSON. */
export function* splitJson(text: string, name: string): Generator<readonly SplitRecord[]> {
  let page: SplitRecord[] = [];
  let line = 0;
  try {
    for (const item of parseItems(text)) {
      line += 1;
      page.push(item.text.length > maxRecordLength ? brokenRecord(line) : { line, text: item.text, item });
      if (page.length < pageSize) continue;
      yield page;
      page = [];
    }
  } catch (error) {
    throw error instanceof SyntaxError
      ? new InputError(`${name}: not valid JSON: ${messageOf(error)}`)
      : error;
  }
  yield page;
}

/**
 * Splits CSV text (RFC 4180) into records. Lines may end in LF, CRLF or CR in any mix. Blank lines are skipped. A quote
 * within an unquoted cell is an ordinary character.
 *
 * csv-parse is not used: it reports the last line of a record with quoted newlines, and the end of the file for an unclosed quote,
 * and is slow (bench/README.md).
 */
export class CsvSplitter implements RecordSplitter {
  private readonly delimiter: string;
  private readonly cell: RegExp;
  /** The line on which the next record begins. */
  private line = 1;
  /** The text from that line on. */
  private rest = '';
  /** The line of the quote that is open at the end of the text. */
  private quoteLine: number | undefined;

  constructor(delimiter: string) {
    this.delimiter = delimiter;
    // The text in quotes, the closing quote (empty if the text ends before it), and the text outside of quotes.
    this.cell = new RegExp(`(?:"([^"]*(?:""[^"]*)*)("?))?([^${delimiter}\\n\\r]*)`, 'y');
  }

  push(piece: string): SplitRecord[] {
    const records: SplitRecord[] = [];
    const text = this.rest + piece;
    this.rest = text.slice(this.splitComplete(text, records));
    if (this.rest.length > maxRecordLength) records.push(this.brokenRest('within 1 MiB'));
    return records;
  }

  end(): SplitRecord[] {
    const records = this.push('\n');
    if (this.rest !== '' && !records.at(-1)?.isBroken) records.push(this.brokenRest('until the end'));
    return records;
  }

  /** Makes a broken record of the rest of the text. @param where the part of the text that no quote closes */
  private brokenRest(where: string): SplitRecord {
    const quote = `the quote opened on line ${this.quoteLine} is not closed ${where}`;
    return brokenRecord(this.line, this.quoteLine === undefined ? undefined : quote);
  }

  /** Adds the complete records of a text to `records`, and returns the index after them. */
  private splitComplete(text: string, records: SplitRecord[]): number {
    const { delimiter } = this;
    const lineEndOrQuote = /[\n\r"]/g;
    let at = 0;
    this.quoteLine = undefined;
    while (lineEndOrQuote.test(text)) {
      let end = lineEndOrQuote.lastIndex - 1;
      let nextLine = this.line + 1;
      let record: SplitRecord | undefined;
      if (text[end] === '"') {
        const result = parseQuotedRecord(text, at, this.cell, delimiter);
        if (!result.cells) {
          if (result.openQuote !== undefined)
            this.quoteLine = this.line + lineEndsIn(text.slice(at, result.openQuote));
          return at;
        }
        const { cells, problem } = result;
        end = result.end;
        record = { line: this.line, text: text.slice(at, end), cells, problem };
        nextLine += lineEndsIn(record.text);
      } else {
        const line = text.slice(at, end);
        const cells = line.split(delimiter);
        if (cells.length > 1 || cells[0]?.trim() !== '') record = { line: this.line, text: line, cells };
      }
      if (record) records.push(end - at > maxRecordLength ? brokenRecord(this.line) : record);
      this.line = nextLine;
      at = afterLineEnd(text, end);
      lineEndOrQuote.lastIndex = at;
    }
    return at;
  }
}

/** Returns the index after the line end at `end`: LF, CR or CRLF. */
function afterLineEnd(text: string, end: number): number {
  return text.charCodeAt(end) === 0x0d && text.charCodeAt(end + 1) === 0x0a ? end + 2 : end + 1;
}

function lineEndsIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}

/** The cells of a record, or the index of the quote that is open at the end of the text. */
type QuotedRecord =
  | { readonly cells: readonly string[]; readonly end: number; readonly problem: ValueError | undefined }
  | { readonly cells?: undefined; readonly openQuote?: number };

/** Reads the record at an index, which may have quotes. */
function parseQuotedRecord(text: string, from: number, cell: RegExp, delimiter: string): QuotedRecord {
  const cells: string[] = [];
  let problem: ValueError | undefined;
  for (let start = from; ; start = cell.lastIndex + 1) {
    cell.lastIndex = start;
    const [, quoted, closing, plain = ''] = cell.exec(text) ?? [];
    const end = cell.lastIndex;
    if (closing === '') return { openQuote: start };
    if (end === text.length) return {};
    if (quoted !== undefined && plain !== '')
      problem = new ValueError('text follows a closing quote', 'within quotes, write each quote twice');
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    if (text[end] !== delimiter) return { cells, end, problem };
  }
}

/** Returns true if tab-separated text has a quoted cell. Within its quotes, which may be on several lines, all quotes are doubled. */
export function hasQuotedCell(text: string): boolean {
  return /(?:^|[\t\r\n])"(?:[^\t\r\n]*|[^"]*(?:""[^"]*)*)"(?=[\t\r\n]|$)/.test(text);
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\', '"': '"' };

/** Splits tab-separated text as `-o tsv` writes it: a record on each line. */
export function createTsvSplitter(): RecordSplitter {
  const lines = createLineSplitter();
  const toCell = (cell: string) =>
    cell.replace(/\\([tnr\\"])/g, (_, letter: string) => escapes[letter] ?? '');
  const toRecord = (record: SplitRecord): SplitRecord => {
    const { line, text, problem } = record;
    return problem ? record : { line, text, cells: text.split('\t').map(toCell) };
  };
  return {
    push: (piece) => lines.push(piece).map(toRecord),
    end: () => lines.end().map(toRecord),
  };
}
