import { type JsonValue, printJson } from '../json.ts';
import { counted, sanitize, sanitizeExcept } from '../text.ts';
import { type Column, cellText } from './columns.ts';
import type { Style } from './style.ts';

/** A print job: its columns, its shape and its output. */
export interface Sheet<Row> {
  readonly columns: readonly Column<Row>[];
  /** True if `--fields` chose the columns. */
  readonly isPicked: boolean;
  /** A list, even of one record, or a lone record. */
  readonly shape: 'list' | 'record';
  readonly header: boolean;
  readonly isTerminal: boolean;
  /** Of the terminal, in columns. */
  readonly width: number;
  readonly style: Style;
  /** Masks secrets in text that is cut or wrapped. */
  mask(text: string): string;
  /** The record for formats with keys: whole, or only the fields that `--fields` names. */
  value(row: Row): unknown;
}

/** Turns a list into text, piece by piece. */
export interface Writer<Row> {
  /** At least one row. */
  rows(rows: readonly Row[]): string | Promise<string>;
  /** Text after the last row. */
  end(): string | Promise<string>;
  /**
   * Text if an error ends the rows early. A JSON document stays unclosed, so that a parser notices that it is
   * incomplete.
   */
  abandon?(): string | Promise<string>;
  /** A remark about the printed text for people, after its end. */
  remark?(): string | undefined;
  /** A remark that programs need too, such as in a log. */
  warning?(): string | undefined;
}

/** One document: an array, or a lone object; indented on a terminal, compact elsewhere. */
export function jsonWriter<Row>(sheet: Sheet<Row>): Writer<Row> {
  const indent = sheet.isTerminal ? 2 : 0;
  const print = (row: Row) => printJson(sheet.value(row), indent);
  if (sheet.shape === 'record') return { rows: (rows) => rows.map(print).join(''), end: () => '\n' };
  const [open, next, close] = sheet.isTerminal ? ['[\n  ', ',\n  ', '\n]\n'] : ['[', ',', ']\n'];
  const item = sheet.isTerminal ? (row: Row) => print(row).replaceAll('\n', '\n  ') : print;
  let before = open;
  return {
    rows(rows) {
      const text = before + rows.map(item).join(next);
      before = next;
      return text;
    },
    end: () => (before === open ? '[]\n' : close),
  };
}

/** One record per line. */
export function jsonLinesWriter<Row>(sheet: Sheet<Row>): Writer<Row> {
  return {
    rows: (rows) => rows.map((row) => `${printJson(sheet.value(row))}\n`).join(''),
    end: () => '',
  };
}

/**
 * RFC 4180, but lines end in LF. Newlines and tabs are kept, other controls become visible escapes. Text that a
 * spreadsheet would run as a formula gets a leading `'`.
 */
export function csvWriter<Row>(sheet: Sheet<Row>): Writer<Row> {
  const kept = `\t\n${keptInFiles(sheet)}`;
  return delimitedWriter(sheet, ',', (value) => {
    const text = cellText(value);
    const guarded = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    const safe = sanitizeExcept(guarded, kept);
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
}

const tsvEscapes: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };

/** Tab-separated; tab, newline, carriage return and backslash are written as `\t`, `\n`, `\r`, `\\`. */
export function tsvWriter<Row>(sheet: Sheet<Row>): Writer<Row> {
  const kept = keptInFiles(sheet);
  return delimitedWriter(sheet, '\t', (value) =>
    sanitizeExcept(
      cellText(value).replace(/[\t\n\r\\]/g, (character) => tsvEscapes[character] ?? character),
      kept,
    ),
  );
}

/** One id per line: the first column. A record without an id is left out, and a warning counts such records. */
export function idsWriter<Row>({ columns: [column] }: Sheet<Row>): Writer<Row> {
  let missing = 0;
  const line = (row: Row) => {
    const text = sanitize(cellText(column?.value(row)));
    if (text === '') missing += 1;
    return text === '' ? '' : `${text}\n`;
  };
  return {
    rows: (rows) => rows.map(line).join(''),
    end: () => '',
    warning: () =>
      missing === 0
        ? undefined
        : `warning: left out ${counted(missing, 'record', 'records')} without ${column?.name}`,
  };
}

/**
 * Characters that are kept in files but not on a terminal: the carriage return, and joiners, which Persian, Hindi and
 * emoji need.
 */
function keptInFiles<Row>({ isTerminal }: Sheet<Row>): string {
  return isTerminal ? '' : '\u200c\u200d\r';
}

function delimitedWriter<Row>(
  { columns, header }: Sheet<Row>,
  delimiter: string,
  toCell: (value: JsonValue | undefined) => string,
): Writer<Row> {
  let head = header ? `${columns.map(({ name }) => name).join(delimiter)}\n` : '';
  const takeHead = () => {
    const text = head;
    head = '';
    return text;
  };
  const cell = (value: JsonValue | undefined) => {
    // Looking for controls in numbers took half of the time of a long list.
    const isPlain = typeof value === 'number' || typeof value === 'bigint' || value === null;
    return isPlain ? cellText(value) : toCell(value);
  };
  const line = (row: Row) => `${columns.map((column) => cell(column.value(row))).join(delimiter)}\n`;
  return { rows: (rows) => takeHead() + rows.map(line).join(''), end: takeHead };
}
