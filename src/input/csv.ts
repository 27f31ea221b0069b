import {
  afterLineEnd,
  type InputRecord,
  maxRecordLength,
  OpenText,
  overlongProblem,
  type Position,
  type RecordSplitter,
  withoutHalfLineEnd,
} from './record.ts';

/** The position at which a cell of a CSV record begins. */
export function cellPosition(record: InputRecord, index: number): Position {
  const before = (record.cells ?? []).slice(0, index);
  const column = before.reduce((sum, cell) => sum + cell.length + 1, 1);
  return record.starts?.[index] ?? { line: record.line, column };
}

/**
 * Splits CSV text (RFC 4180) into records. Lines may end in LF, CRLF or CR in any mix, blank lines are skipped, and a
 * quote within an unquoted cell is an ordinary character.
 *
 * Own code, because csv-parse reports no column, gives the last line of a record with quoted newlines and the end of
 * the file for an unclosed quote, and took 9.9 s and 240 MB for a million rows.
 */
export function createCsvSplitter(delimiter: string): RecordSplitter {
  return new CsvSplitter(delimiter);
}

class CsvSplitter implements RecordSplitter {
  readonly delimiter: string;
  line = 1;
  private readonly open = new OpenText();
  private overlong: OverlongRecord | undefined;

  constructor(delimiter: string) {
    this.delimiter = delimiter;
  }

  push(text: string): InputRecord[] {
    const records: InputRecord[] = [];
    const work = this.open.add(text);
    if (work !== undefined) this.open.leave(work.slice(this.take(withoutHalfLineEnd(work), records)));
    return records;
  }

  end(): InputRecord[] {
    const records: InputRecord[] = [];
    const rest = this.open.take();
    if (rest === '' && !this.overlong) return records;
    const text = `${rest}\n`;
    const at = this.take(text, records);
    if (this.overlong) records.push(this.overlong.record());
    else if (at < text.length) records.push(this.unclosed(text, at));
    return records;
  }

  /** Takes whole records and returns the index after them. */
  private take(text: string, records: InputRecord[]): number {
    const next = createFinder(text);
    let at = 0;
    while (at < text.length) {
      if (this.overlong) at = this.skipOverlong(this.overlong, text, { at, records });
      else at = this.takeLines(text, at, { next, records });
      if (at === text.length) break;
      const record = readQuotedRecord(text, at, this);
      if ('openedAt' in record) {
        if (text.length - at <= maxRecordLength) break;
        this.overlong = new OverlongRecord(this.line, this.delimiter);
      } else {
        const isOverlong = record.end - at > maxRecordLength;
        records.push(
          isOverlong
            ? { line: this.line, column: 1, problem: overlongProblem, isBroken: true }
            : record.record,
        );
        this.line = record.nextLine;
        at = record.end;
      }
    }
    return at;
  }

  /** Takes lines up to one that has a quote or does not end yet; skips blank ones. */
  private takeLines(
    text: string,
    from: number,
    { next, records }: { next: Finder; records: InputRecord[] },
  ): number {
    const { delimiter } = this;
    let at = from;
    for (let end = next.lineEnd(at); end < text.length && next.quote(at) > end; end = next.lineEnd(at)) {
      const cells = text.slice(at, end).split(delimiter);
      if (end - at > maxRecordLength)
        records.push({ line: this.line, column: 1, problem: overlongProblem, isBroken: true });
      else if (cells.length > 1 || cells[0]?.trim() !== '')
        records.push({ line: this.line, column: 1, cells });
      this.line += 1;
      at = afterLineEnd(text, end);
    }
    return at;
  }

  private skipOverlong(
    overlong: OverlongRecord,
    text: string,
    { at, records }: { readonly at: number; readonly records: InputRecord[] },
  ): number {
    const end = overlong.skip(text, at);
    if (!overlong.hasEnded) return end;
    records.push(overlong.record());
    this.line = overlong.line;
    this.overlong = undefined;
    return end;
  }

  private unclosed(text: string, at: number): InputRecord {
    const unfinished = readQuotedRecord(text, at, this);
    const openedAt = 'openedAt' in unfinished ? unfinished.openedAt : undefined;
    return {
      line: this.line,
      column: 1,
      problem: unclosedProblem(openedAt?.line ?? this.line),
      isBroken: true,
    };
  }
}

