import { largestPage, offeredOperation } from '../api/contract.ts';
import type { CallOptions, Client } from '../client/client.ts';
import { UsageError } from '../errors.ts';
import { readEntry } from './entry.ts';
import type { IdIndex } from './id-index.ts';
import type { Pace } from './pace.ts';
import { RowCall } from './row-call.ts';
import type { Rows } from './rows.ts';
import type { Stop } from './stop.ts';

/** Under so many rows each is read by itself, and with its ETag; from there on the whole list is. */
const rowsForList = 100;

export interface CountReading {
  readonly client: Client;
  readonly rows: Rows;
  readonly index: IdIndex;
  readonly pace: Pace;
  readonly stop: Stop;
  /** Whether the count of this row is wanted. */
  isWanted(row: number): boolean;
  /** Told of each row that is wanted and has an entry, once. */
  found(row: number, count: number | bigint, etag: string | undefined): void;
  /** Told, after all that were found, of each row that is wanted and has none. */
  missing(row: number): void;
  /** Told how many entries have been looked at; awaited before the next ones are. */
  progress?(read: number): Promise<void> | void;
}

/**
 * Reads the current counts of the rows that are wanted: one by one where they are few, else from the paged list.
 *
 * @throws UsageError where the service offers neither; ApiError or UnavailableError where it could not be read.
 */
export async function readCounts(reading: CountReading): Promise<void> {
  const { rows, client, isWanted } = reading;
  const wanted = new Wanted(reading);
  const few: number[] = [];
  for (let row = 0; row < rows.length && few.length < rowsForList; row += 1) if (isWanted(row)) few.push(row);
  const { operations } = client.contract;
  const byOne =
    operations.has('getInventory') && (few.length < rowsForList || !operations.has('listInventory'));
  if (!byOne && !operations.has('listInventory'))
    throw new UsageError(
      'read counts: the service offers neither getInventory nor listInventory',
      '--blind writes without reading',
    );
  if (byOne) await readOneByOne(reading, wanted);
  else await readList(reading, wanted);
  wanted.tellMissing();
}

/** Which rows that are wanted were found. */
class Wanted {
  private readonly reading: CountReading;
  private readonly seen: Uint8Array;

  constructor(reading: CountReading) {
    this.reading = reading;
    this.seen = new Uint8Array(reading.rows.length);
  }

  found(row: number, count: number | bigint, etag?: string): void {
    // A list that changes while it is read may show an entry twice.
    if (this.seen[row] === 1 || !this.reading.isWanted(row)) return;
    this.seen[row] = 1;
    this.reading.found(row, count, etag);
  }

  tellMissing(): void {
    const { rows, isWanted, missing } = this.reading;
    for (let row = 0; row < rows.length; row += 1) if (this.seen[row] === 0 && isWanted(row)) missing(row);
  }
}

async function readList(reading: CountReading, wanted: Wanted): Promise<void> {
  const { client, index, progress } = reading;
  const limit = largestPage(offeredOperation(client.contract, 'listInventory'));
  const pages = client.list('listInventory', { limit }, paced(reading));
  let read = 0;
  for await (const page of ahead(pages)) {
    for (const { petId, quantity } of page) {
      const row = index.find(petId);
      if (row !== undefined) wanted.found(row, quantity);
    }
    read += page.length;
    await progress?.(read);
  }
}

/** The same pages, each asked for while the one before it is looked at. */
async function* ahead<Page>(pages: AsyncIterable<Page>): AsyncGenerator<Page> {
  const iterator = pages[Symbol.asyncIterator]();
  for (let next = iterator.next(); ; ) {
    const { done, value } = await next;
    if (done) return;
    next = iterator.next();
    // Where the reader goes away, nobody waits for this one.
    next.catch(() => {});
    yield value;
  }
}

async function readOneByOne(reading: CountReading, wanted: Wanted): Promise<void> {
  const { client, rows, pace, isWanted, progress } = reading;
  let [next, read] = [0, 0];
  const work = async () => {
    for (let row = next; row < rows.length; row = next) {
      next += 1;
      if (!isWanted(row)) continue;
      const { count, etag } = await readEntry(client, rows.id(row), paced(reading));
      if (count !== null) wanted.found(row, count, etag);
      read += 1;
      await progress?.(read);
    }
  };
  await Promise.all(Array.from({ length: Math.min(pace.limit, rows.length) }, work));
}

function paced({ pace, stop }: CountReading): CallOptions {
  return new RowCall({ pace, stop });
}
