import type { JsonValue } from '../json.ts';
import { sanitize, sanitizeExcept } from '../text.ts';
import { cellText } from './columns.ts';
import type { Sheet, Writer } from './writer.ts';

/**
 * RFC 4180, with lines that end in LF. Newlines and tabs stay as they are, other controls become visible escapes; text
 * that a spreadsheet would take for a formula gets a leading `'`.
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

/** One id per line: the first column. A record without one has no line, which a warning tells. */
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
        : `warning: ${missing} ${missing === 1 ? 'record is' : 'records are'} left out, without ${column?.name}`,
  };
}

/**
 * What is text in a file though no terminal should get it: the joiners, which Persian, Hindi and emoji are written with,
 * and the carriage return.
 */
function keptInFiles<Row>({ isTerminal }: Sheet<Row>): string {
  return isTerminal ? '' : '\u200c\u200d\r';
}

const tsvEscapes: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };

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
    // Half of the time of a long list of numbers went into looking for controls in them.
    const isPlain = typeof value === 'number' || typeof value === 'bigint' || value === null;
    return isPlain ? cellText(value) : toCell(value);
  };
  const line = (row: Row) => `${columns.map((column) => cell(column.value(row))).join(delimiter)}\n`;
  return { rows: (rows) => takeHead() + rows.map(line).join(''), end: takeHead };
}
