import type { TableConstructorOptions } from 'cli-table3';
import { alignedWriter } from './aligned.ts';
import { readableCells, widest } from './cells.ts';
import { paintStatus } from './style.ts';
import { createMeasure, isAscii, type Measure, wrap } from './width.ts';
import type { Sheet, Writer } from './writer.ts';

type Cells = readonly (readonly string[])[];
type Widths = readonly number[];

/** cli-table3 takes quadratic time, so a long list is drawn as many short tables whose lines join into one frame. */
const rowsPerDrawing = 50;
const leastTextWidth = 8;
const leastWidth = 2;
/** Private use, one column wide. */
const standIn = '\ue000';

/**
 * A table in a frame that fits the terminal: cells that are too wide are wrapped, none is cut. Where later rows need
 * wider columns, the frame ends and another begins.
 */
export async function tableWriter<Row>(sheet: Sheet<Row>): Promise<Writer<Row>> {
  const { columns, header } = sheet;
  const narrowest = columns.map(() => leastWidth);
  if (!fitWidths(sheet, narrowest)) return alignedWriter(sheet);
  const draw = await createDraw(sheet);
  const names = columns.map(({ name }) => name);
  let needed: Widths = header ? names.map((name) => name.length) : narrowest;
  let widths: Widths | undefined;
  let bottom = '';

  const print = async (rows: readonly Row[]) => {
    const cells = readableCells(rows, columns);
    const measure = await createMeasure(cells.flat());
    needed = widest(cells, needed, measure);
    const fitting = fitWidths(sheet, needed) ?? narrowest;
    let text = '';
    for (const part of parts(cells)) {
      const goesOn = String(fitting) === String(widths);
      const lines = draw(header && !goesOn ? names : [], wrapCells(part, fitting, measure), fitting);
      text += goesOn ? '' : bottom;
      bottom = `${lines.pop()}\n`;
      text += `${lines.slice(goesOn ? 1 : 0).join('\n')}\n`;
      widths = fitting;
    }
    return text;
  };
  const isEmptyHead = () => header && !widths;
  return {
    rows: print,
    end: async () => (isEmptyHead() ? (await print([])) + bottom : bottom),
    abandon: () => bottom,
  };
}

/** Lines of a cell, each with its width. */
type WrappedCell = readonly { readonly text: string; readonly width: number }[];

function wrapCells(rows: Cells, widths: Widths, measure: Measure): WrappedCell[][] {
  const wrapCell = (cell: string, at: number) =>
    wrap(cell, widths[at] ?? 0, measure).map((text) => ({ text, width: measure(text) }));
  return rows.map((row) => row.map(wrapCell));
}

/**
 * Gives the function that draws the lines of one frame. cli-table3 measures text by an old Unicode and would break the
 * frame at a newer emoji, so it gets a stand-in of the right width for each line that is not ASCII.
 */
async function createDraw<Row>({ columns, style }: Sheet<Row>) {
  const { default: Table } = await import('cli-table3');
  const paint = (text: string, at: number) => (columns[at]?.status ? paintStatus(style, text)(text) : text);
  return (head: readonly string[], rows: readonly WrappedCell[][], widths: Widths): string[] => {
    const table = new Table(frameOptions(head.map(style.bold), columns, widths));
    const hidden: string[] = [];
    for (const row of rows) {
      table.push(row.map((lines, at) => lines.map((line) => paint(drawable(line), at)).join('\n')));
      hidden.push(...inDrawingOrder(row).filter((text) => !isAscii(text)));
    }
    const drawn = table.toString();
    const text = drawn.replace(new RegExp(`${standIn}+`, 'g'), () => hidden.shift() ?? '');
    return text.split('\n');
  };
}

function frameOptions<Row>(
  head: string[],
  columns: Sheet<Row>['columns'],
  widths: Widths,
): TableConstructorOptions {
  return {
    head,
    colWidths: widths.map((width) => width + 2),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    style: { head: [], border: [], compact: true },
  };
}

function drawable({ text, width }: WrappedCell[number]): string {
  return isAscii(text) ? text : standIn.repeat(width);
}

/** The lines of a row's cells as a drawing has them: the first line of every cell, then the second. */
function inDrawingOrder(row: readonly WrappedCell[]): string[] {
  const height = Math.max(...row.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) => row.flatMap((lines) => lines[at]?.text ?? [])).flat();
}

/**
 * Widths that fit the terminal, frame included: the widest text columns give way first, then the others; undefined where
 * even the narrowest are too wide.
 */
function fitWidths<Row>({ columns, width }: Sheet<Row>, needed: Widths): Widths | undefined {
  const available = width - 3 * columns.length - 1;
  const widths = needed.map((each) => Math.min(each, Math.max(available, leastWidth)));
  const narrow = (least: number, mayNarrow: (at: number) => boolean) => {
    while (widths.reduce((sum, each) => sum + each, 0) > available) {
      const candidates = widths.map((each, at) => (each > least && mayNarrow(at) ? each : 0));
      const widestOne = Math.max(...candidates);
      if (widestOne === 0) return false;
      widths[candidates.indexOf(widestOne)] = widestOne - 1;
    }
    return true;
  };
  const isText = (at: number) => columns[at]?.align !== 'right';
  return narrow(leastTextWidth, isText) || narrow(leastWidth, () => true) ? widths : undefined;
}

function* parts(rows: Cells): Generator<Cells> {
  yield rows.slice(0, rowsPerDrawing);
  for (let at = rowsPerDrawing; at < rows.length; at += rowsPerDrawing) {
    yield rows.slice(at, at + rowsPerDrawing);
  }
}
