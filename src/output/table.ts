import { minuteText, sanitize } from '../process/text.ts';
import { type Column, cellText } from './columns.ts';
import type { PrintJob, Writer } from './formats.ts';
import { paintStatus } from './style.ts';
import { createMeasure, type Measure, widestPiece, wrapLines } from './width.ts';

/** The most records, and the most lines, of a frame: cli-table3 takes quadratic time. */
const maxFramedRecords = 300;
const maxFrameLines = 1000;

/**
 * Creates a writer of framed tables, whose cells are wrapped to fit the terminal. It keeps the records until the end,
 * because their widths decide those of the columns. It prints a list of more than 300 records as aligned columns instead,
 * page by page.
 */
export function createTableWriter<Entity>(job: PrintJob<Entity>): Writer<Entity> {
  let buffer: Entity[] = [];
  let alignedWriter: Writer<Entity> | undefined;
  let notice: string | undefined;
  const drawBuffer = async () => {
    const { columns, frame } = await drawFrame(job, buffer);
    const missing = job.columns.filter((column) => !columns.includes(column)).map(({ name }) => name);
    if (missing.length > 0 && buffer.length > 0)
      notice = `no room for ${missing.join(', ')}: see --fields, or widen the terminal`;
    if (frame !== undefined) return frame;
    const writer = createAlignedWriter({ ...job, columns });
    return (await writer.print(buffer)) + (await writer.end());
  };
  return {
    async print(records) {
      if (alignedWriter) return alignedWriter.print(records);
      buffer = buffer.concat(records);
      if (buffer.length <= maxFramedRecords) return '';
      const firstRecords = buffer;
      buffer = [];
      alignedWriter = createAlignedWriter(job);
      return alignedWriter.print(firstRecords);
    },
    end: () => alignedWriter?.end() ?? (buffer.length > 0 ? drawBuffer() : createAlignedWriter(job).end()),
    abandon: () => (buffer.length > 0 ? drawBuffer() : ''),
    notice: () => notice,
  };
}

/**
 * Creates a writer of columns that are separated by two spaces. It cuts nothing, and ends no line with spaces. A column is
 * as wide as its widest cell so far, because the first lines are printed before the last records have come.
 */
