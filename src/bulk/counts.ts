import type { InventoryItem } from '../api/schemas.ts';
import type { CallOptions } from '../client/call.ts';
import type { Client } from '../client/client.ts';
import { ApiError, UnavailableError, UsageError } from '../process/errors.ts';
import { StoppedError } from '../process/signals.ts';
import { eachAtPace } from './pace.ts';
import type { Session } from './session.ts';

/** A count of the service; null for a pet without an entry. */
export type Count = number | bigint | null;

interface Entry {
  readonly count: Count;
  readonly etag?: string | undefined;
  /** Undefined for a pet without an entry. */
  readonly item?: InventoryItem;
}

/** @throws CliError if it cannot be read. */
export async function readEntry(client: Client, petId: bigint, call?: CallOptions): Promise<Entry> {
  try {
    const { value, etag } = await client.call('getInventory', { petId }, call);
    if (value.petId !== petId) throw otherPet(petId, value.petId);
    return { count: value.quantity, etag, item: value };
  } catch (error) {
    if (!isMissing(error)) throw error;
    return { count: null };
  }
}

/** The current count; undefined if it cannot be read. */
export async function readNow({ client }: Session, petId: bigint): Promise<Count | undefined> {
  if (!client.contract.operations.has('getInventory')) return undefined;
  return readEntry(client, petId).then(
    ({ count }) => count,
    () => undefined,
  );
}

export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.kind === 'not-found';
}

/** The answer is about another pet, such as from a cache that ignores the path: its count must not be used. */
function otherPet(petId: bigint, found: number | bigint): UnavailableError {
  return new UnavailableError(`read the count of pet ${petId}: the service answered about pet ${found}`, {
    reason: 'invalid-response',
    sent: true,
    method: 'GET',
  });
}

/** @throws UsageError if the service offers no way to read counts. */
export function checkReadable({ contract: { operations } }: Client, hint: string): void {
  if (operations.has('getInventory') || operations.has('listInventory')) return;
  throw new UsageError(
    'read counts: the service offers neither getInventory nor listInventory',
    hint,
    'unbound',
  );
}

/** Fewer rows than this are read one by one, with their ETags; otherwise the whole list is read. */
const rowsForList = 100;

/** Gets the count of a row; an ETag too if the entry was read alone. */
type LookAtCount = (row: number, count: Count, etag?: string) => void;

/**
 * Reads the current counts of the wanted rows: one by one if they are few, else from the paged list. When it ends, also
 * with an error, no request is in progress.
 *
 * @param look is called once for each wanted row, at last for those without an entry.
 * @throws ApiError or UnavailableError if one could not be read; StoppedError if the run has stopped.
 */
export async function readCounts(
  session: Session,
  isWanted: (row: number) => boolean,
  look: LookAtCount,
): Promise<void> {
  const { rows, client } = session;
  checkReadable(client, '--blind writes without reading');
  const { operations } = client.contract;
  const canGet = operations.has('getInventory');
  const canList = operations.has('listInventory');
  const seen = new Uint8Array(rows.length);
  function* unseen(): Generator<number> {
    for (let row = 0; row < rows.length; row += 1) if (seen[row] === 0 && isWanted(row)) yield row;
  }
  const found: LookAtCount = (row, count, etag) => {
    // A list that changes while it is read may contain an entry twice.
    if (seen[row] === 1 || !isWanted(row)) return;
    seen[row] = 1;
    look(row, count, etag);
  };
  const readAlone = () =>
    readEach(session, unseen(), async (row) => {
      const { count, etag } = await readEntry(client, rows.id(row));
      if (count !== null) found(row, count, etag);
      session.entriesRead += 1;
    });
  session.entriesRead = 0;
  if (!canList || (canGet && isFewerThan(rowsForList, unseen()))) await readAlone();
  else {
    const doubt = await readList(session, found).catch((error) => error);
    if (doubt && !(canGet && isCut(doubt))) throw doubt;
    if (doubt) await readAlone();
  }
  for (const row of unseen()) look(row, null);
}

/** Takes no more items than it must. */
function isFewerThan(limit: number, items: Iterable<unknown>): boolean {
  let count = 0;
  for (const _ of items) {
    count += 1;
    if (count === limit) return false;
  }
  return true;
}

/** Whether a list was not read because it may end before its last record without saying so. */
export function isCut(error: unknown): boolean {
  return error instanceof UsageError && error.details.code === 'unbound';
}

/** The pages of the whole inventory. */
export async function* listInventory(client: Client): AsyncGenerator<InventoryItem[]> {
  yield* client.list('listInventory', {}, { whole: true });
}

async function readList(session: Session, found: LookAtCount): Promise<void> {
  const { client, rows } = session;
  for await (const page of ahead(listInventory(client))) {
    for (const { petId, quantity } of page) {
      const row = rows.find(petId);
      if (row !== undefined) found(row, quantity);
    }
    session.entriesRead += page.length;
  }
}

/** The same pages; each is requested while the previous one is processed. */
export async function* ahead<Page>(pages: AsyncIterable<Page>): AsyncGenerator<Page> {
  const iterator = pages[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = iterator.next();
      // If the consumer stops first, the page is awaited below and its error ignored.
      next.catch(() => {});
      yield value;
    }
  } finally {
    await next.catch(() => {});
  }
}

/** Reads each item. @throws the first error; StoppedError if the run has stopped, because that aborted the reads. */
export async function readEach<Item>(
  session: Session,
  items: Iterable<Item>,
  read: (item: Item) => Promise<void>,
): Promise<void> {
  await eachAtPace(session.pace, items, read).catch((error) => {
    throw session.stop.reason ? new StoppedError() : error;
  });
}
