import type { Noun, OperationId } from '../api/nouns.ts';
import type { Fields, ServiceRecord } from '../api/record-values.ts';
import { readRecord } from '../client/read-record.ts';
import { checkFilters } from '../client/whole-list.ts';
import type { Context } from '../context.ts';
import type { View } from '../output/columns.ts';
import { errorSentence } from '../output/error.ts';
import type { Output } from '../output/printer.ts';
import { sleep, withinLimits } from '../process/deadline.ts';
import { CliError, exitCodes, InterruptedError, UsageError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { sanitize, secondsText } from '../process/text.ts';
import { type Access, openAccess, openView, readEach } from './access.ts';
import { toServiceStatuses } from './body-fields.ts';
import { Names } from './names.ts';
import type { IdOrName } from './parse-values.ts';
import { namedNoun, recordView } from './record-fields.ts';

interface ListQuery {
  /** The words of a status. A record must have one of them. */
  readonly status?: readonly string[] | undefined;
  /** The values that fields must have, by parameter, which is also the name of the field. A name may stand for an id. */
  readonly where?: Fields;
  /** A condition that only this program can check. */
  readonly matches?: ((record: JsonObject) => boolean) | undefined;
  /** The fields that `matches` needs, if a service may not have them. */
  readonly needs?: readonly string[];
  readonly limit?: number | undefined;
  /** Exit with 8 if the list has records (`any`), or if it has none (`none`). */
  readonly failIf?: 'any' | 'none' | undefined;
  /** The interval at which the list is printed again, in milliseconds. */
  readonly watch?: number | undefined;
}

/**
 * Reads the records of a list, to be printed. Filters that the service has are sent to it. A page is requested when the page
 * before it was printed.
 */
export async function listRecords(context: Context, noun: Noun, query: ListQuery): Promise<Output | number> {
  const contract = await context.contract();
  const status = toServiceStatuses(contract, noun.name, query.status);
  const where: Fields = { ...query.where, status };
  const access = await openAccess(context, noun, noun.operations.list);
  const { needs, limit, failIf, watch } = query;
  checkFilters(access.operation, where, needs);
  const read = () => readPages(access, { ...query, where });
  if (watch !== undefined) return watchRecords(access, { intervalMs: watch, limit, read });
  const pages = await read();
  const { view, readNames } = await openView(access, true);
  // The first page and the names are read at the same time.
  const [first] = await Promise.all([pages.next(), readNames()]);
  // Undefined until a record is found or the list ends: a reader of stdout that leaves early ends the loop.
  let content: 'any' | 'none' | undefined;
  async function* pagesWithFirst() {
    for (let page = first; !page.done; page = await pages.next()) {
      if (page.value.length > 0) content = 'any';
      yield page.value;
    }
    content ??= 'none';
  }
  const exitCode = () => (content !== undefined && content === failIf ? exitCodes.differs : exitCodes.done);
  return { pages: pagesWithFirst(), view, limit, exitCode };
}

/** Reads the records of a list that meet all conditions, page by page. */
async function readPages(
  { context, client, noun, names }: Access,
  { where = {}, matches, limit, failIf }: ListQuery,
): Promise<AsyncGenerator<ServiceRecord[]>> {
  const filters = await names.resolve(where);
  // To filter or to sort, this program needs all records.
  const canStopEarly = !matches && context.flags.sort === undefined;
  const list = client.list(noun.operations.list, filters, {
    limit: canStopEarly ? limit : undefined,
    // A list that may be cut says nothing about the records that it lacks.
    needsWhole: failIf !== undefined,
  });
  async function* pages() {
    for await (const page of list) yield matches ? page.filter(({ fields }) => matches(fields)) : page;
  }
  return pages();
}

interface WatchOptions {
  readonly intervalMs: number;
  readonly limit: number | undefined;
  read(): Promise<AsyncIterable<readonly ServiceRecord[]>>;
}

const clearScreen = '\x1b[2J\x1b[H';

/**
 * Reads a list again and again, and each time clears the terminal and prints the table with its time. A failed reading prints
 * its cause below the table. A signal ends it without an error, and the result is its exit code.
 *
 * @throws UsageError if stdout is not a terminal, or the format is not a table.
 */
async function watchRecords(access: Access, options: WatchOptions): Promise<number> {
  const { context } = access;
  const { io } = context;
  if (context.printer().content !== 'text' || !io.stdout.isTerminal || io.env.TERM === 'dumb')
    throw new UsageError('--watch: the output must be a table on a terminal', 'run the command in a loop');
  const end = new AbortController();
  const release = context.interrupts.takeOver((signal) => end.abort(new InterruptedError(signal)));
  try {
    for (;;) {
      await withinLimits({ signals: [end.signal] }, () => printOnce(access, options));
      await sleep(options.intervalMs, end.signal);
    }
  } catch (error) {
    if (!end.signal.aborted) throw error;
    return end.signal.reason.exitCode;
  } finally {
    release();
  }
}

async function printOnce(access: Access, { intervalMs, limit, read }: WatchOptions): Promise<void> {
  const { context, client, noun } = access;
  const { io, settings } = context;
  const { bold, red } = await context.style('stdout');
  const clock = context.now().toTimeString().slice(0, 8);
  try {
    const pages: (readonly ServiceRecord[])[] = [];
    for await (const page of await read()) pages.push(page);
    const { view, readNames } = await openView({ ...access, names: new Names(context, client) }, true);
    await readNames();
    const store = settings.baseUrl ?? 'the embedded store';
    const title = `${noun.plural} of ${sanitize(store)} at ${clock}, every ${secondsText(intervalMs)}`;
    await io.stdout.write(`${clearScreen}${bold(title)}\n`);
    await context.printer().records(pages, view, limit);
  } catch (error) {
    if (!(error instanceof CliError) || error.kind === 'usage') throw error;
    await io.stdout.write(`${red(`${clock}: ${sanitize(errorSentence(error))}`)}\n`);
  }
}

/**
 * Reads records, to be printed in the order of their ids. A lone record is not printed as a list.
 *
 * @throws CliError if no record could be read.
 */
export async function getRecords(
  context: Context,
  noun: Noun,
  idsOrNames: readonly IdOrName[],
): Promise<Output> {
  const access = await openAccess(context, noun, await readOperation(context, noun));
  const { client, names } = access;
  const read = async (idOrName: IdOrName) =>
    (await readRecord(client, noun.name, await names.idOf(namedNoun(noun), idOrName))).record;
  const atOnce = context.settings.get('concurrency');
  const [{ values: records, error }, { view, readNames }] = await Promise.all([
    readEach(idsOrNames, read, { unit: noun.plural, atOnce }),
    openView(access, false),
  ]);
  const [first] = records;
  if (first === undefined) throw error;
  for (const record of records) await readNames(record);
  return idsOrNames.length > 1 ? { pages: [records], view, error } : { record: first, view, error };
}

/** The operation that reads a record. A service that has only a list is asked for that. */
async function readOperation(context: Context, { operations: { get, list } }: Noun): Promise<OperationId> {
  const { operations } = await context.contract();
  return !operations.has(get) && operations.has(list) ? list : get;
}

/** Returns the columns of `get`. */
export async function getView(context: Context, noun: Noun): Promise<View<object>> {
  return recordView(context, noun, await readOperation(context, noun));
}
