import type { HttpRequest } from '../api/http.ts';
import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { cellText } from '../output/columns.ts';
import { withProgress } from '../output/progress.ts';
import { CliError, InterruptedError, OutputClosedError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { Access, Body } from './noun.ts';
import { printResults } from './print-records.ts';
import { type PrepareWrite, sendPrepared, type Write } from './send-write.ts';
import { showRequests } from './show-requests.ts';
import { type Failure, type Standing, Work, type WorkOptions } from './work.ts';

/** The request of a write, without a credential. */
export function requestOf(client: Client, { operation, input, options }: Write): HttpRequest {
  return client.toRequest(operation, input, options);
}

export interface Writes<Item> extends Omit<WorkOptions<Item>, 'unit'> {
  readonly items: readonly Item[];
  /** Print a list, even of one. */
  readonly asList: boolean;
  /** Print each record as it is written: a command that is killed has named what it made. */
  readonly isLive?: boolean;
  /** Prepares the write of an item. */
  prepare(item: Item, ...refusal: Parameters<PrepareWrite>): ReturnType<PrepareWrite>;
}

/** How many writes have ended, and what is left of them. */
export interface WriteResult<Item> {
  readonly error: CliError | undefined;
  readonly failures: readonly Failure<Item>[];
  readonly standing: Standing;
}

/** Sends one write and prints the record in the answer. @see writeRecords */
export async function writeRecord<Entity>(access: Access<Entity>, prepare: PrepareWrite): Promise<void> {
  const { error } = await writeRecords(access, {
    items: [undefined],
    asList: false,
    prepare: (_, refusal) => prepare(refusal),
  });
  if (error) throw error;
}

/**
 * Sends all writes, whether some fail or not, and prints the records in the answers; with --dry-run prints the requests
 * instead. The first signal begins no further write and waits for those under way; a second one ends the command.
 */
export async function writeRecords<Item, Entity>(
  access: Access<Entity>,
  writes: Writes<Item>,
): Promise<WriteResult<Item>> {
  const { context, noun } = access;
  const { items, asList, isLive = false, prepare, atOnce, place, stop } = writes;
  if (context.flags.dryRun) return showWrites(access, writes);
  const isMany = items.length > 1;
  let unanswered = 0;
  let accepted = 0;
  const write = async (item: Item) => {
    const sending = sendPrepared(access, (refusal) => prepare(item, refusal));
    const { record, isAccepted, write: lastWrite } = await sending;
    if (isAccepted) accepted += 1;
    else if (record === undefined) unanswered += 1;
    if (!isAccepted) await printChange(context, lastWrite, record as object | undefined);
    return record;
  };
  const work = new Work(items, write, { unit: noun.plural, place, atOnce, stop });
  const release = isMany ? stopAtSignal(context, work) : () => {};
  let error: CliError | undefined;
  try {
    const print = () => printResults(access, work.results, { asList, isLive });
    const progress = { label: 'writing', unit: noun.plural, delayMs: 1000, read: () => work.standing() };
    await (isMany ? withProgress(context, progress, print) : print());
  } catch (thrown) {
    // A reader of stdout that goes away does not stop the writes.
    if (thrown instanceof OutputClosedError) for await (const _ of work.results);
    else {
      await work.finishBegun();
      const { done, failed, total } = work.standing();
      if (total > 1 || done > failed) await context.warn(howFar(work.standing(), noun.plural));
      if (!(thrown instanceof CliError)) throw thrown;
      error = thrown;
    }
  } finally {
    release();
  }
  if (accepted > 0)
    await context.warn(
      `note: the service accepted ${asList ? `${accepted} of these writes` : 'the write'}, and has not done ${asList ? 'them' : 'it'} yet (202)`,
    );
  if (unanswered > 0)
    await context.warn(
      asList
        ? `note: the service answered ${unanswered} of these writes without a record, so there is none to print`
        : 'note: the service answered without a record, so there is none to print',
    );
  return { error: error ?? work.error(), failures: work.failures(), standing: work.standing() };
}

/** Begins no further item of the work after the first signal; a second one ends the command. Returns the way back. */
export function stopAtSignal<Item, Result>(
  { interrupts, warn }: Context,
  work: Work<Item, Result>,
): () => void {
  let isStopping = false;
  return interrupts.take((signal) => {
    if (isStopping) return interrupts.abort(signal);
    isStopping = true;
    work.stop(new InterruptedError(signal));
    void warn('note: no further write begins; waiting for those under way; a second signal ends at once');
  });
}

function howFar({ done, failed, total }: Standing, unit: string): string {
  if (total === 1) return 'note: the write succeeded, but its record could not be printed';
  return `note: ${done - failed} of ${total} ${unit} were written${failed === 0 ? '' : `, ${failed} failed`}`;
}

/** Prints the requests of writes on stdout and sends none. */
export async function showWrites<Item, Entity>(
  { context, client, noun }: Access<Entity>,
  { items, asList, prepare, place }: Pick<Writes<Item>, 'items' | 'asList' | 'prepare' | 'place'>,
): Promise<WriteResult<Item>> {
  const request = async (item: Item) => requestOf(client, await prepare(item));
  const work = new Work(items, request, { unit: noun.plural, place });
  const requests: HttpRequest[] = [];
  for await (const request of work.results) requests.push(request);
  if (requests.length > 0 || asList) await showRequests(context, requests, asList);
  return { error: work.error(), failures: [], standing: work.standing() };
}

/** Prints for a person on a terminal what a write has changed: `pet 3: status available -> sold`. */
async function printChange(
  { io, print }: Context,
  { change, input }: Write,
  record: object | undefined,
): Promise<void> {
  if (!change || !io.stderr.isTerminal) return;
  const [before, after] = [change.before as Body, (record ?? (input as { body: Body }).body) as Body];
  const changes = change.names
    .map((name) => ({ name, from: valueOrNone(before[name]), to: valueOrNone(after[name]) }))
    .filter(({ from, to }) => from !== to)
    .map(({ name, from, to }) => `${name} ${from} -> ${to}`);
  await print(`${change.subject}: ${changes.length === 0 ? 'nothing changed' : changes.join(', ')}`);
}

function valueOrNone(value: unknown): string {
  return cellText(value as JsonValue | undefined) || 'none';
}
