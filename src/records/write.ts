import type { HttpRequest } from '../api/http.ts';
import type { CallOptions } from '../client/call.ts';
import type { Answer, Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { cellText } from '../output/columns.ts';
import { startProgress } from '../output/progress.ts';
import { ManyError, OutputClosedError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { Access, Body, RecordOperation } from './noun.ts';
import { printResults, showRequests } from './print.ts';
import { type Standing, Work, type WorkOptions } from './work.ts';

/** A request for one record as data; it can be sent or shown. */
export interface Write {
  readonly operation: RecordOperation;
  /** The record's id by the name that the operation has for it, and the body. */
  readonly input: object;
  readonly options?: CallOptions;
  /** The change to report on a terminal after the write: `pet 3: status available -> sold`. */
  readonly change?: {
    /** Such as `pet 3`. */
    readonly subject: string;
    readonly before: object;
    /** The fields that the write may change. */
    readonly names: readonly string[];
  };
}

/** Sends a write; the answer has the record, if there is one. */
export function send<Entity>(client: Client, write: Write): Promise<Answer<Entity | undefined>> {
  const { operation, input, options } = write;
  return client.call(operation, input as never, options) as Promise<Answer<Entity | undefined>>;
}

/** The request that `send` would send, without a credential. */
export function toRequest(client: Client, { operation, input, options }: Write): HttpRequest {
  return client.toRequest(operation, input as never, options);
}

interface Writes<Item> extends Omit<WorkOptions<Item>, 'unit'> {
  readonly items: readonly Item[];
  /** Print a list, even of one. */
  readonly asList: boolean;
  /** Prepares the write of an item; may read from the service. */
  prepare(item: Item): Write | Promise<Write>;
}

/** Sends one write and prints the record in the answer. @see writeRecords */
export function writeRecord<Entity>(access: Access<Entity>, write: Write): Promise<void> {
  return writeRecords(access, { items: [write], asList: false, prepare: () => write });
}

/**
 * Sends all writes, whether some fail or not, and prints the records in the answers; with --dry-run prints the requests
 * instead.
 */
export async function writeRecords<Item, Entity>(
  access: Access<Entity>,
  writes: Writes<Item>,
): Promise<void> {
  const { context, client, noun } = access;
  const { items, asList, prepare, atOnce, place } = writes;
  if (context.flags.dryRun) return showWrites(access, writes);
  let unanswered = 0;
  let accepted = 0;
  const write = async (item: Item) => {
    const prepared = await prepare(item);
    const { value: record, isAccepted, mismatch } = await send<Entity>(client, prepared);
    if (isAccepted) accepted += 1;
    else if (record === undefined) unanswered += 1;
    if (mismatch) work.fail(item, mismatch);
    else if (!isAccepted) await tellChange(context, prepared, record as object | undefined);
    return record;
  };
  const work = new Work(items, write, { unit: noun.many, place, atOnce });
  await whileFollowed(
    access,
    () => work.standing(),
    atOnce === undefined ? 'the one under way' : 'those under way',
    async () => {
      try {
        await printResults(access, work.results, asList);
      } catch (error) {
        if (!(error instanceof OutputClosedError)) {
          await work.finishBegun();
          throw error;
        }
        // A reader of stdout that goes away does not stop the writes.
        for await (const _ of work.results);
      }
      work.check();
    },
  );
  if (accepted > 0)
    await context.note(
      `note: the service accepted ${asList ? `${accepted} of these writes` : 'the write'}, and has not done ${asList ? 'them' : 'it'} yet (202)`,
    );
  if (unanswered > 0)
    await context.note(
      asList
        ? `note: the service answered ${unanswered} of these writes without a record, so there is none to print`
        : 'note: the service answered without a record, so there is none to print',
    );
}

/** Prints the requests of writes on stdout and sends none. */
export async function showWrites<Item, Entity>(
  { context, client, noun }: Access<Entity>,
  { items, asList, prepare, place }: Pick<Writes<Item>, 'items' | 'asList' | 'prepare' | 'place'>,
): Promise<void> {
  const request = async (item: Item) => toRequest(client, await prepare(item));
  const work = new Work(items, request, { unit: noun.many, place });
  const requests: HttpRequest[] = [];
  for await (const request of work.results) requests.push(request);
  if (requests.length > 0) await showRequests(context, requests, asList);
  work.check();
}

/** Tells a person on a terminal what a write has changed: `pet 3: status available -> sold`. */
async function tellChange(
  { io, notice }: Context,
  { change, input }: Write,
  record: object | undefined,
): Promise<void> {
  if (!change || !io.stderr.isTerminal) return;
  const [before, after] = [change.before as Body, (record ?? (input as { body: Body }).body) as Body];
  const changes = change.names
    .map((name) => ({ name, from: shown(before[name]), to: shown(after[name]) }))
    .filter(({ from, to }) => from !== to)
    .map(({ name, from, to }) => `${name} ${from} -> ${to}`);
  await notice(`${change.subject}: ${changes.length === 0 ? 'nothing changed' : changes.join(', ')}`);
}

function shown(value: unknown): string {
  return cellText(value as JsonValue | undefined) || 'none';
}

/**
 * Shows the progress of many writes on stderr if the printed records do not, and reports how far they came if they are
 * aborted.
 */
async function whileFollowed<Entity>(
  { context, noun: { many } }: Access<Entity>,
  standing: () => Standing,
  underWay: 'the one under way' | 'those under way',
  write: () => Promise<void>,
): Promise<void> {
  if (standing().total === 1) {
    return write().catch(async (error: unknown) => {
      const { done, failed } = standing();
      if (done > failed) await context.note('note: the write succeeded, but its record could not be printed');
      throw error;
    });
  }
  const { io, liveLine, interrupts } = context;
  const stopProgress = startProgress(io, liveLine, {
    mode: context.quiet || io.stdout.isTerminal ? 'none' : 'auto',
    label: 'writing',
    unit: many,
    style: await context.style('stderr'),
    delayMs: 1000,
    read: standing,
  });
  const howFar = () => {
    const { done, failed, total } = standing();
    return `note: ${done - failed} of ${total} ${many} were written${failed === 0 ? '' : `, ${failed} failed`}`;
  };
  const tellAborted = () => void context.note(`${howFar()}; ${underWay} may have been too`);
  interrupts.signal.addEventListener('abort', tellAborted);
  try {
    await write();
  } catch (error) {
    if (!(error instanceof ManyError) && !interrupts.signal.aborted) await context.note(howFar());
    throw error;
  } finally {
    interrupts.signal.removeEventListener('abort', tellAborted);
    await stopProgress();
  }
}
