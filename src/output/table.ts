import { sanitize } from '../process/text.ts';
import { type Column, cellText } from './columns.ts';
import { longestPiece, wrap } from './fold.ts';
import type { Sheet, Writer } from './formats.ts';
import { nearTime, timeDistance } from './near-time.ts';
import { paintStatus } from './style.ts';
import { createMeasure, type Measure } from './width.ts';

/** The largest number of records in a frame, and of its lines. cli-table3 takes quadratic time: 10,000 lines take 10 s. */
const maxFramed = 300;
const maxLines = 1000;

/**
 * A table for a terminal: framed, its cells wrapped to fit. It holds all records back until their widths are known. A
 * list of more than 300 records is printed as aligned columns instead, page by page.
 */
export function tableWriter<Entity>(sheet: Sheet<Entity>): Writer<Entity> {
  let buffer: Entity[] = [];
  let aligned: Writer<Entity> | undefined;
  let notice: string | undefined;
  const drawBuffer = async () => {
    const { columns, frame } = await drawFrame(sheet, buffer);
    const left = sheet.columns.filter((column) => !columns.includes(column)).map(({ name }) => name);
    if (left.length > 0 && buffer.length > 0)
      notice = `no room for ${left.join(', ')}: see --fields, or widen the terminal`;
    if (frame !== undefined) return frame;
    const writer = alignedWriter({ ...sheet, columns });
    return (await writer.print(buffer)) + (await writer.end());
  };
  return {
    async print(records) {
      if (aligned) return aligned.print(records);
      buffer = buffer.concat(records);
      if (buffer.length <= maxFramed) return '';
      const first = buffer;
      buffer = [];
      aligned = alignedWriter(sheet);
      return aligned.print(first);
    },
    end: () => aligned?.end() ?? (buffer.length > 0 ? drawBuffer() : alignedWriter(sheet).end()),
    abandon: () => (buffer.length > 0 ? drawBuffer() : ''),
    notice: () => notice,
  };
}

/**
 * Columns separated by two spaces, nothing cut, no trailing spaces. A column is as wide as its widest cell so far,
 * because the first lines are printed before the last ones are known.
 */
export function alignedWriter<Entity>(sheet: Sheet<Entity>): Writer<Entity> {
  const { columns, header, style } = sheet;
  const names = columns.map(({ name }) => name);
  const widths = names.map((name) => (header ? name.length : 0));
  let isFirst = true;
  const print = async (records: readonly Entity[]) => {
    const lines = records.map((record) => columns.map((column) => safeText(sheet, column, record)));
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
  return { print, end: () => (isFirst ? print([]) : '') };
}

/** A cell, safe to show. */
function safeText<Entity>({ isTerminal }: Sheet<Entity>, column: Column<Entity>, record: Entity): string {
  const text = cellText(column.value(record));
  if (column.time === undefined || !isTerminal) return sanitize(text);
  return sanitize(column.time === 'near' ? nearTime(text, new Date()) : timeDistance(text, new Date()));
}

/** A column with the texts of its cells. */
interface FrameColumn<Entity> {
  readonly column: Column<Entity>;
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
async function drawFrame<Entity>(
  sheet: Sheet<Entity>,
  records: readonly Entity[],
): Promise<{ readonly columns: readonly Column<Entity>[]; readonly frame: string | undefined }> {
  const { header, style, width, isPicked } = sheet;
  const cells = sheet.columns.map((column) => records.map((record) => safeText(sheet, column, record)));
  const measure = await createMeasure(cells.flat());
  const all = sheet.columns.map((column, at) => toFrameColumn(column, cells[at] ?? [], header, measure));
  const frameColumns = isPicked ? all : withoutSpare(all, width);
  const columns = frameColumns.map(({ column }) => column);
  if (!shrinkToFit(frameColumns, width)) return { columns, frame: undefined };
  const wrapped = frameColumns.map((each) => each.texts.map((text) => wrap(text, each.width, measure)));
  // Each line is a row of its own: cli-table3 takes quadratic time for the lines of a cell too.
  const lines = records.flatMap((_, index) => {
    const cells = wrapped.map((column) => column[index] ?? []);
    const height = Math.max(...cells.map((cell) => cell.length));
    return Array.from({ length: height }, (_, at) => cells.map((cell) => cell[at] ?? ''));
  });
  if (lines.length > maxLines) return { columns, frame: undefined };
  const { default: Table } = await import('cli-table3');
  const head = frameColumns.map(({ column, width }) =>
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

function toFrameColumn<Entity>(
  column: Column<Entity>,
  texts: readonly string[],
  header: boolean,
  measure: Measure,
): FrameColumn<Entity> {
  const least = header ? column.name.length : leastWidth;
  const widest = (widthOf: (text: string) => number) =>
    texts.reduce((most, text) => Math.max(most, widthOf(text)), least);
  const wordWidth = widest((text) => Math.min(longestPiece(text, measure), longestWord));
  return { column, texts, wordWidth, width: widest(measure) };
}

/** The columns that fit with no word cut; spare columns are left out from the last one on. */
function withoutSpare<Entity>(
  frameColumns: readonly FrameColumn<Entity>[],
  width: number,
): readonly FrameColumn<Entity>[] {
  const needed = frameColumns.reduce((total, { wordWidth }) => total + wordWidth, 0);
  const spare = frameColumns.findLastIndex(({ column }) => column.spare);
  return needed <= room(frameColumns.length, width) || spare === -1
    ? frameColumns
    : withoutSpare(frameColumns.toSpliced(spare, 1), width);
}

/**
 * Makes the columns fit the terminal: the widest shrink first, down to their longest words, then text below that, then
 * all. False if even the narrowest are too wide.
 */
function shrinkToFit<Entity>(frameColumns: readonly FrameColumn<Entity>[], width: number): boolean {
  const available = room(frameColumns.length, width);
  const [first] = frameColumns;
  // The first column identifies the record, so it shrinks last.
  const isText = (each: FrameColumn<Entity>) =>
    each !== first && each.column.align !== 'right' && !each.column.status;
  const limits: readonly ((each: FrameColumn<Entity>) => number)[] = [
    ({ wordWidth }) => wordWidth,
    (each) => (isText(each) ? 8 : each.wordWidth),
    (each) => (isText(each) ? 4 : each.wordWidth),
    () => leastWidth,
  ];
  for (const each of frameColumns) each.width = Math.min(each.width, Math.max(available, leastWidth));
  let excess = frameColumns.reduce((total, each) => total + each.width, -available);
  for (const least of limits) {
    for (; excess > 0; excess -= 1) {
      const shrinkable = frameColumns.filter((each) => each.width > least(each));
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