interface Finder {
  quote(at: number): number;
  lineEnd(at: number): number;
}

/**
 * Finds the next line end and quote at or after an index that only grows; returns the text's length if there is none.
 */
function createFinder(text: string): Finder {
  const finder = (wanted: string) => {
    let found = -1;
    return (at: number) => {
      if (found < at) found = text.indexOf(wanted, at);
      if (found === -1) found = text.length;
      return found;
    };
  };
  const [lineFeed, carriageReturn, quote] = [finder('\n'), finder('\r'), finder('"')];
  return { quote, lineEnd: (at: number) => Math.min(lineFeed(at), carriageReturn(at)) };
}

interface QuotedRecord {
  readonly record: InputRecord;
  /** Index after its line end. */
  readonly end: number;
  readonly nextLine: number;
}

/** A record that does not end within the text, and the position of its last opening quote. */
interface UnfinishedRecord {
  readonly openedAt: Position | undefined;
}

/** The line on which a record begins, and the delimiter of its cells. */
interface Place {
  readonly line: number;
  readonly delimiter: string;
}

interface Cell {
  readonly value: string;
  /** Index of the delimiter or line end after it; the text's length if there is none. */
  readonly end: number;
  readonly isBroken?: boolean;
}

/** Reads a CSV record with quotes from index `from` of the text on. */
function readQuotedRecord(
  text: string,
  from: number,
  { line: first, delimiter }: Place,
): QuotedRecord | UnfinishedRecord {
  const cells: string[] = [];
  const starts: Position[] = [];
  let problem: string | undefined;
  let line = first;
  let lineStart = from;
  for (let at = from; ; at += 1) {
    const start = { line, column: at - lineStart + 1 };
    const cell = text[at] === '"' ? readQuotedCell(text, at, delimiter) : readCell(text, at, delimiter);
    if (!cell) return { openedAt: start };
    if (cell.end === text.length) return { openedAt: undefined };
    if (cell.isBroken) problem ??= 'text follows a closing quote';
    cells.push(cell.value);
    starts.push(start);
    for (const lineEnd of text.slice(at, cell.end).matchAll(/\r\n|\n|\r/g)) {
      line += 1;
      lineStart = at + lineEnd.index + lineEnd[0].length;
    }
    at = cell.end;
    if (text[at] === delimiter) continue;
    const record = { line: first, column: 1, cells, starts, problem };
    return { record, end: afterLineEnd(text, at), nextLine: line + 1 };
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

/** A CSV record beyond the limit: it is skipped character by character to find its end, and none of it is kept. */
class OverlongRecord {
  hasEnded = false;
  /** The line after the skipped text. */
  line: number;
  private readonly first: number;
  private readonly delimiter: string;
  private state: 'start' | 'plain' | 'quoted' | 'closed' = 'start';
  private quoteLine = 0;

  constructor(line: number, delimiter: string) {
    this.line = line;
    this.first = line;
    this.delimiter = delimiter;
  }

  /** Skips the text from `from` on and returns the index after the record, or after the text. */
  skip(text: string, from: number): number {
    let at = from;
    while (at < text.length && !this.hasEnded) {
      const unit = text[at];
      const isLineEnd = unit === '\n' || unit === '\r';
      if (isLineEnd) this.line += 1;
      if (this.state !== 'quoted' && isLineEnd) this.hasEnded = true;
      else if (unit === '"') this.quote();
      else if (this.state !== 'quoted') this.state = unit === this.delimiter ? 'start' : 'plain';
      at = isLineEnd ? afterLineEnd(text, at) : at + 1;
    }
    return at;
  }

  record(): InputRecord {
    const problem = this.state === 'quoted' ? unclosedProblem(this.quoteLine) : overlongProblem;
    return { line: this.first, column: 1, problem, isBroken: true };
  }

  /** A quote right after a closing one is an escaped quote, and the cell goes on. */
  private quote(): void {
    if (this.state === 'quoted') this.state = 'closed';
    else if (this.state === 'start') {
      this.state = 'quoted';
      this.quoteLine = this.line;
    } else if (this.state === 'closed') this.state = 'quoted';
  }
}

function unclosedProblem(line: number): string {
  return `the quote opened on line ${line} is never closed: all that follows is in it`;
}
