import { type JsonValue, printJson } from '../process/exact-json.ts';
import { escapeSurrogates, minuteText, sanitize } from '../process/text.ts';
import { type Column, cellText } from './columns.ts';
import { paintState, type Style } from './style.ts';

/** A print job: the columns, the shape of the records, and the output. */
export interface PrintJob<Entity> {
  readonly columns: readonly Column<Entity>[];
  /** A `list` is printed as a list even if it has only one record. */
  readonly shape: 'list' | 'record';
  readonly header: boolean;
  readonly isTerminal: boolean;
  readonly width: number;
  readonly style: Style;
  /** Returns the value to print in JSON and YAML: the whole record, or the fields that `--fields` names. */
  value(record: Entity): unknown;
}

/** Turns records, which come in non-empty pieces, into text. If reading them fails, the text ends there. */
export type Print = <Entity>(
  job: PrintJob<Entity>,
  pieces: AsyncIterable<readonly Entity[]>,
) => AsyncGenerator<string>;

/** Prints one JSON document: an array, or an object. It is indented on a terminal, otherwise compact. */
export const printJsonDocument: Print = async function* (job, pieces) {
  const indent = job.isTerminal ? 2 : 0;
  const isList = job.shape === 'list';
  const [open, next, close] = job.isTerminal ? ['[\n  ', ',\n  ', '\n]\n'] : ['[', ',', ']\n'];
  let separator = open;
  for await (const records of pieces) {
    const texts = records.map((record) => printJson(job.value(record), indent));
    if (!isList) yield texts.join('');
    else yield separator + texts.map((text) => (indent ? text.replaceAll('\n', '\n  ') : text)).join(next);
    separator = next;
  }
  if (!isList) yield '\n';
  else yield separator === open ? '[]\n' : close;
};

/** Prints JSON Lines: one record a line. */
export const printJsonLines: Print = async function* ({ value }, pieces) {
  for await (const records of pieces) yield records.map((record) => `${printJson(value(record))}\n`).join('');
};

/** Prints one YAML document: a sequence of mappings, or a mapping. */
export const printYaml: Print = async function* (job, pieces) {
  const { loadYaml } = await import('../process/exact-yaml.ts');
  const { print } = await loadYaml();
  const toText = (value: unknown) => (job.isTerminal ? sanitize(print(value), '\n') : print(value));
  let isEmpty = true;
  for await (const records of pieces) {
    isEmpty = false;
    const values = records.map(job.value);
    yield job.shape === 'list' ? toText(values) : values.map(toText).join('');
  }
  if (isEmpty) yield '[]\n';
};

/** Prints CSV (RFC 4180), but with LF at the end of a line. Text that a spreadsheet would run as a formula gets a leading `'`. */
export const printCsv: Print = (job, pieces) => {
  const toSafe = safeText(job, '\t\n');
  return printDelimited(job, pieces, ',', (value) =>
    quoteCell(toSafe(typeof value === 'string' ? withGuard(value) : cellText(value)), ','),
  );
};

