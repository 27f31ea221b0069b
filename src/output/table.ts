import { sanitize } from '../text.ts';
import { type Column, cellText } from './columns.ts';
import { longestPiece, wrap } from './fold.ts';
import type { Sheet, Writer } from './formats.ts';
import { paintStatus } from './style.ts';
import { createMeasure, type Measure } from './width.ts';

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
    const { columns, frame } = await drawFrame(sheet, held);
    const left = sheet.columns.filter((column) => !columns.includes(column)).map(({ name }) => name);
    if (left.length > 0) remark = `no room for ${left.join(', ')}: see --fields, or widen the terminal`;
    if (frame !== undefined) return frame;
    const writer = alignedWriter({ ...sheet, columns });
    return (await writer.rows(held)) + (await writer.end());
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
  const widths = names.map((name) => (header ? name.length : 0));
  let isFirst = true;
  const print = async (rows: readonly Row[]) => {
    const lines = rows.map((row) => columns.map((column) => shownText(sheet, column, row)));
    const measure = await createMeasure(lines.flat());
    for (const texts of lines)
      for (const [at, text] of texts.entries()) widths[at] = Math.max(widths[at] ?? 0, measure(text));
    const fill = (text: string, at: number) => {
      const { align, status } = columns[at] ?? {};
      const space = ' '.repeat(Math.max(0, (widths[at] ?? 0) - measure(text)));
      const painted = status ? paintStatus(style, text)(text) : text;
      return align === 'right' ? space + painted : painted + space;
    };
    const toLine = (texts: readonly string[]) =>
      texts
        .map(fill)
        .join('  ')
        .replace(/(?<! ) +$/, '');
    const head = header && isFirst ? [style.bold(toLine(names))] : [];
    isFirst = false;
    return [...head, ...lines.map(toLine)].map((line) => `${line}\n`).join('');
  };
  return { rows: print, end: () => (isFirst ? print([]) : '') };
}

/** A cell, safe to show; secrets are masked before it is wrapped. */
function shownText<Row>({ mask }: Sheet<Row>, column: Column<Row>, row: Row): string {
  return sanitize(mask(cellText(column.value(row))));
}

/** A column with the texts of its cells. */
interface Framed<Row> {
  readonly column: Column<Row>;
  readonly texts: readonly string[];
  /** The least width at which no word is cut. */
  readonly wordWidth: number;
  /** At first that of the widest text; it shrinks until all columns fit. */
  width: number;
}

/** A word longer than this is cut rather than a column left out; run ids are this long. */
const longestWord = 25;
const leastWidth = 2;

/**
 * The columns that fit the terminal, and their frame; no frame if the terminal is too narrow for any, or if it would be
 * too long.
 */
async function drawFrame<Row>(
  sheet: Sheet<Row>,
  rows: readonly Row[],
): Promise<{ readonly columns: readonly Column<Row>[]; readonly frame: string | undefined }> {
  const { header, style, width, isPicked } = sheet;
  const cells = sheet.columns.map((column) => rows.map((row) => shownText(sheet, column, row)));
  const measure = await createMeasure(cells.flat());
  const all = sheet.columns.map((column, at) => toFramed(column, cells[at] ?? [], header, measure));
  const framed = isPicked ? all : withoutSpare(all, width);
  const columns = framed.map(({ column }) => column);
  if (!shrinkToFit(framed, width)) return { columns, frame: undefined };
  const wrapped = framed.map((each) => each.texts.map((text) => wrap(text, each.width, measure)));
  // Each line is a table row of its own: cli-table3 takes quadratic time for the lines of a cell too.
  const lines = rows.flatMap((_, row) => {
    const cells = wrapped.map((column) => column[row] ?? []);
    const height = Math.max(...cells.map((cell) => cell.length));
    return Array.from({ length: height }, (_, at) => cells.map((cell) => cell[at] ?? ''));
  });
  if (lines.length > mostLines) return { columns, frame: undefined };
  const { default: Table } = await import('cli-table3');
  const head = framed.map(({ column, width }) =>
    wrap(column.name, width, measure).map((line) => style.bold(line)),
  );
  const table = new Table({
    head: header ? head.map((lines) => lines.join('\n')) : [],
    colAligns: columns.map(({ align = 'left' }) => align),
    style: { head: [], border: [], compact: true },
  });
  for (const line of lines)
    table.push(line.map((text, at) => (columns[at]?.status ? paintStatus(style, text)(text) : text)));
  return { columns, frame: `${table.toString()}\n` };
}

function toFramed<Row>(
  column: Column<Row>,
  texts: readonly string[],
  header: boolean,
  measure: Measure,
): Framed<Row> {
  const least = header ? column.name.length : leastWidth;
  const widest = (widthOf: (text: string) => number) =>
    texts.reduce((most, text) => Math.max(most, widthOf(text)), least);
  const wordWidth = widest((text) => Math.min(longestPiece(text, measure), longestWord));
  return { column, texts, wordWidth, width: widest(measure) };
}

/** The columns that fit with no word cut; spare columns are left out from the last one on. */
function withoutSpare<Row>(framed: readonly Framed<Row>[], width: number): readonly Framed<Row>[] {
  const needed = framed.reduce((total, { wordWidth }) => total + wordWidth, 0);
  const spare = framed.findLastIndex(({ column }) => column.spare);
  return needed <= room(framed.length, width) || spare === -1
    ? framed
    : withoutSpare(framed.toSpliced(spare, 1), width);
}

/**
 * Makes the columns fit the terminal: the widest shrink first, down to their longest words, then text below that, then
 * all. False if even the narrowest are too wide.
 */
function shrinkToFit<Row>(framed: readonly Framed<Row>[], width: number): boolean {
  const available = room(framed.length, width);
  const [first] = framed;
  // The first column identifies the rows, so it shrinks last.
  const isText = (each: Framed<Row>) =>
    each !== first && each.column.align !== 'right' && !each.column.status;
  const limits: readonly ((each: Framed<Row>) => number)[] = [
    ({ wordWidth }) => wordWidth,
    (each) => (isText(each) ? 8 : each.wordWidth),
    (each) => (isText(each) ? 4 : each.wordWidth),
    () => leastWidth,
  ];
  for (const each of framed) each.width = Math.min(each.width, Math.max(available, leastWidth));
  let excess = framed.reduce((total, each) => total + each.width, -available);
  for (const least of limits) {
    for (; excess > 0; excess -= 1) {
      const shrinkable = framed.filter((each) => each.width > least(each));
      if (shrinkable.length === 0) break;
      shrinkable.reduce((widest, each) => (each.width > widest.width ? each : widest)).width -= 1;
    }
  }
  return excess <= 0;
}

/** Columns of the terminal left for cells, without borders and padding. */
function room(columns: number, width: number): number {
  return width - 3 * columns - 1;
}
