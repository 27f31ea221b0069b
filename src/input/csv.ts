import { createLineSplitter } from './json.ts';
import {
  maxRecordLength,
  overlongRecord,
  type Position,
  type Problem,
  type RecordSplitter,
  type SplitRecord,
} from './record.ts';

/** Returns the position at which a cell of a CSV record begins. */
export function cellPosition(record: SplitRecord, index: number): Position {
  const before = (record.cells ?? []).slice(0, index);
  const column = before.reduce((sum, cell) => sum + cell.length + 1, 1);
  return record.starts?.[index] ?? { line: record.line, column };
}

/**
 * Splits CSV text (RFC 4180) into records. Lines may end in LF, CRLF or CR in any mix. Blank lines are skipped. A quote
 * within an unquoted cell is an ordinary character.
 *
 * The package csv-parse is not used: it reports no column, reports the last line of a record with quoted newlines and the
 * end of the file for an unclosed quote, and is slow (bench/README.md).
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
      records.push({ line: this.line, column: 1, problem: { message }, isBroken: true });
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
        const cells = text.slice(at, end).split(delimiter);
        if (cells.length > 1 || cells[0]?.trim() !== '') record = { line: this.line, column: 1, cells };
      }
      if (record) records.push(end - at > maxRecordLength ? overlongRecord(this.line) : record);
      this.line = nextLine;
      at = afterLineEnd(text, end);
      lineEndOrQuote.lastIndex = at;
    }
    return at;
  }
}

const tabEscapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\' };

/** Splits tab-separated text as `-o tsv` writes it: a record on each line, and the escapes `\t`, `\n`, `\r` and `\\`. */
export function createTsvSplitter(): RecordSplitter {
  const lines = createLineSplitter();
  const toRecord = ({ text, ...record }: SplitRecord): SplitRecord => ({
    ...record,
    cells: text
      ?.split('\t')
      .map((cell) => cell.replace(/\\([tnr\\])/g, (_, letter: string) => tabEscapes[letter] ?? '')),
  });
  return {
    push: (piece) => lines.push(piece).map(toRecord),
    end: () => lines.push('\n').map(toRecord),
  };
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
  const starts: Position[] = [];
  let problem: Problem | undefined;
  let line = first;
  let lineStart = from;
  for (let at = from; ; at += 1) {
    const start = { line, column: at - lineStart + 1 };
    const cell = text[at] === '"' ? readQuotedCell(text, at, delimiter) : readCell(text, at, delimiter);
    if (!cell) return { quoteLine: line };
    if (cell.end === text.length) return {};
    if (cell.isBroken) problem ??= { message: 'text follows a closing quote' };
    cells.push(cell.value);
    starts.push(start);
    if (/[\r\n]/.test(cell.value))
      for (const lineEnd of text.slice(at, cell.end).matchAll(/\r\n|\n|\r/g)) {
        line += 1;
        lineStart = at + lineEnd.index + lineEnd[0].length;
      }
    at = cell.end;
    if (text[at] === delimiter) continue;
    const record = { line: first, column: 1, cells, starts, problem };
    return { record, end: at, nextLine: line + 1 };
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
