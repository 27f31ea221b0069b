import { offeredOperation } from '../api/contract.ts';
import type { HttpRequest } from '../api/http.ts';
import type { OperationId } from '../api/operations.ts';
import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { ManyError, OutputClosedError } from '../errors.ts';
import { startProgress } from '../output/progress.ts';
import { type AttemptOptions, type Attempts, attemptEach } from './many.ts';
import type { Noun, Write } from './noun.ts';
import { showRequests } from './show-requests.ts';

/** Checks everything that can be wrong before the first request, and returns the parts for reading and writing. */
export async function openWrites<Row>(
  context: Context,
  noun: Noun<Row>,
  operationId: OperationId,
  requests = 1,
): Promise<Client> {
  await (await context.printer()).check(noun.view);
  offeredOperation(await context.contract(), operationId);
  return clientFor(context, requests);
}

/** With at least this many requests, the transport that starts slower and runs faster pays off. */
const manyRequests = 20;

export function clientFor(context: Context, requests: number): Promise<Client> {
  return context.client(requests < manyRequests ? 'few' : 'many');
}

/** Sends a write; returns the record in the answer, if there is one. */
export async function send<Value>(client: Client, write: Write<Value>): Promise<Value | undefined> {
  const { value } = await client.call(write.operationId, write.input as never, write.options);
  return value as Value | undefined;
}

/** The request that `send` would send, without a credential. */
export function toRequest(client: Client, write: Write<unknown>): HttpRequest {
  return client.toRequest(write.operationId, write.input as never, write.options);
}

interface Writes<Item, Row> extends AttemptOptions<Item> {
  readonly items: Iterable<Item> | AsyncIterable<Item>;
  /** Prepares the write of an item; may read from the service. */
  prepare(item: Item): Write<Row> | Promise<Write<Row>>;
  /** Called with the record in the answer, before it is printed. */
  onSent?(item: Item, row: Row | undefined): Promise<void>;
  /** Print a list, even of one. */
  readonly asList: boolean;
}

/** Sends one write and prints the record in the answer. @see writeRecords */
export function writeRecord<Row>(
  context: Context,
  noun: Noun<Row>,
  client: Client,
  write: Write<Row>,
): Promise<void> {
  return writeRecords(context, noun, client, {
    items: [write],
    total: 1,
    noun: noun.many,
    asList: false,
    prepare: (item) => item,
  });
}

/**
 * Sends all writes, whether some fail or not, and prints the records in the answers; with --dry-run prints the requests
 * instead.
 */
export async function writeRecords<Item, Row>(
  context: Context,
  noun: Noun<Row>,
  client: Client,
  writes: Writes<Item, Row>,
): Promise<void> {
  const { items, prepare, onSent } = writes;
  if (context.flags.dryRun) return showWrites(context, client, writes);
  let unanswered = 0;
  const attempts = attemptEach(
    items,
    async (item) => {
      const row = await send(client, await prepare(item));
      await onSent?.(item, row);
      if (row === undefined) unanswered += 1;
      return row;
    },
    writes,
  );
  await whileFollowed(context, noun, attempts, async () => {
    await printSuccesses(context, noun, client, { attempts, asList: writes.asList, isWrite: true });
  });
  if (unanswered > 0)
    await context.note(
      writes.asList
        ? `note: the service answered ${unanswered} of these writes without a record, so there is none to print`
        : `note: the service answered without a record, so there is none to print`,
    );
}

/** Prints the requests of writes on stdout and sends none. */
export async function showWrites<Item>(
  context: Context,
  client: Client,
  writes: Pick<Writes<Item, unknown>, 'items' | 'prepare'> & AttemptOptions<Item>,
): Promise<void> {
  const { items, prepare } = writes;
  const requests: HttpRequest[] = [];
  const attempts = attemptEach(items, async (item) => toRequest(client, await prepare(item)), writes);
  for await (const request of attempts.successes()) requests.push(request);
  if (requests.length > 0) await showRequests(context, requests);
  attempts.check();
}

interface Successes<Row> {
  readonly attempts: Attempts<Row | undefined>;
  readonly asList: boolean;
  /** If true, all are tried even if stdout has been closed. */
  readonly isWrite: boolean;
}

/** Prints the records of the successes, if there are any, and then throws the failures. */
export async function printSuccesses<Row>(
  context: Context,
  noun: Noun<Row>,
  client: Client,
  { attempts, asList, isWrite }: Successes<Row>,
): Promise<void> {
  const filled = noun.fillView(context, client, 'few');
  const rows = present(attempts.successes());
  try {
    const printer = await context.printer();
    const first = await rows.next();
    if (!first.done) {
      const { view, note, prepare } = await filled;
      const notes = new Set([note]);
      const ready = async (row: Row) => {
        notes.add(await prepare?.([row]));
        return row;
      };
      await ready(first.value);
      for (const each of notes) if (each) await context.note(each);
      if (asList) await printer.records(onePerPage(first.value, rows, ready), view);
      else await printer.record(first.value, view);
    }
  } catch (error) {
    if (!isWrite || !(error instanceof OutputClosedError)) throw error;
    for await (const _ of rows);
  }
  attempts.check();
}

/** Leaves the rest unread if the printer stops. */
async function* onePerPage<Row>(
  first: Row,
  rest: AsyncGenerator<Row>,
  ready: (row: Row) => Promise<Row>,
): AsyncGenerator<Row[]> {
  yield [first];
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield [await ready(next.value)];
}

/** Leaves out writes that were answered with a bare 2xx and so have no record. */
async function* present<Row>(rows: AsyncIterable<Row | undefined>): AsyncGenerator<Row> {
  for await (const row of rows) if (row !== undefined) yield row;
}

/**
 * Runs many writes. It shows the progress on stderr if the printed records do not, and reports how far the work came if
 * it is aborted.
 */
async function whileFollowed<Row>(
  context: Context,
  { many }: Noun<Row>,
  { state }: Attempts<unknown>,
  work: () => Promise<void>,
): Promise<void> {
  if (state().total === 1) return work();
  const { io, liveLine, interrupts } = context;
  const progress = startProgress(io, liveLine, {
    mode: context.quiet || io.stdout.isTerminal ? 'none' : 'auto',
    label: 'writing',
    unit: many,
    style: await context.style('stderr'),
    delayMs: 1000,
    read: state,
  });
  const standing = () => {
    const { done, failed, total } = state();
    return `note: ${done - failed} of ${total} ${many} were written${failed === 0 ? '' : `, ${failed} failed`}`;
  };
  const tellAborted = () => void context.notice(`${standing()}; the one under way may have been too`);
  interrupts.signal.addEventListener('abort', tellAborted);
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ManyError) && !interrupts.signal.aborted) await context.notice(standing());
    throw error;
  } finally {
    interrupts.signal.removeEventListener('abort', tellAborted);
    await progress.stop();
  }
}
