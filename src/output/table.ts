import { minuteText, sanitize } from '../process/text.ts';
import { type Column, cellText } from './columns.ts';
import type { Print, PrintJob } from './formats.ts';
import { paintStatus } from './style.ts';

/** The most records, and the most lines, of a frame: cli-table3 takes quadratic time. */
const maxFramedRecords = 300;
const maxFrameLines = 1000;
/** The longest text in a frame, in characters: to find where a text may break takes quadratic time. */
const maxFramedLength = 5000;

/**
 * Prints a framed table, whose cells are wrapped to fit the terminal. It keeps the records until the end, because their
 * widths decide those of the columns. It prints a list of more than 300 records as aligned columns instead, piece by piece.
 */
export const printFramed: Print = async function* <Entity>(
  job: PrintJob<Entity>,
  pieces: AsyncIterable<readonly Entity[]>,
) {
  const iterator = pieces[Symbol.asyncIterator]();
  const records: Entity[] = [];
  while (records.length <= maxFramedRecords) {
    const { done, value } = await iterator.next();
    if (done) {
      const frame = records.length > 0 ? await drawFrame(job, records) : undefined;
      if (frame === undefined) yield* printAligned(job, piecesOf(records));
      else yield frame;
      return;
    }
    records.push(...value);
  }
  yield* printAligned(job, piecesOf(records, iterator));
};

/** Yields records, and then what an iterator still has. */
export async function* piecesOf<Entity>(
  first: readonly Entity[],
  others?: AsyncIterator<readonly Entity[]>,
): AsyncGenerator<readonly Entity[]> {
  if (first.length > 0) yield first;
  for (let next = await others?.next(); next && !next.done; next = await others?.next()) yield next.value;
}

/**
 * Prints columns that are separated by two spaces. It cuts nothing, and ends no line with spaces. A column is as wide as its
 * widest cell so far, because the first lines are printed before the last records have come.
 */
export const printAligned: Print = async function* (job, pieces) {
  const { columns, header, style } = job;
  const names = columns.map(({ name }) => name);
  const widths = names.map((name) => (header ? name.length : 0));
  const toLine = (texts: readonly string[], measure: Measure) => {
    const cells = texts.map((text, at) => {
      const { align, isStatus } = columns[at] ?? {};
      const space = ' '.repeat(Math.max(0, (widths[at] ?? 0) - measure(text)));
      const painted = isStatus ? paintStatus(style, text) : text;
      return align === 'right' ? space + painted : painted + space;
    });
    return cells.join('  ').replace(/(?<! ) +$/, '');
  };
  const headOf = () => (header ? `${style.bold(toLine(names, ({ length }) => length))}\n` : '');
  let isFirst = true;
  for await (const records of pieces) {
    const lines = records.map((record) => columns.map((column) => safeText(job, column, record)));
    const measure = await createMeasure(lines.flat());
    for (const texts of lines)
      for (const [at, text] of texts.entries()) widths[at] = Math.max(widths[at] ?? 0, measure(text));
    yield (isFirst ? headOf() : '') + lines.map((texts) => `${toLine(texts, measure)}\n`).join('');
    isFirst = false;
  }
  if (isFirst) yield headOf();
};

/** Measures a text without controls in columns of a terminal. */
type Measure = (text: string) => number;

/** Creates a measure for these texts. Loads a package only if one of them has characters beyond ASCII. */
async function createMeasure(texts: readonly string[]): Promise<Measure> {
  if (texts.every((text) => /^[\x20-\x7e]*$/.test(text))) return (text) => text.length;
  return (await import('fast-string-width')).default;
}

/** Prints a cell as text that is safe to show. */
function safeText<Entity>({ isTerminal }: PrintJob<Entity>, column: Column<Entity>, record: Entity): string {
  const text = cellText(column.value(record));
  return sanitize(column.isTime && isTerminal ? minuteText(text) : text);
}

/** The least width of a column that was narrowed. */
const leastTextWidth = 10;

/** Draws a frame. Undefined if the terminal is too narrow for one, or if it would be too long. */
async function drawFrame<Entity>(
  job: PrintJob<Entity>,
  records: readonly Entity[],
): Promise<string | undefined> {
  const { columns, header, style } = job;
  const rows = records.map((record) => columns.map((column) => safeText(job, column, record)));
  if (rows.flat().some(({ length }) => length > maxFramedLength)) return undefined;
  if (header) rows.unshift(columns.map(({ name }) => name));
  const measure = await createMeasure(rows.flat());
  const natural = columns.map((_, at) => Math.max(...rows.map((row) => measure(row[at] ?? ''))));
  // Each column has a border and two spaces of padding.
  const widths = fitWidths(natural, job.width - 3 * columns.length - 1);
  if (!widths) return undefined;
  const wrapped = rows.map((row) => row.map((text, at) => wrapLines(text, widths[at] ?? 0, measure)));
  // Each line is a row of its own, because cli-table3 takes quadratic time for the lines of a cell too.
  const [headCells] = header ? wrapped.splice(0, 1) : [];
  const lines = wrapped.flatMap((cells) =>
    Array.from({ length: Math.max(...cells.map(({ length }) => length)) }, (_, at) =>
      cells.map((cell) => cell[at] ?? ''),
    ),
  );
  if (lines.length > maxFrameLines) return undefined;
  const { default: Table } = await import('cli-table3');
  const table = new Table({
    head: headCells?.map((cell) => cell.map((text) => style.bold(text)).join('\n')) ?? [],
    colAligns: columns.map(({ align = 'left' }) => align),
    style: { head: [], border: [], compact: true },
  });
  for (const line of lines)
    table.push(line.map((text, at) => (columns[at]?.isStatus ? paintStatus(style, text) : text)));
  return `${table.toString()}\n`;
}

/**
 * Breaks a text into lines of at most `width` columns: at a space, or within a word that is longer than a line. A character
 * as people count them (grapheme cluster) that is wider than a line stays.
 */
function wrapLines(text: string, width: number, measure: Measure): string[] {
  if (measure(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (measure(line + segment) > width && line !== '') {
      const space = segment === ' ' ? line.length : line.lastIndexOf(' ');
      lines.push(space > 0 ? line.slice(0, space) : line);
      line = space > 0 ? line.slice(space + 1) : '';
      if (segment === ' ') continue;
    }
    line += segment;
  }
  return [...lines, line];
}

/** Narrows the widest column behind the id until all fit. Undefined if too little of it remains. */
function fitWidths(natural: readonly number[], room: number): readonly number[] | undefined {
  const excess = natural.reduce((total, width) => total + width, -room);
  if (excess <= 0) return natural;
  const widest = natural.indexOf(Math.max(...natural.slice(1)), 1);
  const width = (natural[widest] ?? 0) - excess;
  return width < leastTextWidth ? undefined : natural.with(widest, width);
}
