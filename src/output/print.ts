import { originalOf } from '../api/contract.ts';
import type { ColorMode, OutputFormat } from '../config/setting-values.ts';
import type { Io } from '../process/io.ts';
import { sanitize } from '../process/text.ts';
import { type Column, compareBy, pickColumns, pickFields, type View } from './columns.ts';
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

// This file prints records. `columns.ts` picks the columns, and a writer of `formats.ts` or `table.ts` turns the records into
// text. `style.ts` colours it. `error.ts` and `notices.ts` print on stderr.
// `streams.ts` makes both streams safe to write to, and redraws one line of a terminal, such as the bar of `progress.ts`.

interface PrinterOptions {
  readonly format: OutputFormat;
  /** The columns to print, in this order. Undefined prints those of the view. */
  readonly fields: readonly string[] | undefined;
  /** The column to sort by: `name`, or `-name` to descend. */
  readonly sort: string | undefined;
  readonly header: boolean;
  readonly color: ColorMode;
  readonly quiet: boolean;
}

export type Pages<Entity> = AsyncIterable<readonly Entity[]> | Iterable<readonly Entity[]>;

/** What a command prints, and what it says afterwards. */
export type Output = (RecordsOutput | RecordOutput | DocumentsOutput) & {
  /** Lines for people, printed on stderr after the output. */
  readonly notes?: readonly string[];
  /** What was done, a line for people. It is printed only if the output cannot be written. */
  readonly doneNote?: string;
  /** The error that ends the command after the output, because a part of its work failed. */
  readonly error?: Error | undefined;
};

interface RecordsOutput {
  readonly pages: Pages<object>;
  readonly limit?: number | undefined;
  /** The view, if it is not the one that the command declares. It must have the same columns. */
  readonly view?: View<object>;
}

interface RecordOutput {
  readonly record: object;
  readonly view?: View<object>;
}

/** Values that are not records: see `Printer.documents`. */
interface DocumentsOutput {
  readonly documents: readonly unknown[];
  readonly text: string;
  readonly asList?: boolean;
}

/** A format of stdout. */
interface Format {
  /** What it prints: text for people, or data: cells under a header, ids, or whole records. */
  readonly content: 'text' | 'cells' | 'ids' | 'documents';
  createWriter<Entity>(job: PrintJob<Entity>): Writer<Entity>;
}

const formats: Readonly<Record<OutputFormat, Format>> = {
  table: {
    content: 'text',
    createWriter: (job) => (job.isTerminal ? createTableWriter(job) : createAlignedWriter(job)),
  },
  json: { content: 'documents', createWriter: createJsonWriter },
  jsonl: { content: 'documents', createWriter: createJsonLinesWriter },
  csv: { content: 'cells', createWriter: createCsvWriter },
  tsv: { content: 'cells', createWriter: createTsvWriter },
  yaml: { content: 'documents', createWriter: createYamlWriter },
  ids: { content: 'ids', createWriter: createIdsWriter },
};

/** Prints records to stdout in the chosen format, page by page if the format and the sorting allow it. */
export class Printer {
  private readonly format: Format;
  private readonly io: Io;
  private readonly options: PrinterOptions;

  constructor(io: Io, options: PrinterOptions) {
    this.format = formats[options.format];
    this.io = io;
    this.options = options;
  }

  get content(): Format['content'] {
    return this.format.content;
  }

  /** Whether a column is printed or sorted by, so that fetching its data is worth it. */
  shows<Entity>(view: View<Entity>, column: string): boolean {
    const { fields, sort } = this.options;
    const hasColumns = this.content === 'text' || this.content === 'cells';
    const columns = fields || hasColumns ? pickColumns(view, fields) : [];
    return columns.some(({ name }) => name === column) || sort?.replace(/^-/, '') === column;
  }

  /** Prints the output of a command. @param declaredView the view of records that have none of their own. */
  async output(output: Output, declaredView: View<object> | undefined): Promise<void> {
    if ('documents' in output) return this.documents(output.documents, output.text, output.asList);
    const view = output.view ?? declaredView;
    if (!view) throw new Error('records are printed without a view');
    return 'record' in output ? this.record(output.record, view) : this.records(output.pages, view, output);
  }

