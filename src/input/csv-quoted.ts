import { afterLineEnd, type InputRecord, type Position } from './record.ts';

interface QuotedRecord {
  readonly record: InputRecord;
  /** Index after its line end. */
  readonly end: number;
  readonly nextLine: number;
}

/** A record that does not end within the text, and where its last quote was opened. */
interface UnfinishedRecord {
  readonly openedAt: Position | undefined;
}

/** The line on which a record begins, and what stands between its cells. */
interface Place {
  readonly line: number;
  readonly delimiter: string;
}

interface Cell {
  readonly value: string;
  /** Index of the delimiter or line end after it; the text's length where there is none. */
  readonly end: number;
  readonly isBroken?: boolean;
}

/** Reads a CSV record with quotes in it from index `from` of the text. */
export function readQuotedRecord(
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
