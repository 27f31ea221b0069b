import { originalOf } from '../api/contract.ts';
import type { ColorMode, OutputFormat } from '../config/setting-values.ts';
import { FieldsListedError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import { type Column, compareBy, pickColumns, pickFields, type View } from './columns.ts';
import { toProse } from './fold.ts';
import {
  createCsvWriter,
  createIdsWriter,
  createJsonLinesWriter,
  createJsonWriter,
  createTsvWriter,
  createYamlWriter,
  type PrintJob,
  type Writer,
} from './formats.ts';
import { createStyle } from './style.ts';
import { createAlignedWriter, createTableWriter } from './table.ts';

// From records to text: `columns.ts` says how the records of a noun are printed, and this file prints them with a writer of
// `formats.ts` or `table.ts`. `width.ts` measures text, `fold.ts` breaks lines, `style.ts` colours them, and `near-time.ts`
// prints times. `error.ts` and `notices.ts` are the text on stderr. `live-line.ts`, with the bar of `progress.ts`, is the line
// that a terminal redraws, and `screen.ts` the table that `--watch` redraws. `streams.ts` makes both streams safe to write to.

interface PrinterOptions {
  readonly format: OutputFormat;
  /** The columns to print, in this order; undefined for those of the view; `help` alone lists them. */
  readonly fields: readonly string[] | undefined;
  /** `name` or `-name`. */
  readonly sort: string | undefined;
  readonly header: boolean;
  readonly color: ColorMode;
  readonly quiet: boolean;
}

interface ListOptions {
  /** The most records to print. */
  readonly limit?: number | undefined;
  /** Print each page as it comes, also in a table for a terminal. */
  readonly isLive?: boolean | undefined;
}

export type Pages<Entity> = AsyncIterable<readonly Entity[]> | Iterable<readonly Entity[]>;

const writers: Readonly<Record<OutputFormat, <Entity>(job: PrintJob<Entity>) => Writer<Entity>>> = {
  table: (job) => (job.isTerminal ? createTableWriter(job) : createAlignedWriter(job)),
  json: createJsonWriter,
  jsonl: createJsonLinesWriter,
  csv: createCsvWriter,
  tsv: createTsvWriter,
  yaml: createYamlWriter,
  ids: createIdsWriter,
};
const columnFormats: readonly OutputFormat[] = ['table', 'csv', 'tsv'];
const documentFormats: readonly OutputFormat[] = ['json', 'jsonl', 'yaml'];

/** Prints records to stdout in the chosen format, page by page if the format and the sorting allow it. */
export class Printer {
  readonly format: OutputFormat;
  private readonly io: Io;
  private readonly options: PrinterOptions;

  constructor(io: Io, options: PrinterOptions) {
    this.format = options.format;
    this.io = io;
    this.options = options;
  }

  /** Whether a column is printed or sorted by, so that fetching its data is worth it. */
  shows<Entity>(view: View<Entity>, column: string): boolean {
    const { fields, sort } = this.options;
    const columns = fields || columnFormats.includes(this.format) ? pickColumns(view, fields) : [];
    return columns.some(({ name }) => name === column) || sort?.replace(/^-/, '') === column;
  }

  /**
   * Checks `--fields` and `--sort`. `records` and `record` do it too, but a command that writes or reads first calls
   * this before it sends anything.
   *
   * @throws UsageError for a field that the view lacks; FieldsListedError after `--fields help` has been answered.
   */
  async requireColumns<Entity>(view: View<Entity>): Promise<void> {
    const { fields, sort } = this.options;
    if (fields?.length === 1 && fields[0] === 'help') {
      await this.io.stdout.write(view.columns.map(({ name }) => `${name}\n`).join(''));
      throw new FieldsListedError();
    }
    pickColumns(view, fields);
    if (sort !== undefined) compareBy(view, sort);
  }

  async record<Entity>(record: Entity, view: View<Entity>): Promise<void> {
    await this.requireColumns(view);
    await this.print([[record]], view, writers[this.format], 'record');
  }

  async records<Entity>(
    pages: Pages<Entity>,
    view: View<Entity>,
    { limit, isLive = false }: ListOptions = {},
  ): Promise<void> {
    const { sort } = this.options;
    await this.requireColumns(view);
    const sortedPages = sort === undefined ? pages : sorted(pages, compareBy(view, sort));
    const printedPages = limit === undefined ? sortedPages : firstOf(sortedPages, limit);
    const toWriter = isLive && this.format === 'table' ? createAlignedWriter<Entity> : writers[this.format];
    await this.print(printedPages, view, toWriter, 'list');
  }

  /**
   * Prints something other than records, such as a request: as data in the structured formats, as `text` in the others.
   * `--fields` and `--sort` do not apply.
   *
   * @param asList print a list, even of one.
   */
  async documents(values: readonly unknown[], text: string, asList = values.length > 1): Promise<void> {
    const { io, format } = this;
    if (!documentFormats.includes(format)) return io.stdout.write(text);
    const job = await this.jobOf<unknown>([], asList ? 'list' : 'record', (value) => value);
    await writeAll(io, [values], writers[format](job));
  }

  /** The table of some records in these columns as text, as `records` prints it on this stdout. */
  async tableText<Entity>(columns: readonly Column<Entity>[], records: readonly Entity[]): Promise<string> {
    const writer = writers.table(await this.jobOf(columns, 'list'));
    return (records.length > 0 ? await writer.print(records) : '') + (await writer.end());
  }

  /** Some records in these columns as text, aligned as in a pipe; nothing for none. */
  async alignedText<Entity>(
    columns: readonly Column<Entity>[],
    records: readonly Entity[],
    header = this.options.header,
  ): Promise<string> {
    if (records.length === 0) return '';
    return createAlignedWriter({ ...(await this.jobOf(columns, 'list')), header }).print(records);
  }

  private async print<Entity>(
    pages: Pages<Entity>,
    view: View<Entity>,
    toWriter: (job: PrintJob<Entity>) => Writer<Entity>,
    shape: 'list' | 'record',
  ): Promise<void> {
    const { io, format } = this;
    const { fields, quiet } = this.options;
    const columns = pickColumns(view, fields);
    const writer = toWriter(
      await this.jobOf(columns, shape, (record) =>
        fields ? pickFields(columns, record) : originalOf(record as object),
      ),
    );
    const count = await writeAll(io, pages, writer);
    if (quiet) return;
    const forPeople = [count === 0 && format === 'table' && `no ${view.plural}`, writer.notice?.()];
    const lines = [writer.warning?.(), ...(io.stderr.isTerminal ? forPeople : [])];
    for (const line of lines) if (line) await io.stderr.write(`${toProse(io, line)}\n`);
  }

  private async jobOf<Entity>(
    columns: readonly Column<Entity>[],
    shape: 'list' | 'record',
    value: (record: Entity) => unknown = (record) => record,
  ): Promise<PrintJob<Entity>> {
    const { stdout, env } = this.io;
    const { header, color } = this.options;
    return {
      columns,
      shape,
      header,
      isTerminal: stdout.isTerminal,
      width: stdout.width ?? 80,
      style: await createStyle(stdout, env, color),
      value,
    };
  }
}

/** Writes all records, a thousand at a time, and returns how many there were. */
async function writeAll<Entity>(io: Io, pages: Pages<Entity>, writer: Writer<Entity>): Promise<number> {
  let count = 0;
  const write = async (text: string | undefined) => {
    if (text) await io.stdout.write(text);
  };
  try {
    for await (const page of pages) {
      for (const piece of inPages(page)) await write(await writer.print(piece));
      count += page.length;
    }
  } catch (error) {
    await write(await writer.abandon?.());
    throw error;
  }
  await write(await writer.end());
  return count;
}

async function* sorted<Entity>(
  pages: Pages<Entity>,
  compare: (left: Entity, right: Entity) => number,
): AsyncGenerator<Entity[]> {
  const records: Entity[] = [];
  for await (const page of pages) for (const record of page) records.push(record);
  yield records.sort(compare);
}

/** The pages with the first `limit` records; requests no page after those. */
async function* firstOf<Entity>(pages: Pages<Entity>, limit: number): AsyncGenerator<readonly Entity[]> {
  let left = limit;
  for await (const page of pages) {
    yield page.slice(0, left);
    left -= page.length;
    if (left <= 0) return;
  }
}

/** Records in pages of 1,000, which limits the text that is in memory. */
export function* inPages<Entity>(records: Iterable<Entity>): Generator<Entity[]> {
  let page: Entity[] = [];
  for (const record of records) {
    page.push(record);
    if (page.length < 1000) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
