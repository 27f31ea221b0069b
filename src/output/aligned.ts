import { createFill, readableCells, type Widths, widest } from './cells.ts';
import { createMeasure } from './width.ts';
import type { Sheet, Writer } from './writer.ts';

/**
 * Columns aligned with two spaces, nothing cut, no space at the end of a line. A column is as wide as its widest cell so
 * far, for the first lines go out before the last ones are known.
 */
export function alignedWriter<Row>(sheet: Sheet<Row>): Writer<Row> {
  const { columns, header, style } = sheet;
  const names = columns.map(({ name }) => name);
  let widths: Widths | undefined;

  const print = async (rows: readonly Row[]) => {
    const cells = readableCells(rows, columns);
    const measure = await createMeasure(cells.flat());
    const isFirst = widths === undefined;
    widths = widest(cells, widths ?? names.map((name) => (header ? name.length : 0)), measure);
    const fill = createFill(sheet, widths, measure);
    const lines = cells.map((row) => toLine(row.map(fill)));
    return (header && isFirst ? [style.bold(toLine(names.map(fill))), ...lines] : lines)
      .map((line) => `${line}\n`)
      .join('');
  };
  return { rows: print, end: () => (widths ? '' : print([])) };
}

function toLine(cells: readonly string[]): string {
  return cells.join('  ').replace(/(?<! ) +$/, '');
}
