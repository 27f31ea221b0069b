import { sanitize } from '../text.ts';
import { type Column, cellText } from './columns.ts';
import { longestPiece, wrap } from './fold.ts';
import type { Sheet, Writer } from './formats.ts';
import { paintStatus } from './style.ts';
import { createMeasure, type Measure } from './width.ts';

type Cells = readonly string[];
type Widths = readonly number[];

/** Most rows of a list, and lines of a frame. cli-table3 takes quadratic time: 10,000 rows take 10 s. */
const mostFramed = 300;
const mostLines = 1000;

/**
 * A table for a terminal: framed, its cells wrapped to fit. It holds all rows back until their widths are known. A list
 * of more than 300 rows is printed as aligned columns instead, page by page.
 */
export function tableWriter<Row>(sheet: Sheet<Row>): Writer<Row> {
  let held: Row[] = [];
  let aligned: Writer<Row> | undefined;
  let remark: string | undefined;
  const drawHeld = async () => {
    const cells = readableCells(sheet, held);
    const measure = await createMeasure(cells.flat());
    const columns = keepColumns(sheet, cells, measure);
    const left = sheet.columns.filter((column) => !columns.includes(column)).map(({ name }) => name);
    if (left.length > 0) remark = `no room for ${left.join(', ')}: see --fields, or widen the terminal`;
    const narrowed = { ...sheet, columns };
    return (await drawFrame(narrowed, readableCells(narrowed, held), measure)) ?? drawAligned(narrowed, held);
  };
  return {
    async rows(rows) {
      if (aligned) return aligned.rows(rows);
      held = held.concat(rows);
      if (held.length <= mostFramed) return '';
      const first = held;
      held = [];
      aligned = alignedWriter(sheet);
      return aligned.rows(first);
    },
    end: () => aligned?.end() ?? (held.length > 0 || sheet.header ? drawHeld() : ''),
    abandon: () => (held.length > 0 ? drawHeld() : ''),
    remark: () => remark,
  };
}

/**
 * Columns separated by two spaces, nothing cut, no trailing spaces. A column is as wide as its widest cell so far,
 * because the first lines are printed before the last ones are known.
 */
export function alignedWriter<Row>(sheet: Sheet<Row>): Writer<Row> {
  const { columns, header, style } = sheet;
  const names = columns.map(({ name }) => name);
  let widths: Widths | undefined;
  const print = async (rows: readonly Row[]) => {
    const cells = readableCells(sheet, rows);
    const measure = await createMeasure(cells.flat());
    const isFirst = widths === undefined;
    const known = widest(cells, widths ?? names.map((name) => (header ? name.length : 0)), measure);
    widths = known;
    const fill = (text: string, at: number) => {
      const { align, status } = columns[at] ?? {};
      const space = ' '.repeat(Math.max(0, (known[at] ?? 0) - measure(text)));
      const painted = status ? paintStatus(style, text)(text) : text;
      return align === 'right' ? space + painted : painted + space;
    };
    const toLine = (row: Cells) =>
      row
        .map(fill)
        .join('  ')
        .replace(/(?<! ) +$/, '');
    const lines = cells.map(toLine);
    if (header && isFirst) lines.unshift(style.bold(toLine(names)));
    return lines.map((line) => `${line}\n`).join('');
  };
  return { rows: print, end: () => (widths ? '' : print([])) };
}

async function drawAligned<Row>(sheet: Sheet<Row>, rows: readonly Row[]): Promise<string> {
  const writer = alignedWriter(sheet);
  return (await writer.rows(rows)) + (await writer.end());
}

/** The cells of some rows, safe to show; secrets are masked before a cell is wrapped. */
function readableCells<Row>({ columns, mask }: Sheet<Row>, rows: readonly Row[]): string[][] {
  return rows.map((row) => columns.map((column) => sanitize(mask(cellText(column.value(row))))));
}