export function createAlignedWriter<Entity>(job: PrintJob<Entity>): Writer<Entity> {
  const { columns, header, style } = job;
  const names = columns.map(({ name }) => name);
  const widths = names.map((name) => (header ? name.length : 0));
  let isFirst = true;
  const print = async (records: readonly Entity[]) => {
    const lines = records.map((record) => columns.map((column) => safeText(job, column, record)));
    const measure = await createMeasure(lines.flat());
    for (const texts of lines)
      for (const [at, text] of texts.entries()) widths[at] = Math.max(widths[at] ?? 0, measure(text));
    const fill = (text: string, at: number) => {
      const { align, isStatus } = columns[at] ?? {};
      const space = ' '.repeat(Math.max(0, (widths[at] ?? 0) - measure(text)));
      const painted = isStatus ? paintStatus(style, text) : text;
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

/** Prints a cell as text that is safe to show. */
function safeText<Entity>({ isTerminal }: PrintJob<Entity>, column: Column<Entity>, record: Entity): string {
  const text = cellText(column.value(record));
  return sanitize(column.isTime && isTerminal ? minuteText(text) : text);
}

/** A column with the texts of its cells. */
interface FrameColumn<Entity> {
  readonly column: Column<Entity>;
  readonly texts: readonly string[];
  /** The width of the widest text. */
  readonly width: number;
  /** The least width at which no word is cut. */
  readonly wordWidth: number;
}

/** The longest word for which a column is dropped; longer words are cut. Run ids are this long. */
const longestWord = 25;
const leastWidth = 2;

/**
 * Draws the columns that fit the terminal. The frame is undefined if the terminal is too narrow for any, or if the frame
 * would be too long.
 */
async function drawFrame<Entity>(
  job: PrintJob<Entity>,
  records: readonly Entity[],
): Promise<{ readonly columns: readonly Column<Entity>[]; readonly frame: string | undefined }> {
  const { header, style } = job;
  const cells = job.columns.map((column) => records.map((record) => safeText(job, column, record)));
  const measure = await createMeasure(cells.flat());
  const allColumns = job.columns.map((column, at) => toFrameColumn(column, cells[at] ?? [], header, measure));
  const frameColumns = fitColumns(allColumns, job.width);
  const columns = frameColumns.map(({ column }) => column);
  const widths = fitWidths(frameColumns, roomFor(frameColumns.length, job.width));
  if (!widths) return { columns, frame: undefined };
  const wrapColumn = (texts: readonly string[], at: number) =>
    texts.map((text) => wrapLines(text, widths[at] ?? leastWidth, measure));
  const wrapped = frameColumns.map(({ texts }, at) => wrapColumn(texts, at));
  // Each line is a row of its own, because cli-table3 takes quadratic time for the lines of a cell too.
  const lines = records.flatMap((_, index) => {
    const cells = wrapped.map((column) => column[index] ?? []);
    const height = Math.max(...cells.map((cell) => cell.length));
    return Array.from({ length: height }, (_, at) => cells.map((cell) => cell[at] ?? ''));
  });
  if (lines.length > maxFrameLines) return { columns, frame: undefined };
  const { default: Table } = await import('cli-table3');
  const head = columns.map(
    ({ name }, at) =>
      wrapColumn([name], at)[0]
        ?.map((line) => style.bold(line))
        .join('\n') ?? '',
  );
  const table = new Table({
    head: header ? head : [],
    colAligns: columns.map(({ align = 'left' }) => align),
    style: { head: [], border: [], compact: true },
  });
  for (const line of lines)
    table.push(line.map((text, at) => (columns[at]?.isStatus ? paintStatus(style, text) : text)));
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
  const wordWidth = widest((text) => Math.min(widestPiece(text, measure), longestWord));
  return { column, texts, wordWidth, width: widest(measure) };
}

/** Drops droppable columns, the last first, until the columns fit without a cut word or no droppable column is left. */
function fitColumns<Entity>(
  frameColumns: readonly FrameColumn<Entity>[],
  width: number,
): readonly FrameColumn<Entity>[] {
  const needed = frameColumns.reduce((total, { wordWidth }) => total + wordWidth, 0);
  const droppable = frameColumns.findLastIndex(({ column }) => column.isDroppable);
  return needed <= roomFor(frameColumns.length, width) || droppable === -1
    ? frameColumns
    : fitColumns(frameColumns.toSpliced(droppable, 1), width);
}

/**
 * Finds the widths at which the columns fit. The widest column shrinks first: all columns down to their longest words, then
 * columns of text below that, then all to the least width. Undefined if that does not suffice.
 */
function fitWidths<Entity>(
  frameColumns: readonly FrameColumn<Entity>[],
  available: number,
): number[] | undefined {
  const widths = frameColumns.map(({ width }) => Math.min(width, Math.max(available, leastWidth)));
  let excess = widths.reduce((total, width) => total + width, -available);
  const limitsOfWords = frameColumns.map(({ wordWidth }) => wordWidth);
  // The first column identifies the record.
  const limitsOfText = frameColumns.map(({ column, wordWidth }, at) =>
    at === 0 || column.align === 'right' || column.isStatus ? wordWidth : 4,
  );
  for (const limits of [limitsOfWords, limitsOfText, widths.map(() => leastWidth)])
    for (; excess > 0; excess -= 1) {
      const shrinkable = widths.map((width, at) => (width > (limits[at] ?? 0) ? width : 0));
      const widest = shrinkable.indexOf(Math.max(...shrinkable));
      if (!shrinkable[widest]) break;
      widths[widest] = shrinkable[widest] - 1;
    }
  return excess > 0 ? undefined : widths;
}

/** Returns the width that borders and padding leave for cells. */
function roomFor(columns: number, width: number): number {
  return width - 3 * columns - 1;
}
