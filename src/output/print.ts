import type { ColorMode, OutputFormat } from '../config/values.ts';
import { AnsweredError } from '../errors.ts';
import type { Io } from '../io.ts';
import { compareBy, pickColumns, type View } from './columns.ts';
import { prose } from './fold.ts';
import {
  csvWriter,
  idsWriter,
  jsonLinesWriter,
  jsonWriter,
  type Sheet,
  tsvWriter,
  type Writer,
} from './formats.ts';
import type { LiveLine } from './live-line.ts';
import { firstOf, joined, type Pages, sorted, withProgress } from './pages.ts';
import { createStyle } from './style.ts';
import { alignedWriter, tableWriter } from './table.ts';
import { yamlWriter } from './yaml.ts';

/** Prints records to stdout in the chosen format, page by page if the format and the sorting allow it. */
export interface Printer {
  readonly format: OutputFormat;
  /** Whether a column is shown or sorted by, so that fetching its data is worth it. */
  shows<Row>(view: View<Row>, column: string): boolean;
  /**
   * Checks `--fields` and `--sort`. `records` and `record` do it too, but a command that writes or reads first calls
   * this before it sends anything.
   *
   * @throws UsageError for a field that the view lacks; AnsweredError after `--fields help` has been answered.
   */
  check<Row>(view: View<Row>): Promise<void>;
  record<Row>(row: Row, view: View<Row>): Promise<void>;
  records<Row>(
    pages: Pages<Row>,
    view: View<Row>,
    options?: { readonly limit?: number | undefined },
  ): Promise<void>;
  /**
   * Prints something other than records, such as a request: as data in the structured formats, as `text` in the others.
   * `--fields` and `--sort` do not apply.
   */
  documents(values: readonly unknown[], text: string): Promise<void>;
}

export interface PrinterOptions {
  readonly format: OutputFormat;
  /** Column names in the order asked for; undefined for the view's own; `help` alone lists them. */
  readonly fields: readonly string[] | undefined;
  /** `name` or `-name`. */
  readonly sort: string | undefined;
  readonly header: boolean;
  readonly color: ColorMode;
  readonly quiet: boolean;
  /** Counts the records for a person who cannot see them yet. */
  readonly liveLine?: LiveLine | undefined;
}

type CreateWriter = <Row>(sheet: Sheet<Row>) => Writer<Row>;

const writers: Readonly<Record<OutputFormat, CreateWriter>> = {
  table: (sheet) => (sheet.isTerminal ? tableWriter(sheet) : alignedWriter(sheet)),
  json: jsonWriter,
  jsonl: jsonLinesWriter,
  csv: csvWriter,
  tsv: tsvWriter,
  yaml: yamlWriter,
  ids: idsWriter,
};
const columnFormats: readonly OutputFormat[] = ['table', 'csv', 'tsv'];
const documentFormats: readonly OutputFormat[] = ['json', 'jsonl', 'yaml'];
/** Limits the text held in memory, however many rows arrive at once. */
const rowsPerWrite = 1000;

export function createPrinter(io: Io, options: PrinterOptions): Printer {
  const { format, fields, sort, liveLine } = options;
  const check = async <Row>(view: View<Row>) => {
    if (fields?.length === 1 && fields[0] === 'help') await answerHelp(io, view);
    pickColumns(view, fields);
    if (sort !== undefined) compareBy(view, sort);
  };
  const print = async <Row>(pages: Pages<Row>, view: View<Row>, { shape, limit }: Extent) => {
    await check(view);
    const writer = writers[format](await createSheet(io, options, { view, shape }));
    // The user does not see records that go to a file or are sorted first.
    const isBlind = shape === 'list' && (sort !== undefined || io.stdout.isFile);
    const isCounted = isBlind && liveLine?.canDraw && !options.quiet;
    const counted = isCounted ? withProgress(pages, io, liveLine, view.noun) : pages;
    const ordered = sort === undefined ? counted : sorted(counted, compareBy(view, sort));
    const wanted = limit === undefined ? ordered : firstOf(ordered, limit);
    const count = await writeAll(
      io,
      format === 'table' && !io.stdout.isTerminal ? joined(wanted) : wanted,
      writer,
    );
    const remarks = [count === 0 && format === 'table' ? `no ${view.noun}` : undefined, writer.remark?.()];
    const told = remarks.filter((remark) => remark !== undefined).map((remark) => `${prose(io, remark)}\n`);
    const warning = writer.warning?.();
    if (warning !== undefined && !options.quiet) await io.stderr.write(`${prose(io, warning)}\n`);
    if (told.length > 0 && io.stderr.isTerminal && !options.quiet) await io.stderr.write(told.join(''));
  };
  return {
    format,
    shows(view, column) {
      const shown = fields || columnFormats.includes(format) ? pickColumns(view, fields) : [];
      return shown.some(({ name }) => name === column) || sort?.replace(/^-/, '') === column;
    },
    check,
    record: (row, view) => print([[row]], view, { shape: 'record' }),
    records: (pages, view, { limit } = {}) => print(pages, view, { shape: 'list', limit }),
    async documents(values, text) {
      if (!documentFormats.includes(format)) return io.stdout.write(text);
      const shape = values.length > 1 ? 'list' : 'record';
      const view = { noun: 'documents', columns: [] };
      const sheet = await createSheet(io, { ...options, fields: undefined }, { view, shape });
      await writeAll(io, [values], writers[format](sheet));
    },
  };
}

interface Extent {
  readonly shape: Sheet<unknown>['shape'];
  /** Most rows to print, once sorted. */
  readonly limit?: number | undefined;
}

async function answerHelp<Row>(io: Io, { columns }: View<Row>): Promise<never> {
  await io.stdout.write(columns.map(({ name }) => `${name}\n`).join(''));
  throw new AnsweredError();
}

async function createSheet<Row>(
  io: Io,
  { fields, header, color }: PrinterOptions,
  { view, shape }: { readonly view: View<Row>; readonly shape: Sheet<unknown>['shape'] },
): Promise<Sheet<Row>> {
  const columns = pickColumns(view, fields);
  const pick = (row: Row) => Object.fromEntries(columns.map(({ name, value }) => [name, value(row) ?? null]));
  return {
    columns,
    isPicked: fields !== undefined,
    shape,
    header,
    isTerminal: io.stdout.isTerminal,
    width: io.stdout.width ?? 80,
    mask: io.mask,
    style: await createStyle(io.stdout, io.env, color),
    value: fields ? pick : (row) => row,
  };
}

/** Writes all rows, one write for each piece, and returns how many there were. */
async function writeAll<Row>(io: Io, pages: Pages<Row>, writer: Writer<Row>): Promise<number> {
  let count = 0;
  const write = async (text: string | undefined) => {
    if (text) await io.stdout.write(text);
  };
  try {
    for await (const page of pages) {
      for (let at = 0; at < page.length; at += rowsPerWrite) {
        await write(await writer.rows(page.slice(at, at + rowsPerWrite)));
      }
      count += page.length;
    }
  } catch (error) {
    await write(await writer.abandon?.());
    throw error;
  }
  await write(await writer.end());
  return count;
}