/** @returns undefined if the terminal is too narrow for any frame, or the frame would be too long. */
async function drawFrame<Row>(
  sheet: Sheet<Row>,
  cells: readonly Cells[],
  measure: Measure,
): Promise<string | undefined> {
  const { columns, header, style } = sheet;
  const widths = fitWidths(sheet, cells, measure);
  if (!widths) return undefined;
  const { default: Table } = await import('cli-table3');
  const lines = cells.flatMap((row) => wrapRow(row, widths, measure));
  if (lines.length > mostLines) return undefined;
  const table = new Table({
    head: header
      ? columns.map(({ name }, at) =>
          wrap(name, widths[at] ?? 0, measure)
            .map(style.bold)
            .join('\n'),
        )
      : [],
    colAligns: columns.map(({ align = 'left' }) => align),
    style: { head: [], border: [], compact: true },
  });
  // Each line is a table row of its own: cli-table3 takes exponential time for multi-line cells.
  for (const line of lines)
    table.push(line.map((text, at) => (columns[at]?.status ? paintStatus(style, text)(text) : text)));
  return `${table.toString()}\n`;
}

/** The lines of a row: the first line of every cell, then the second. */
function wrapRow(cells: Cells, widths: Widths, measure: Measure): string[][] {
  const wrapped = cells.map((cell, at) => wrap(cell, widths[at] ?? 0, measure));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) => wrapped.map((lines) => lines[at] ?? ''));
}

/** The widest cell of each column, but at least `least`. */
function widest(rows: readonly Cells[], least: Widths, measure: Measure): number[] {
  const widths = [...least];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, measure(cell));
  }
  return widths;
}

/** A word longer than this is cut rather than a column left out; run ids are this long. */
const longestWord = 25;
const leastWidth = 2;

/** The width of each column if its cells are wrapped and no word is cut. */
function wordWidths<Row>(
  { columns, header }: Sheet<Row>,
  cells: readonly Cells[],
  measure: Measure,
): number[] {
  const least = columns.map(({ name }) => (header ? name.length : leastWidth));
  return widest(cells, least, (cell) => Math.min(longestPiece(cell, measure), longestWord));
}

/**
 * The columns that fit the terminal with no word cut. Spare columns are left out from the last one on; if the user
 * picked the columns, all stay.
 */
function keepColumns<Row>(
  sheet: Sheet<Row>,
  cells: readonly Cells[],
  measure: Measure,
): readonly Column<Row>[] {
  if (sheet.isPicked) return sheet.columns;
  const words = wordWidths(sheet, cells, measure);
  let kept = sheet.columns.map((column, at) => ({ column, width: words[at] ?? 0 }));
  while (sum(kept.map(({ width }) => width)) > room(kept.length, sheet.width)) {
    const next = kept.findLastIndex(({ column }) => column.spare);
    if (next === -1) break;
    kept = kept.toSpliced(next, 1);
  }
  return kept.map(({ column }) => column);
}

/**
 * Widths that fit the terminal, frame included. The widest columns shrink first, down to their longest words, then text
 * below that, then all. Undefined if even the narrowest are too wide.
 */
function fitWidths<Row>(sheet: Sheet<Row>, cells: readonly Cells[], measure: Measure): Widths | undefined {
  const { columns, header, width } = sheet;
  const available = room(columns.length, width);
  const words = wordWidths(sheet, cells, measure);
  const whole = widest(
    cells,
    columns.map(({ name }) => (header ? name.length : leastWidth)),
    measure,
  );
  const widths = whole.map((each) => Math.min(each, Math.max(available, leastWidth)));
  // The first column identifies the rows, so it shrinks last.
  const isText = (at: number) => at > 0 && columns[at]?.align !== 'right' && !columns[at]?.status;
  const limits: readonly ((at: number) => number)[] = [
    (at) => words[at] ?? 0,
    (at) => (isText(at) ? 8 : (words[at] ?? 0)),
    (at) => (isText(at) ? 4 : (words[at] ?? 0)),
    () => leastWidth,
  ];
  for (const least of limits) {
    while (sum(widths) > available) {
      const candidates = widths.map((each, at) => (each > least(at) ? each : 0));
      const widestOne = Math.max(...candidates);
      if (widestOne === 0) break;
      widths[candidates.indexOf(widestOne)] = widestOne - 1;
    }
  }
  return sum(widths) > available ? undefined : widths;
}

/** Columns of the terminal left for cells, without borders and padding. */
function room(columns: number, width: number): number {
  return width - 3 * columns - 1;
}

function sum(widths: Widths): number {
  return widths.reduce((total, each) => total + each, 0);
}
