import { alignedWriter } from './aligned.ts';
import { createFill, readableCells, type Widths } from './cells.ts';
import { fitWidths, headerSizes, keepColumns, sizesOf } from './fit.ts';
import { createMeasure, isDisputed, type Measure, measureMost, wrap } from './width.ts';
import type { Sheet, Writer } from './writer.ts';

/** Private use, one column wide. */
const standIn = '\ue000';

/**
 * A table in a frame that fits the terminal: cells that are too wide are wrapped, none is cut; columns that may be left
 * out go where words would be cut. The first rows decide.
 */
export function tableWriter<Row>(sheet: Sheet<Row>): Writer<Row> {
  let writer: Writer<Row> | undefined;
  let remark: string | undefined;
  const begin = async (rows: readonly Row[]): Promise<Writer<Row>> => {
    const cells = readableCells(rows, sheet.columns);
    const measure = measureMost(await createMeasure(cells.flat()));
    const columns = keepColumns(sheet, sizesOf(cells, headerSizes(sheet), measure));
    const left = sheet.columns.filter((column) => !columns.includes(column)).map(({ name }) => name);
    if (left.length > 0) remark = `no room for ${left.join(', ')}: see --fields, or widen the terminal`;
    const narrowed = { ...sheet, columns };
    const isTooNarrow = fitWidths(narrowed, headerSizes({ ...narrowed, header: false })) === undefined;
    return isTooNarrow ? alignedWriter(narrowed) : frameWriter(narrowed);
  };
  return {
    async rows(rows) {
      writer ??= await begin(rows);
      return writer.rows(rows);
    },
    async end() {
      writer ??= await begin([]);
      return writer.end();
    },
    abandon: () => writer?.abandon?.() ?? '',
    remark: () => remark,
  };
}

/** Where later rows need wider columns, the frame ends and another begins. */
async function frameWriter<Row>(sheet: Sheet<Row>): Promise<Writer<Row>> {
  const drawFrame = await createDrawFrame(sheet);
  let sizes = headerSizes(sheet);
  let frame: Frame | undefined;

  /** A frame for rows of these sizes, and the text that opens it and closes the one before. */
  const openFrame = () => {
    const widths = fitWidths(sheet, sizes) ?? [];
    if (frame && String(widths) === String(frame.widths)) return { text: '', frame };
    const bottom = frame?.bottom ?? '';
    frame = drawFrame(widths);
    return { text: bottom + frame.top + frame.rule, frame };
  };
  const emptyFrame = () => {
    const { top, bottom } = drawFrame(fitWidths(sheet, sizes) ?? []);
    return sheet.header ? top + bottom : '';
  };
  return {
    async rows(rows) {
      const cells = readableCells(rows, sheet.columns);
      const measure = await createMeasure(cells.flat());
      sizes = sizesOf(cells, sizes, measureMost(measure));
      const { text, frame } = openFrame();
      return text + cells.map((row) => frame.row(row, measure)).join('');
    },
    end: () => frame?.bottom ?? emptyFrame(),
    abandon: () => frame?.bottom ?? '',
  };
}

/** The parts of a frame, each of whole lines. */
interface Frame {
  readonly widths: Widths;
  /** With the header. */
  readonly top: string;
  /** Between header and rows. */
  readonly rule: string;
  row(cells: readonly string[], measure: Measure): string;
  readonly bottom: string;
}

/**
 * Gives the function that draws a frame. cli-table3 takes quadratic time, and measures text by an old Unicode, so that a
 * newer emoji would break the frame: it draws one row of stand-ins, which every row takes for its pattern.
 */
async function createDrawFrame<Row>(sheet: Sheet<Row>) {
  const { default: Table } = await import('cli-table3');
  const { columns, header, style } = sheet;
  return (widths: Widths): Frame => {
    const toHead = ({ name }: { readonly name: string }, at: number) =>
      wrap(name, widths[at] ?? 0, ({ length }) => length)
        .map(style.bold)
        .join('\n');
    const table = new Table({
      head: header ? columns.map(toHead) : [],
      colWidths: widths.map((width) => width + 2),
      colAligns: columns.map(({ align = 'left' }) => align),
      style: { head: [], border: [], compact: true },
    });
    table.push(widths.map((width) => standIn.repeat(width)));
    const lines = table.toString().split('\n');
    const gaps = (lines.at(-2) ?? '').split(new RegExp(`${standIn}+`));
    const toText = (line: readonly string[]) => `${gaps.map((gap, at) => gap + (line[at] ?? '')).join('')}\n`;
    return {
      widths,
      top: `${lines.slice(0, header ? -3 : -2).join('\n')}\n`,
      rule: header ? `${lines.at(-3)}\n` : '',
      row(cells, measure) {
        const fill = createSureFill(sheet, widths, measure);
        const rowLines = wrapRow(cells, widths, measureMost(measure));
        return rowLines.map((line) => toText(line.map(fill))).join('');
      },
      bottom: `${lines.at(-1)}\n`,
    };
  };
}

/** Fills a cell; where terminals differ on its width, the cursor is told where the cell ends. */
function createSureFill<Row>(sheet: Sheet<Row>, widths: Widths, measure: Measure) {
  const fill = createFill(sheet, widths, measureMost(measure));
  const endOf = (at: number) => widths.slice(0, at + 1).reduce((end, width) => end + 3 + width, 0);
  return (text: string, at: number): string =>
    sheet.movesCursor && isDisputed(text, measure) ? `${fill(text, at)}\x1b[${endOf(at)}G` : fill(text, at);
}

/** The lines of a row: the first line of every cell, then the second. */
function wrapRow(cells: readonly string[], widths: Widths, measure: Measure): string[][] {
  const wrapped = cells.map((cell, at) => wrap(cell, widths[at] ?? 0, measure));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) => wrapped.map((lines) => lines[at] ?? ''));
}
