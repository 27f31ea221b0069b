import { type Column, cellText } from './columns.ts';
import { sanitize } from './sanitize.ts';
import type { Measure } from './width.ts';

/** The cells of some rows as a person may see them, one array a row. */
export function readableCells<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string[][] {
  return rows.map((row) => columns.map((column) => sanitize(cellText(column.value(row)))));
}

/** The widest cell of each column, and at least `least`. */
export function widest(
  rows: readonly (readonly string[])[],
  least: readonly number[],
  measure: Measure,
): number[] {
  const widths = [...least];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, measure(cell));
  }
  return widths;
}
