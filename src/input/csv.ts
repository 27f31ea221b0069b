import { OverlongRecord, unclosedProblem } from './csv-overlong.ts';
import { readQuotedRecord } from './csv-quoted.ts';
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

/** Where a cell of a CSV record begins. */
export function cellPosition(record: InputRecord, index: number): Position {
  const before = (record.cells ?? []).slice(0, index);
  const column = before.reduce((sum, cell) => sum + cell.length + 1, 1);
  return record.starts?.[index] ?? { line: record.line, column };
}

/**
 * Splits CSV text (RFC 4180) into records: LF, CRLF and CR end a line in any mix, blank lines are no records, a quote
 * within an unquoted cell is a character like any other.
 *
 * Own code: csv-parse gives no column, names the last line of a record with quoted newlines, and the end of the file for
 * an unclosed quote; a million rows took it 9.9 s and 240 MB.
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

  /** Takes whole records and gives the index after them. */
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

  /** Takes lines up to one with a quote in it, or without an end; a blank one holds no record. */
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

/** Finds the next line end and quote at or after an index that only grows; the text's length where there is none. */
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
