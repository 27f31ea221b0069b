import type { InventoryItem } from '../api/schemas.ts';
import type { CallOptions } from '../client/call.ts';
import type { Client } from '../client/client.ts';
import { ApiError, UnavailableError, UsageError } from '../process/errors.ts';
import { StoppedError } from '../process/signals.ts';
import type { Count } from './number-lists.ts';
import { eachAtPace } from './pace.ts';
import type { Run } from './run.ts';

/** A count as it was read. */
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
    if (!isCountMissing(error)) throw error;
    return { count: null };
  }
}

export function isCountMissing(error: unknown): boolean {
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

/** @throws UsageError if the service offers no way to read counts: then there is no plan, no guard and no undo. */
export function checkReadable({ contract: { operations } }: Client): void {
  if (operations.has('getInventory') || operations.has('listInventory')) return;
  throw new UsageError(
    'read counts: the service offers neither getInventory nor listInventory, so nothing can be planned',
    '`petstore inventory set` sets single counts',
    'unbound',
  );
}

/** Fewer rows than this are read one by one, with their ETags; otherwise the whole list is read. */
const rowsForList = 100;

/** Gets the count of a row; an ETag too if the entry was read by itself. */
type LookAtCount = (row: number, count: Count, etag?: string) => void;

/**
 * Reads the current counts of the unprocessed rows: one by one if they are few, else from the paged list, and then one
 * by one those that the list lacks. When it ends, also with an error, no request is in progress.
 *
 * @param look is called once for each of them.
 * @throws ApiError or UnavailableError if one could not be read; StoppedError if the run has stopped.
 */
export async function readCounts(run: Run, look: LookAtCount): Promise<void> {
  const { rows, client } = run;
  const { operations } = client.contract;
  const canGet = operations.has('getInventory');
  const canList = operations.has('listInventory');
  const seen = new Uint8Array(rows.length);
  const isUnseen = (row: number) => seen[row] === 0 && rows.isState(row, 'unprocessed');
  const found: LookAtCount = (row, count, etag) => {
    // A list that changes while it is read may contain an entry twice.
    if (!isUnseen(row)) return;
    seen[row] = 1;
    look(row, count, etag);
  };
  if (canList && !(canGet && rows.count(isUnseen) < rowsForList))
    await readList(run, found).catch((error) => {
      // A list that may end early says nothing about the rows that it lacks; they are read one by one.
      if (!canGet || !isCut(error)) throw error;
    });
  if (canGet)
    await eachAtPace(run.pace, rows.where(isUnseen), async (row) => {
      const { count, etag } = await readEntry(client, rows.id(row));
      run.entriesRead += 1;
      found(row, count, etag);
    }).catch((error) => {
      // That the run has stopped has aborted the reads.
      throw run.stop.reason ? new StoppedError() : error;
    });
  for (const row of rows.where(isUnseen)) look(row, null);
}

/** Whether a list was not read because it may end before its last record without saying so. */
function isCut(error: unknown): boolean {
  return error instanceof UsageError && error.details.code === 'unbound';
}

/** The pages of the whole inventory. */
export async function* listInventory(client: Client): AsyncGenerator<InventoryItem[]> {
  yield* client.list('listInventory', {}, { whole: true });
}

async function readList(run: Run, found: LookAtCount): Promise<void> {
  const { client, rows } = run;
  for await (const page of ahead(listInventory(client))) {
    for (const { petId, quantity } of page) {
      const row = rows.find(petId);
      if (row !== undefined) found(row, quantity);
    }
    run.entriesRead += page.length;
  }
}

/** The same pages; each is requested while the previous one is processed. */
async function* ahead<Page>(pages: AsyncIterable<Page>): AsyncGenerator<Page> {
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
