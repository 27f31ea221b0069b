import { originalOf } from '../api/contract.ts';
import type { ColorMode, OutputFormat } from '../config/setting-values.ts';
import { AnsweredError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import { type Column, compareBy, pickColumns, pickFields, type View } from './columns.ts';
import { prose } from './fold.ts';
import {
  csvWriter,
  idsWriter,
  jsonLinesWriter,
  jsonWriter,
  type Sheet,
  tsvWriter,
  type Writer,
  yamlWriter,
} from './formats.ts';
import type { LiveLine } from './live-line.ts';
import { startProgress } from './progress.ts';
import { createStyle } from './style.ts';
import { alignedWriter, tableWriter } from './table.ts';

// From records to text: `columns.ts` says how the records of a noun are shown, and this file prints them with a writer of
// `formats.ts` or `table.ts`. `width.ts` measures text, `fold.ts` breaks lines, `style.ts` colours them, and `near-time.ts`
// shows times. `error.ts`, `notices.ts` and `trace.ts` are what stderr says; `live-line.ts` with `progress.ts` and
// `waiting.ts` is what it redraws, and `screen.ts` what `--watch` redraws. `streams.ts` makes both streams safe to write to.

interface PrinterOptions {
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

interface ListOptions {
  /** The most records to print. */
  readonly limit?: number | undefined;
  /** Print each page as it comes, also in a table for a terminal. */
  readonly isLive?: boolean | undefined;
}

export type Pages<Entity> = AsyncIterable<readonly Entity[]> | Iterable<readonly Entity[]>;
type Shape = Sheet<unknown>['shape'];
type CreateWriter = <Entity>(sheet: Sheet<Entity>) => Writer<Entity>;

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
/** Limits the text held in memory, however many records arrive at once. */
const recordsPerWrite = 1000;

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

  /** Whether a column is shown or sorted by, so that fetching its data is worth it. */
  shows<Entity>(view: View<Entity>, column: string): boolean {
    const { fields, sort } = this.options;
    const columns = fields || columnFormats.includes(this.format) ? pickColumns(view, fields) : [];
    return columns.some(({ name }) => name === column) || sort?.replace(/^-/, '') === column;
  }

  /**
   * Checks `--fields` and `--sort`. `records` and `record` do it too, but a command that writes or reads first calls
   * this before it sends anything.
   *
   * @throws UsageError for a field that the view lacks; AnsweredError after `--fields help` has been answered.
   */
  async check<Entity>(view: View<Entity>): Promise<void> {
    const { fields, sort } = this.options;
    if (fields?.length === 1 && fields[0] === 'help') await answerHelp(this.io, view);
    pickColumns(view, fields);
    if (sort !== undefined) compareBy(view, sort);
  }

  async record<Entity>(record: Entity, view: View<Entity>): Promise<void> {
    await this.check(view);
    await this.print([[record]], view, 'record');
  }

  async records<Entity>(
    pages: Pages<Entity>,
    view: View<Entity>,
    { limit, isLive = false }: ListOptions = {},
  ): Promise<void> {
    const { io } = this;
    const { sort, quiet, liveLine } = this.options;
    await this.check(view);
    // The user does not see records that go to a file or are sorted first.
    const isBlind = sort !== undefined || io.stdout.isFile;
    const isCounted = isBlind && liveLine?.canDraw && !quiet;
    const countedPages = isCounted ? withCount(pages, io, liveLine, view.noun) : pages;
    const sortedPages = sort === undefined ? countedPages : sorted(countedPages, compareBy(view, sort));
    const printedPages = limit === undefined ? sortedPages : firstOf(sortedPages, limit);
    await this.print(printedPages, view, 'list', isLive);
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
    const view = { noun: 'documents', columns: [] };
    await writeAll(io, [values], await this.openWriter(view, asList ? 'list' : 'record', undefined));
  }

  /** The table of some records in these columns as text, as `records` prints it on this stdout. */
  async tableText<Entity>(columns: readonly Column<Entity>[], records: readonly Entity[]): Promise<string> {
    const writer = writers.table(await this.sheetOf(columns, 'list', true));
    return (records.length > 0 ? await writer.print(records) : '') + (await writer.end());
  }

  /** Some records in these columns as text, aligned as in a pipe; nothing for none. */
  async alignedText<Entity>(
    columns: readonly Column<Entity>[],
    records: readonly Entity[],
    header = this.options.header,
  ): Promise<string> {
    if (records.length === 0) return '';
    return alignedWriter({ ...(await this.sheetOf(columns, 'list', true)), header }).print(records);
  }

  private async print<Entity>(
    pages: Pages<Entity>,
    view: View<Entity>,
    shape: Shape,
    isLive = false,
  ): Promise<void> {
    const { io, format } = this;
    const { fields, quiet } = this.options;
    const writer = await this.openWriter(view, shape, fields, isLive);
    const count = await writeAll(io, pages, writer);
    if (quiet) return;
    const forPeople = [count === 0 && format === 'table' && `no ${view.noun}`, writer.notice?.()];
    const lines = [writer.warning?.(), ...(io.stderr.isTerminal ? forPeople : [])];
    for (const line of lines) if (line) await io.stderr.write(`${prose(io, line)}\n`);
  }

  private async openWriter<Entity>(
    view: View<Entity>,
    shape: Shape,
    fields: PrinterOptions['fields'],
    isLive = false,
  ): Promise<Writer<Entity>> {
    const sheet = await this.sheetOf(pickColumns(view, fields), shape, fields !== undefined);
    return isLive && this.format === 'table' ? alignedWriter(sheet) : writers[this.format](sheet);
  }

  private async sheetOf<Entity>(
    columns: readonly Column<Entity>[],
    shape: Shape,
    isPicked: boolean,
  ): Promise<Sheet<Entity>> {
    const { io } = this;
    const { header, color } = this.options;
    return {
      columns,
      isPicked,
      shape,
      header,
      isTerminal: io.stdout.isTerminal,
      width: io.stdout.width ?? 80,
      style: await createStyle(io.stdout, io.env, color),
      value: isPicked ? (record) => pickFields(columns, record) : (record) => originalOf(record as object),
    };
  }
}

async function answerHelp<Entity>(io: Io, { columns }: View<Entity>): Promise<never> {
  await io.stdout.write(columns.map(({ name }) => `${name}\n`).join(''));
  throw new AnsweredError();
}

/** Writes all records, one write for each piece, and returns how many there were. */
async function writeAll<Entity>(io: Io, pages: Pages<Entity>, writer: Writer<Entity>): Promise<number> {
  let count = 0;
  const write = async (text: string | undefined) => {
    if (text) await io.stdout.write(text);
  };
  try {
    for await (const page of pages) {
      for (let at = 0; at < page.length; at += recordsPerWrite) {
        await write(await writer.print(page.slice(at, at + recordsPerWrite)));
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

/** The same pages, counted on the live line. */
async function* withCount<Entity>(
  pages: Pages<Entity>,
  io: Io,
  line: LiveLine,
  noun: string,
): AsyncGenerator<readonly Entity[]> {
  let done = 0;
  const stopProgress = startProgress(io, line, {
    label: 'reading',
    unit: noun,
    delayMs: 1000,
    read: () => ({ done }),
  });
  try {
    for await (const page of pages) {
      done += page.length;
      yield page;
    }
  } finally {
    stopProgress();
  }
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

/** Records in pages of 1,000. */
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
