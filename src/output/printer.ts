import type { Io, OutputStream } from '../process/io.ts';
import { countText } from '../process/text.ts';
import {
  type Column,
  cellText,
  compareBy,
  type PrintJob,
  pickColumns,
  piecesOf,
  type View,
} from './columns.ts';
import { formats, type OutputFormat } from './formats.ts';
import type { Notice, Notices } from './messages.ts';
import { type ColorMode, createStyle } from './style.ts';

interface PrinterOptions {
  readonly format: OutputFormat;
  /** The columns to print, in this order. By default the columns of the view. */
  readonly fields: readonly string[] | undefined;
  /** The column to sort by: `name`, or `-name` to descend. */
  readonly sort: string | undefined;
  readonly hasHeader: boolean;
  readonly color: ColorMode;
}

type Pages<Entity> = AsyncIterable<readonly Entity[]> | Iterable<readonly Entity[]>;

/** The output of a command, and its messages. */
export type Output = (
  | { readonly kind: 'list'; readonly pages: Pages<object>; readonly limit?: number | undefined }
  | { readonly kind: 'record'; readonly record: object }
  /** A text that is not made of records, such as a request. JSON and YAML print its data: one value, or an array of them. */
  | { readonly kind: 'text'; readonly text: string; readonly data: unknown }
  | { readonly kind: 'nothing' }
) & {
  /** Printed after the output. */
  readonly notices?: readonly Notice[];
  /** A clause, printed as a warning if the output cannot be written. */
  readonly warningIfUnprinted?: string;
  /** The exit code without an `error`. */
  readonly exitCode?: number;
  /** The error that ends the command after the output, if a part of its work failed. */
  readonly error?: Error | undefined;
};

export interface Printer {
  readonly content: (typeof formats)[OutputFormat]['content'];
  /** Returns true if the output needs a column: it is printed, or the records are sorted by it. */
  shows(column: string): boolean;
  /** Prints the output of a command. */
  output(output: Output): Promise<void>;
  /** Formats records as a table for a stream. */
  tableText<Entity>(
    columns: readonly Column<Entity>[],
    rows: readonly Entity[],
    stream?: 'stdout' | 'stderr',
  ): Promise<string>;
  /** Returns the same printer for records with these columns. */
  withView(view: View<object> | undefined): Printer;
}

/**
 * Creates the printer of a format. It prints to stdout, page by page if the format and the sorting allow it.
 *
 * @param view the columns of the records that the command prints, if it prints records.
 */
export function createPrinter(
  io: Io,
  { notice }: Pick<Notices, 'notice'>,
  options: PrinterOptions,
  view?: View<object>,
): Printer {
  const { fields, sort, hasHeader, color } = options;
  const { content, print } = formats[options.format];

  async function createJob<Entity>(
    columns: readonly Column<Entity>[],
    shape: PrintJob<Entity>['shape'],
    value: (record: Entity) => unknown = (record) => record,
    stream: OutputStream = io.stdout,
  ): Promise<PrintJob<Entity>> {
    const { isTerminal, width = 80 } = stream;
    const style = await createStyle(stream, io.env, color);
    return { columns, shape, hasHeader, isTerminal, width, style, value };
  }

  async function printPages<Entity>(
    pages: Pages<Entity>,
    view: View<Entity>,
    shape: PrintJob<Entity>['shape'],
  ): Promise<void> {
    const columns = pickColumns(view, fields);
    const pickFields = (record: Entity) =>
      Object.fromEntries(columns.map(({ name, value }) => [name, value(record) ?? null]));
    const toValue = fields ? pickFields : view.data;
    const isPrintable = (record: Entity) => cellText(columns[0]?.value(record)) !== '';
    let leftOut = 0;
    async function* pieces(): AsyncGenerator<readonly Entity[]> {
      for await (const page of pages) {
        const records = content === 'ids' ? page.filter(isPrintable) : page;
        leftOut += page.length - records.length;
        for (let at = 0; at < records.length; at += recordsAtOnce)
          yield records.slice(at, at + recordsAtOnce);
      }
    }
    const isRaw = content !== 'text';
    for await (const text of print(await createJob(columns, shape, toValue), pieces()))
      if (text !== '') await io.stdout.write(text, { isRaw });
    if (leftOut > 0)
      await notice(
        'warning',
        `left out ${countText(leftOut, 'record', 'records')} without ${columns[0]?.name}`,
      );
  }

  async function textOrData(text: string, data: unknown): Promise<void> {
    if (content !== 'documents') return io.stdout.write(text);
    const job = await createJob<unknown>([], Array.isArray(data) ? 'list' : 'record');
    for await (const piece of print(job, piecesOf([data].flat())))
      await io.stdout.write(piece, { isRaw: true });
  }

  return {
    content,
    shows(column) {
      const hasColumns = content === 'text' || content === 'cells';
      const names = fields ?? (view && hasColumns ? pickColumns(view, fields).map(({ name }) => name) : []);
      return names.includes(column) || sort?.replace(/^-/, '') === column;
    },
    async output(output) {
      if (output.kind === 'nothing') return;
      if (output.kind === 'text') return textOrData(output.text, output.data);
      if (!view) throw new Error('records are printed without a view');
      if (output.kind === 'record') return printPages([[output.record]], view, 'record');
      const { limit } = output;
      const pages = sort === undefined ? output.pages : sortPages(output.pages, compareBy(view, sort));
      return printPages(limit === undefined ? pages : firstOf(pages, limit), view, 'list');
    },
    async tableText(columns, rows, stream = 'stdout') {
      let table = '';
      const job = await createJob(columns, 'list', undefined, io[stream]);
      for await (const text of formats.table.print(job, piecesOf(rows))) table += text;
      return table;
    },
    withView: (other) => createPrinter(io, { notice }, options, other),
  };
}

async function* sortPages<Entity>(
  pages: Pages<Entity>,
  compare: (left: Entity, right: Entity) => number,
): AsyncGenerator<Entity[]> {
  const records: Entity[] = [];
  for await (const page of pages) for (const record of page) records.push(record);
  yield records.sort(compare);
}

/** Yields the first `limit` records in their pages, and requests no more pages. */
async function* firstOf<Entity>(pages: Pages<Entity>, limit: number): AsyncGenerator<readonly Entity[]> {
  let remaining = limit;
  for await (const page of pages) {
    yield page.slice(0, remaining);
    remaining -= page.length;
    if (remaining <= 0) return;
  }
}

/** The most records whose text is in memory at once. */
const recordsAtOnce = 1000;

export function* inPages<Entity>(records: Iterable<Entity>): Generator<Entity[]> {
  let page: Entity[] = [];
  for (const record of records) {
    page.push(record);
    if (page.length < recordsAtOnce) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
