import { readableCells, widest } from './cells.ts';
import { paintStatus } from './style.ts';
import { createMeasure, type Measure } from './width.ts';
import type { Sheet, Writer } from './writer.ts';

const gap = '  ';

/**
 * Columns aligned with two spaces, nothing cut, no space at the end of a line. A column is as wide as its widest cell so
 * far, for the first lines go out before the last ones are known.
 */
export function alignedWriter<Row>(sheet: Sheet<Row>): Writer<Row> {
  const { columns, header, style } = sheet;
  const names = columns.map(({ name }) => name);
  let head = header ? [names] : [];
  let widths = columns.map(() => 0);

  const paint = (cell: string, at: number, isHead: boolean) => {
    if (isHead) return style.bold(cell);
    return columns[at]?.status ? paintStatus(style, cell)(cell) : cell;
  };
  const line = (row: readonly string[], measure: Measure) => {
    const last = row.findLastIndex((cell) => cell !== '');
    const cells = row.slice(0, last + 1).map((cell, at) => {
      const space = ' '.repeat((widths[at] ?? 0) - measure(cell));
      const painted = paint(cell, at, row === names);
      if (columns[at]?.align === 'right') return space + painted;
      return at === last ? painted : painted + space;
    });
    return `${cells.join(gap)}\n`;
  };
  const print = async (rows: readonly Row[]) => {
    const cells = [...head, ...readableCells(rows, columns)];
    head = [];
    const measure = await createMeasure(cells.flat());
    widths = widest(cells, widths, measure);
    return cells.map((row) => line(row, measure)).join('');
  };
  return { rows: print, end: () => print([]) };
}
