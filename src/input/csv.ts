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
      let record: SplitRecord | undefined;
      let nextLine = this.line + 1;
      if (text[end] === '"') {
        const result = readQuotedRecord(text, at, this.line, delimiter);
        if (!result.record) {
          this.quoteLine = result.quoteLine;
          return at;
        }
        ({ record, end, nextLine } = result);
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

interface QuotedRecord {
  readonly record: SplitRecord;
  /** The index of its line end. */
  readonly end: number;
  readonly nextLine: number;
}

/** A record that does not end within the text. */
interface UnfinishedRecord {
  readonly record?: undefined;
  /** The line of the quote that is open at the end of the text. */
  readonly quoteLine?: number | undefined;
}

interface Cell {
  readonly value: string;
  /** The index of the delimiter or line end after the cell, or the length of the text. */
  readonly end: number;
  readonly isBroken?: boolean;
}

/** Reads the record that begins at index `from` and on line `first`, and that may have quotes. */
function readQuotedRecord(
  text: string,
  from: number,
  first: number,
  delimiter: string,
): QuotedRecord | UnfinishedRecord {
  const cells: string[] = [];
  let problem: Problem | undefined;
  let line = first;
  for (let at = from; ; at += 1) {
    const cell = text[at] === '"' ? readQuotedCell(text, at, delimiter) : readCell(text, at, delimiter);
    if (!cell) return { quoteLine: line };
    if (cell.end === text.length) return {};
    if (cell.isBroken)
      problem ??= {
        message: 'text follows a closing quote',
        hint: 'within quotes, a quote is written twice',
      };
    cells.push(cell.value);
    line += cell.value.match(/\r\n|\n|\r/g)?.length ?? 0;
    at = cell.end;
    if (text[at] !== delimiter)
      return {
        record: { line: first, text: text.slice(from, at), cells, problem },
        end: at,
        nextLine: line + 1,
      };
  }
}

function readCell(text: string, at: number, delimiter: string): Cell {
  const end = cellEnd(text, at, delimiter);
  return { value: text.slice(at, end), end };
}

function readQuotedCell(text: string, open: number, delimiter: string): Cell | undefined {
  let close = text.indexOf('"', open + 1);
  while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
  if (close === -1) return undefined;
  const end = cellEnd(text, close + 1, delimiter);
  return { value: text.slice(open + 1, close).replaceAll('""', '"'), end, isBroken: end > close + 1 };
}

function cellEnd(text: string, from: number, delimiter: string): number {
  const delimiterCode = delimiter.charCodeAt(0);
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === delimiterCode || code === 0x0a || code === 0x0d) return at;
  }
  return text.length;
}