/** Quotes a cell if RFC 4180 requires it. With tabs as delimiters, also if a reader could take a backslash for an escape. */
export function quoteCell(cell: string, delimiter: string): string {
  const needsQuotes = delimiter === '\t' ? /["\r\n\\]/ : /["\r\n]/;
  const isPlain = !needsQuotes.test(cell) && !cell.includes(delimiter);
  return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`;
}

/** Matches text that a spreadsheet would run as a formula, also in full-width forms, and such text after a `'`. */
const formula = /^'*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/;

/** Puts a `'` before a text that a spreadsheet would run as a formula, and before one that already has such a `'`. */
export function withGuard(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** Removes the `'` of `withGuard`. */
export function withoutGuard(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;
}

const tsvEscapes: Readonly<Record<string, string>> = {
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\\': '\\\\',
  '"': '\\"',
};

/** Escapes a cell of tab-separated text. A leading quote is escaped, because readers would take it for the start of a quoted cell. */
export function tsvCell(text: string): string {
  return text.replace(/[\t\n\r\\]|^"/g, (character) => tsvEscapes[character] ?? character);
}

/** Prints tab-separated text. Tab, newline, CR, backslash and a leading quote are `\t \n \r \\ \"`. */
export const printTsv: Print = (job, pieces) => {
  const toSafe = safeText(job, '');
  return printDelimited(job, pieces, '\t', (value) => toSafe(tsvCell(cellText(value))));
};

/** Prints the first column, one id a line. Every record has an id. */
export const printIds: Print = async function* (job, pieces) {
  const toSafe = safeText(job, '');
  for await (const records of pieces) {
    const ids = records.map((record) => cellText(job.columns[0]?.value(record)));
    yield ids.map((id) => `${toSafe(id)}\n`).join('');
  }
};

/**
 * Returns a function that makes the text of a cell safe to show on a terminal. In a file or a pipe the text stays unchanged, because
 * it is data.
 *
 * @param allowed the controls that stay unchanged on a terminal too.
 */
function safeText(
  { isTerminal }: Pick<PrintJob<unknown>, 'isTerminal'>,
  allowed: string,
): (text: string) => string {
  return isTerminal ? (text) => sanitize(text, allowed) : escapeSurrogates;
}

async function* printDelimited<Entity>(
  { columns, header }: PrintJob<Entity>,
  pieces: AsyncIterable<readonly Entity[]>,
  delimiter: string,
  toCell: (value: JsonValue | undefined) => string,
): AsyncGenerator<string> {
  let head = header ? `${columns.map(({ name }) => name).join(delimiter)}\n` : '';
  const line = (record: Entity) =>
    `${columns.map((column) => toCell(column.value(record))).join(delimiter)}\n`;
  for await (const records of pieces) {
    yield head + records.map(line).join('');
    head = '';
  }
  yield head;
}

/** The most records of a frame: cli-table3 takes quadratic time. */
const maxFramedRecords = 300;

/**
 * Prints a framed table. It collects the records first, because their widths decide whether the terminal has room for a frame. A wider
 * table, and a list of more than 300 records, is printed as aligned columns.
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

/** Yields records, and then the remaining pieces of an iterator. */
export async function* piecesOf<Entity>(
  first: readonly Entity[],
  others?: AsyncIterator<readonly Entity[]>,
): AsyncGenerator<readonly Entity[]> {
  if (first.length > 0) yield first;
  for (let next = await others?.next(); next && !next.done; next = await others?.next()) yield next.value;
}

/**
 * Prints columns that are separated by two spaces. It cuts nothing, and leaves no spaces at the end of a line. A column is as wide as
 * its widest cell so far, because the first lines are printed before the last records arrive.
 */
export const printAligned: Print = async function* (job, pieces) {
  const { columns, header, style } = job;
  const names = columns.map(({ name }) => name);
  const widths = names.map((name) => (header ? name.length : 0));
  const toLine = (texts: readonly string[], measure: Measure) => {
    const cells = texts.map((text, at) => {
      const { align, isState } = columns[at] ?? {};
      const space = ' '.repeat(Math.max(0, (widths[at] ?? 0) - measure(text)));
      const paintedText = isState ? paintState(style, text) : text;
      return align === 'right' ? space + paintedText : paintedText + space;
    });
    return cells.join('  ').replace(/(?<! ) +$/, '');
  };
  const headOf = () => (header ? `${style.bold(toLine(names, ({ length }) => length))}\n` : '');
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
  const { columns, header, style } = job;
  const names = columns.map(({ name }) => name);
  const rows = records.map((record) => columns.map((column) => shownCell(job, column, record)));
  const measure = await createMeasure(rows.flat());
  const widths = names.map((name, at) =>
    Math.max(header ? name.length : 0, ...rows.map((row) => measure(row[at] ?? ''))),
  );
  // Each column has a border and two spaces of padding.
  if (widths.reduce((total, width) => total + width + 3, 1) > job.width) return undefined;
  const { default: Table } = await import('cli-table3');
  const table = new Table({
    head: header ? names.map((name) => style.bold(name)) : [],
    colAligns: columns.map(({ align }) => align ?? 'left'),
    style: { head: [], border: [], compact: true },
  });
  for (const row of rows)
    table.push(row.map((text, at) => (columns[at]?.isState ? paintState(style, text) : text)));
  return `${table.toString()}\n`;
}
