import { printJson } from '../json.ts';
import type { Sheet, Writer } from './writer.ts';

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
