import { createLineSplitter } from './json.ts';
import {
  maxRecordLength,
  overlongRecord,
  type Problem,
  type RecordSplitter,
  type SplitRecord,
} from './record.ts';

/**
 * Splits CSV text (RFC 4180) into records. Lines may end in LF, CRLF or CR in any mix. Blank lines are skipped. A quote
 * within an unquoted cell is an ordinary character.
 *
 * The package csv-parse is not used: it reports the last line of a record with quoted newlines and the end of the file for
 * an unclosed quote, and is slow (bench/README.md).
 */
export class CsvSplitter implements RecordSplitter {
  private readonly delimiter: string;
  /** The line on which the next record begins. */
  private line = 1;
  /** The text from that line on. */
  private rest = '';
  /** The line of the quote that is open at the end of the text. */
  private quoteLine: number | undefined;
  private isOverlong = false;

  constructor(delimiter: string) {
    this.delimiter = delimiter;
  }

  push(piece: string): SplitRecord[] {
    if (this.isOverlong) {
      // From here on the text matters only because it may close the quote.
      if (piece.includes('"')) this.quoteLine = undefined;
      return [];
    }
    const records: SplitRecord[] = [];
    const text = this.rest + piece;
    this.rest = text.slice(this.splitComplete(text, records));
    this.isOverlong = this.rest.length > maxRecordLength;
    return records;
  }

  end(): SplitRecord[] {
    const records = this.push('\n');
    if (this.quoteLine !== undefined) {
      const message = `the quote opened on line ${this.quoteLine} is never closed, so the rest of the input is inside it`;
      records.push({ line: this.line, text: '', problem: { message }, isBroken: true });
    } else if (this.isOverlong) records.push(overlongRecord(this.line));
    return records;
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
        const result = readQuotedRecord(text, at, delimiter);
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
      if (record) records.push(end - at > maxRecordLength ? overlongRecord(this.line) : record);
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
  | { readonly cells: readonly string[]; readonly end: number; readonly problem: Problem | undefined }
  | { readonly cells?: undefined; readonly openQuote?: number };

/** Reads the record that begins at an index, and that may have quotes. */
function readQuotedRecord(text: string, from: number, delimiter: string): QuotedRecord {
  const cells: string[] = [];
  let isBroken = false;
  for (let at = from; ; at += 1) {
    const start = at;
    const isQuoted = text[start] === '"';
    const close = isQuoted ? closingQuote(text, start) : -1;
    if (isQuoted && close === -1) return { openQuote: start };
    at = cellEnd(text, close === -1 ? start : close + 1, delimiter);
    if (at === text.length) return {};
    isBroken ||= close !== -1 && at > close + 1;
    cells.push(close === -1 ? text.slice(start, at) : text.slice(start + 1, close).replaceAll('""', '"'));
    if (text[at] === delimiter) continue;
    const problem = isBroken ? textAfterQuote : undefined;
    return { cells, end: at, problem };
  }
}

/** Finds the quote that closes the one at an index; -1 if there is none. A doubled quote closes nothing. */
function closingQuote(text: string, open: number): number {
  let close = text.indexOf('"', open + 1);
  while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
  return close;
}

const textAfterQuote: Problem = {
  message: 'text follows a closing quote',
  hint: 'within quotes, a quote is written twice',
};

function cellEnd(text: string, from: number, delimiter: string): number {
  const delimiterCode = delimiter.charCodeAt(0);
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === delimiterCode || code === 0x0a || code === 0x0d) return at;
  }
  return text.length;
}

/**
 * How the cells of tab-separated text are written. `quoted`: as spreadsheets and databases write them, a cell in quotes if
 * it needs them. `escaped`: as `-o tsv` writes them. `plain`: neither, so that a backslash is a backslash.
 */
type TsvDialect = 'quoted' | 'escaped' | 'plain';

/**
 * Finds the dialect of a text by all of its cells. `-o tsv` writes no cell that begins with a quote, and no backslash that
 * begins no escape. `\N` alone is how databases write a cell without a value.
 */
export function tsvDialect(text: string): TsvDialect {
  if (hasQuotedCell(text)) return 'quoted';
  if (!text.includes('\\')) return 'escaped';
  // Two backslashes are one character, so that the second one begins no escape.
  const isForeign = /\\(?:[^tnrN\\"]|$)|[^\t\r\n]\\"|[^\t\r\n]\\N|\\N[^\t\r\n]/.test(
    text.replaceAll('\\\\', ''),
  );
  return isForeign ? 'plain' : 'escaped';
}

/** Whether a cell begins and ends with a quote. A cell of several lines has only doubled ones between. */
function hasQuotedCell(text: string): boolean {
  for (const { index, 0: opening } of text.matchAll(/(?:^|[\t\r\n])"/g)) {
    const start = index + opening.length - 1;
    const end = cellEnd(text, start, '\t');
    if (end - start > 1 && text[end - 1] === '"') return true;
    const close = closingQuote(text, start);
    if (close === -1) return false;
    if (close === text.length - 1 || /[\t\r\n]/.test(text.charAt(close + 1))) return true;
  }
  return false;
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\', '"': '"' };

/** Splits tab-separated text without quotes: a record on each line. */
export function createTsvSplitter(dialect: 'escaped' | 'plain'): RecordSplitter {
  const lines = createLineSplitter();
  const toCell = dialect === 'escaped' ? unescapeCell : (cell: string) => cell;
  const toRecord = (record: SplitRecord): SplitRecord => {
    const { line, text, problem } = record;
    return problem ? record : { line, text, cells: text.split('\t').map(toCell) };
  };
  return {
    push: (piece) => lines.push(piece).map(toRecord),
    end: () => lines.end().map(toRecord),
  };
}

function unescapeCell(cell: string): string {
  if (!cell.includes('\\')) return cell;
  if (cell === '\\N') return '';
  return cell.replace(/\\([tnr\\"])/g, (_, letter: string) => escapes[letter] ?? '');
}
