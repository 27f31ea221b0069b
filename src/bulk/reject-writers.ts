import { membersOf } from '../input/json-members.ts';
import type { InputRecord } from '../input/record.ts';
import type { Layout } from '../input/records.ts';
import { printJson } from '../json.ts';

/** What is said of a rejected row, beside its own columns; the names are those of the columns. */
export interface RejectNote {
  readonly _line: number;
  readonly _state: string;
  readonly _status: number | undefined;
  readonly _code: string | undefined;
  readonly _message: string | undefined;
  readonly _attempts: number | undefined;
}
const noteColumns = ['_line', '_state', '_status', '_code', '_message', '_attempts'] as const;

/** Puts rejected records into the format that they came in. */
export interface RejectWriter {
  /** Before the first row. */
  head(): string;
  row(record: InputRecord, note: RejectNote): string;
  tail(): string;
}

/** @param header of CSV. */
export function createRejectWriter({ format, delimiter }: Layout, header: readonly string[]): RejectWriter {
  if (format === 'csv') return new CsvRejects(header, delimiter);
  return format === 'jsonl' ? new JsonRejects('', '\n', '') : new JsonRejects('[\n  ', ',\n  ', '\n]\n');
}

class CsvRejects implements RejectWriter {
  private readonly header: readonly string[];
  private readonly delimiter: string;
  private readonly kept: readonly number[];

  constructor(header: readonly string[], delimiter: string) {
    this.header = header;
    this.delimiter = delimiter;
    // A file of rejects that is fed in again has notes already; the new ones take their place.
    this.kept = header.flatMap((name, at) => (isNote(name.trim()) ? [] : [at]));
  }

  head(): string {
    return this.line([...this.kept.map((at) => this.header[at] ?? ''), ...noteColumns]);
  }

  row({ cells = [] }: InputRecord, note: RejectNote): string {
    const notes = noteColumns.map((name) => asText(note[name]));
    return this.line([...this.kept.map((at) => cells[at] ?? ''), ...notes]);
  }

  tail(): string {
    return '';
  }

  private line(cells: readonly string[]): string {
    const mustQuote = (cell: string) => /["\r\n]|^\s|\s$/.test(cell) || cell.includes(this.delimiter);
    const quoted = cells.map((cell) => (mustQuote(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
    return `${quoted.join(this.delimiter)}\n`;
  }
}

class JsonRejects implements RejectWriter {
  private readonly opening: string;
  private readonly between: string;
  private readonly closing: string;
  private isFirst = true;

  constructor(opening: string, between: string, closing: string) {
    this.opening = opening;
    this.between = between;
    this.closing = closing;
  }

  head(): string {
    return this.opening;
  }

  row({ text = '' }: InputRecord, note: RejectNote): string {
    const own = membersOf(text)
      .filter(({ name }) => !isNote(name))
      .map(({ name, start, end }) => `${printJson(name)}:${onOneLine(text.slice(start, end))}`);
    const notes = noteColumns.flatMap((name) =>
      note[name] === undefined ? [] : `"${name}":${printJson(note[name])}`,
    );
    const separator = this.isFirst ? '' : this.between;
    this.isFirst = false;
    return `${separator}{${[...own, ...notes].join(',')}}`;
  }

  tail(): string {
    return this.closing === '' ? '\n' : this.closing;
  }
}

/** JSON without its line breaks and what indents the lines. */
function onOneLine(json: string): string {
  if (!/[\r\n]/.test(json)) return json;
  const lines = json.split(/[\r\n]+/).map((line) => line.trim());
  return lines.filter((line) => line !== '').join(' ');
}

function isNote(name: string): boolean {
  return (noteColumns as readonly string[]).includes(name);
}

/** A spreadsheet takes a cell that begins so for a formula. */
function asText(value: string | number | undefined): string {
  return typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? '');
}
