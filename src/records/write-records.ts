import { offeredOperation } from '../api/contract.ts';
import type { HttpRequest } from '../api/http.ts';
import type { OperationId } from '../api/operations.ts';
import { confirmWrite } from '../asking/confirmation.ts';
import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { type AttemptOptions, attemptEach } from './attempts.ts';
import { clientFor } from './client-for.ts';
import { follow } from './follow.ts';
import type { Noun, Write } from './noun.ts';
import { printSuccesses } from './print-successes.ts';
import { showRequests } from './show-requests.ts';

interface Intent {
  readonly operation: OperationId;
  /** What will happen, as a clause: `change pet 5`. */
  readonly what: string;
  /** About how many requests. */
  readonly requests?: number;
}

/** Settles what can go wrong before anything is sent, and gives what to read and write with. */
export async function openWrites<Row>(
  context: Context,
  noun: Noun<Row>,
  { operation, what, requests = 1 }: Intent,
): Promise<Client> {
  await (await context.printer()).check(noun.view);
  offeredOperation(await context.contract(), operation);
  await confirmWrite(context, { what });
  return clientFor(context, requests);
}

interface Writes<Item, Row> extends AttemptOptions<Item> {
  readonly client: Client;
  readonly items: Iterable<Item> | AsyncIterable<Item>;
  /** May read what the write needs. */
  prepare(item: Item): Write<Row> | Promise<Write<Row>>;
  /** A list, even of one. */
  readonly asList: boolean;
}

/** Sends one write. @see writeRecords */
export function writeRecord<Row>(
  context: Context,
  noun: Noun<Row>,
  { client, write }: { readonly client: Client; readonly write: Write<Row> },
): Promise<void> {
  const items = [write];
  return writeRecords(context, noun, {
    client,
    items,
    total: 1,
    noun: noun.many,
    asList: false,
    prepare: (item) => item,
  });
}

/** Sends writes, all of them tried, and prints the records that come back; with --dry-run shows the requests instead. */
export async function writeRecords<Item, Row>(
  context: Context,
  noun: Noun<Row>,
  writes: Writes<Item, Row>,
): Promise<void> {
  if (context.flags.dryRun) return showWrites(context, writes);
  const { client, items, prepare, asList } = writes;
  const filled = noun.fillView(context, client);
  const send = async (item: Item) => (await prepare(item)).send(client);
  const attempts = attemptEach(items, send, writes);
  await follow(context, { noun: noun.many, state: attempts.state }, () =>
    printSuccesses(context, attempts, { filled, asList, isWrite: true }),
  );
}

/** The requests of writes, on stdout; none of them is sent. */
export async function showWrites<Item>(
  context: Context,
  writes: Omit<Writes<Item, unknown>, 'asList'>,
): Promise<void> {
  const { client, items, prepare } = writes;
  const requests: HttpRequest[] = [];
  const attempts = attemptEach(items, async (item) => (await prepare(item)).toRequest(client), writes);
  for await (const request of attempts.successes()) requests.push(request);
  if (requests.length > 0) await showRequests(context, requests);
  attempts.check();
}
