import type { Noun } from '../api/nouns.ts';
import type { Fields, ServiceRecord } from '../api/record-values.ts';
import { readRecord } from '../client/client.ts';
import { requireFilters } from '../client/lists/filters.ts';
import type { Context } from '../context.ts';
import { errorSentence } from '../output/messages.ts';
import type { Output } from '../output/printer.ts';
import { forEachConcurrently, sleep, withinLimits } from '../process/deadline.ts';
import {
  CliError,
  exitCodes,
  interruption,
  isInterruption,
  joinErrors,
  UsageError,
} from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { durationText, sanitize } from '../process/text.ts';
import { beginNames, openAccess, type RecordAccess, readNames, recordsOutput, withNames } from './access.ts';
import { Names } from './names.ts';
import { type IdOrName, toServiceStatuses } from './record-fields.ts';

interface ListQuery {
  /** Only records with one of these statuses are listed. */
  readonly status?: readonly string[] | undefined;
  /** The values that fields must have, by field, which is also the parameter. A value may be a name in place of an id. */
  readonly where?: Fields;
  /** A condition that only this program can check. */
  readonly matches?: ((record: JsonObject) => boolean) | undefined;
  /** The fields of `matches` that a service may lack. */
  readonly needs?: readonly string[];
  readonly limit?: number | undefined;
  /** Exit with 8 if the list has records (`any`), or if it has none (`none`). It needs the whole list. */
  readonly failIf?: 'any' | 'none' | undefined;
  /** True if a list that may be incomplete is an error. */
  readonly needsWhole?: boolean;
  /** The interval at which the list is printed again. */
  readonly watchMs?: number | undefined;
}

/** Lists records. Sends the filters that the service has. A page is requested when the previous one was printed. */
export async function listRecords(context: Context, noun: Noun, query: ListQuery): Promise<Output> {
  const access = await openAccess(context, noun, 'list');
  const status = toServiceStatuses(access.client.contract, noun.name, query.status);
  const where: Fields = { ...query.where, status };
  const { needs, limit, failIf, watchMs } = query;
  requireFilters(access.operation, where, needs);
  const read = () => readPages(access, { ...query, where });
  if (watchMs !== undefined) return watchRecords(access, { intervalMs: watchMs, limit, read });
  const pages = read();
  // The names and the first page are read at the same time. If both readings fail, the error of the page is reported, because the page
  // is awaited first.
  beginNames(access);
  const first = await pages.next();
  const nameById = await readNames(access);
  async function* pagesWithFirst() {
    for (let page = first; !page.done; page = await pages.next())
      yield withNames(access, page.value, nameById);
  }
  const exitCode = failIf === (first.done ? 'none' : 'any') ? exitCodes.differs : exitCodes.done;
  return { kind: 'list', pages: pagesWithFirst(), limit, exitCode };
}

/** Reads the records of a list that meet all conditions, in pages of at least one. */
async function* readPages(
  { context, client, noun, names, operation }: RecordAccess,
  { where = {}, matches, limit, failIf, needsWhole = failIf !== undefined }: ListQuery,
): AsyncGenerator<ServiceRecord[]> {
  const filters = await names.resolve(where, operation);
  // Filtering and sorting here need all records.
  const canStopEarly = !matches && context.flags.sort === undefined;
  const list = client.list(noun.operations.list, filters, {
    limit: canStopEarly ? limit : undefined,
    needsWhole,
  });
  for await (const page of list) {
    const records = matches ? page.filter(({ fields }) => matches(fields)) : page;
    if (records.length > 0) yield records;
  }
}

interface WatchOptions {
  readonly intervalMs: number;
  readonly limit: number | undefined;
  read(): AsyncIterable<readonly ServiceRecord[]>;
}

const clearScreen = '\x1b[2J\x1b[H';

/**
 * Reads a list again and again, and each time clears the terminal and prints the table with its time. A failed reading prints its
 * cause below the table. A signal ends it without an error, with the exit code of the signal.
 *
 * @throws UsageError if stdout is not a terminal, or the format is not a table.
 */
async function watchRecords(access: RecordAccess, options: WatchOptions): Promise<Output> {
  const { context } = access;
  const { io } = context;
  if (context.printer.content !== 'text' || !io.stdout.isTerminal || io.env.TERM === 'dumb')
    throw new UsageError('--watch prints a table on a terminal only', 'run the command in a loop');
  const end = new AbortController();
  const release = context.stop.takeOver((signal) => end.abort(interruption(signal)));
  try {
    for (;;) {
      await withinLimits({ signals: [end.signal] }, () => printOnce(access, options));
      await sleep(options.intervalMs, end.signal);
    }
  } catch (error) {
    if (!end.signal.aborted) throw error;
    // The terminal has written ^C.
    void io.stdout.write('\n').catch(() => {});
    return { kind: 'nothing', exitCode: end.signal.reason.exitCode };
  } finally {
    release();
  }
}

async function printOnce(access: RecordAccess, { intervalMs, limit, read }: WatchOptions): Promise<void> {
  const { context, client, noun } = access;
  const { io, settings } = context;
  const { bold, red } = await context.style('stdout');
  const clock = new Date().toTimeString().slice(0, 8);
  try {
    const pages: (readonly ServiceRecord[])[] = [];
    for await (const page of read()) pages.push(page);
    const nameById = await readNames({ ...access, names: new Names(context, client) });
    const store = settings.baseUrl ?? 'the embedded store';
    const title = `${noun.plural} of ${sanitize(store)} at ${clock}, every ${durationText(intervalMs)}`;
    await io.stdout.write(`${clearScreen}${bold(title)}\n`);
    const namedPages = pages.map((page) => withNames(access, page, nameById));
    await context.printer.output({ kind: 'list', pages: namedPages, limit });
  } catch (error) {
    if (!(error instanceof CliError) || error.kind === 'usage') throw error;
    await io.stdout.write(`${red(`${clock}: ${sanitize(errorSentence(error))}`)}\n`);
  }
}

/**
 * Gets records, in the order of the command line. A single record is not printed as a list.
 *
 * @throws CliError if no record could be read.
 */
export async function getRecords(
  context: Context,
  noun: Noun,
  idsOrNames: readonly IdOrName[],
): Promise<Output> {
  const access = await openAccess(context, noun, 'get');
  const { client, names } = access;
  const read = async (idOrName: IdOrName) =>
    readRecord(client, noun.name, await names.requireId(noun.idName, idOrName));
  beginNames(access);
  const results: (ServiceRecord | CliError)[] = [];
  await forEachConcurrently(client.limits.concurrency, idsOrNames.entries(), async ([index, idOrName]) => {
    results[index] = await read(idOrName).catch((failure: unknown) => {
      if (!(failure instanceof CliError) || isInterruption(failure) || failure.kind === 'usage')
        throw failure;
      return failure;
    });
  });
  const errors = results.filter((result) => result instanceof CliError);
  const records = results.filter((result): result is ServiceRecord => !(result instanceof CliError));
  const error = joinErrors(errors, results.length, noun.plural);
  if (records.length === 0) throw error;
  return { ...(await recordsOutput(access, records, idsOrNames.length)), error };
}