  async record<Entity>(record: Entity, view: View<Entity>): Promise<void> {
    await this.print([[record]], view, 'record');
  }

  async records<Entity>(
    pages: Pages<Entity>,
    view: View<Entity>,
    { limit }: Pick<RecordsOutput, 'limit'> = {},
  ): Promise<void> {
    const { sort } = this.options;
    const sortedPages = sort === undefined ? pages : sortPages(pages, compareBy(view, sort));
    const printedPages = limit === undefined ? sortedPages : firstOf(sortedPages, limit);
    await this.print(printedPages, view, 'list');
  }

  /**
   * Prints values that are not records, such as requests: as data in JSON and YAML, as `text` in the other formats.
   * `--fields` and `--sort` do not apply.
   *
   * @param asList whether to print a list even of a single value.
   */
  async documents(values: readonly unknown[], text: string, asList = values.length > 1): Promise<void> {
    const { io, format } = this;
    if (format.content !== 'documents') return io.stdout.write(text);
    const job = await this.createJob<unknown>([], asList ? 'list' : 'record', (value) => value);
    await writeAll(io, [values], format.createWriter(job), true);
  }

  /** Returns the table of some records as text, as `records` prints it on stdout, or would print it on stderr. */
  async tableText<Entity>(
    columns: readonly Column<Entity>[],
    records: readonly Entity[],
    stream: 'stdout' | 'stderr' = 'stdout',
  ): Promise<string> {
    const writer = formats.table.createWriter(await this.createJob(columns, 'list', undefined, stream));
    return (records.length > 0 ? await writer.print(records) : '') + (await writer.end());
  }

  private async print<Entity>(
    pages: Pages<Entity>,
    view: View<Entity>,
    shape: 'list' | 'record',
  ): Promise<void> {
    const { io, format } = this;
    const { fields, quiet } = this.options;
    const columns = pickColumns(view, fields);
    const writer = format.createWriter(
      await this.createJob(columns, shape, (record) =>
        fields ? pickFields(columns, record) : originalOf(record as object),
      ),
    );
    const isText = format.content === 'text';
    const count = await writeAll(io, pages, writer, !isText);
    if (quiet) return;
    const lines = [writer.warning?.(), count === 0 && isText && io.stderr.isTerminal && `no ${view.plural}`];
    for (const line of lines) if (line) await io.stderr.write(`${sanitize(line)}\n`);
  }

  private async createJob<Entity>(
    columns: readonly Column<Entity>[],
    shape: 'list' | 'record',
    value: (record: Entity) => unknown = (record) => record,
    stream: 'stdout' | 'stderr' = 'stdout',
  ): Promise<PrintJob<Entity>> {
    const { [stream]: target, env } = this.io;
    const { header, color } = this.options;
    return {
      columns,
      shape,
      header,
      isTerminal: target.isTerminal,
      width: target.width ?? 80,
      style: await createStyle(target, env, color),
      value,
    };
  }
}

/** Writes all records, a thousand at a time, and returns how many there were. @param isRaw whether they are data */
async function writeAll<Entity>(
  io: Io,
  pages: Pages<Entity>,
  writer: Writer<Entity>,
  isRaw: boolean,
): Promise<number> {
  let count = 0;
  const write = async (text: string | undefined) => {
    if (text) await io.stdout.write(text, { isRaw });
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

async function* sortPages<Entity>(
  pages: Pages<Entity>,
  compare: (left: Entity, right: Entity) => number,
): AsyncGenerator<Entity[]> {
  const records: Entity[] = [];
  for await (const page of pages) for (const record of page) records.push(record);
  yield records.sort(compare);
}

/** Yields the first `limit` records in their pages, and requests no further page. */
async function* firstOf<Entity>(pages: Pages<Entity>, limit: number): AsyncGenerator<readonly Entity[]> {
  let remaining = limit;
  for await (const page of pages) {
    yield page.slice(0, remaining);
    remaining -= page.length;
    if (remaining <= 0) return;
  }
}

/** Yields records in pages of 1,000, so that only the text of one page is in memory. */
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
