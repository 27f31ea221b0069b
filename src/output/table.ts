import { minuteText, sanitize } from '../process/text.ts';
import { type Column, cellText, type Print, type PrintJob, piecesOf } from './columns.ts';
import { paintState } from './style.ts';

/** Prints a table: framed on a terminal, else as aligned columns. */
export const printTable: Print = (job, pieces) =>
  job.isTerminal ? printFramed(job, pieces) : printAligned(job, pieces);

/** The most records of a frame: cli-table3 takes quadratic time. */
const maxFramedRecords = 300;

/**
 * Prints a framed table. It collects the records first, because their widths decide whether the terminal has room for a frame. A wider
 * table, and a list of more than 300 records, is printed as aligned columns.
 */
const printFramed: Print = async function* <Entity>(
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

/**
 * Prints columns that are separated by two spaces. It cuts nothing, and leaves no spaces at the end of a line. A column is as wide as
 * its widest cell so far, because the first lines are printed before the last records arrive.
 */
const printAligned: Print = async function* (job, pieces) {
  const { columns, hasHeader, style } = job;
  const names = columns.map(({ name }) => name);
  const widths = names.map((name) => (hasHeader ? name.length : 0));
  const toLine = (texts: readonly string[], measure: Measure) => {
    const cells = texts.map((text, at) => {
      const { align, isState } = columns[at] ?? {};
      const space = ' '.repeat(Math.max(0, (widths[at] ?? 0) - measure(text)));
      const paintedText = isState ? paintState(style, text) : text;
      return align === 'right' ? space + paintedText : paintedText + space;
    });
    return cells.join('  ').replace(/(?<! ) +$/, '');
  };
  const headOf = () => (hasHeader ? `${style.bold(toLine(names, ({ length }) => length))}\n` : '');
  let isFirst = true;
  for await (const records of pieces) {
    const lines = records.map((record) => columns.map((column) => shownCell(job, column, record)));
    const measure = await createMeasure(lines.flat());
    for (const texts of lines)
      for (const [at, text] of texts.entries()) widths[at] = Math.max(widths[at] ?? 0, measure(text));
    yield (isFirst ? headOf() : '') + lines.map((texts) => `${toLine(texts, measure)}\n`).join('');
    isFirst = false;
  }
  if (isFirst) yield headOf();
};

/** Returns the width of a text without controls, in columns of a terminal. */
type Measure = (text: string) => number;

/** Creates a measure for these texts. Loads a package only if one of them has characters beyond ASCII. */
async function createMeasure(texts: readonly string[]): Promise<Measure> {
  if (texts.every((text) => /^[\x20-\x7e]*$/.test(text))) return (text) => text.length;
  return (await import('fast-string-width')).default;
}

/** Returns the text of a cell, safe to show. */
function shownCell<Entity>({ isTerminal }: PrintJob<Entity>, column: Column<Entity>, record: Entity): string {
  const text = column.text?.(record, isTerminal) ?? cellText(column.value(record));
  return sanitize(column.isTime && isTerminal ? minuteText(text) : text);
}

/** Draws a frame, unless the terminal is too narrow for it. */
async function drawFrame<Entity>(
  job: PrintJob<Entity>,
  records: readonly Entity[],
): Promise<string | undefined> {
  const { columns, hasHeader, style } = job;
  const names = columns.map(({ name }) => name);
  const rows = records.map((record) => columns.map((column) => shownCell(job, column, record)));
  const measure = await createMeasure(rows.flat());
  const widths = names.map((name, at) =>
    Math.max(hasHeader ? name.length : 0, ...rows.map((row) => measure(row[at] ?? ''))),
  );
  // Each column has a border and two spaces of padding.
  if (widths.reduce((total, width) => total + width + 3, 1) > job.width) return undefined;
  const { default: Table } = await import('cli-table3');
  const table = new Table({
    head: hasHeader ? names.map((name) => style.bold(name)) : [],
    colAligns: columns.map(({ align }) => align ?? 'left'),
    style: { head: [], border: [], compact: true },
  });
  for (const row of rows)
    table.push(row.map((text, at) => (columns[at]?.isState ? paintState(style, text) : text)));
  return `${table.toString()}\n`;
}
