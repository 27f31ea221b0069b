import { sanitize } from '../text.ts';
import { type Column, cellText } from './columns.ts';
import { paintStatus } from './style.ts';
import type { Measure } from './width.ts';
import type { Sheet } from './writer.ts';

export type Widths = readonly number[];

/** The cells of some rows as a person may see them, one array a row. */
export function readableCells<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string[][] {
  return rows.map((row) => columns.map((column) => sanitize(cellText(column.value(row)))));
}

/** The widest cell of each column, and at least `least`. */
export function widest(
  rows: readonly (readonly string[])[],
  least: Widths,
  measure: Measure,
): readonly number[] {
  const widths = [...least];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, measure(cell));
  }
  return widths;
}

/** Gives the function that paints the text of a cell and fills it up to the width of its column. */
export function createFill<Row>({ columns, style }: Sheet<Row>, widths: Widths, measure: Measure) {
  return (text: string, at: number): string => {
    const { align, status } = columns[at] ?? {};
    const space = ' '.repeat(Math.max(0, (widths[at] ?? 0) - measure(text)));
    const painted = status ? paintStatus(style, text)(text) : text;
    return align === 'right' ? space + painted : painted + space;
  };
}
