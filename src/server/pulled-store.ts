import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { int64Max } from '../api/values.ts';
import { CliError } from '../process/errors.ts';
import { ensurePrivateFolder, writeFileAtomic } from '../process/files.ts';
import { withLock } from '../process/lock.ts';
import type { Store } from './store.ts';
import { createStore, InvalidStore, printStore, readStore } from './store-file.ts';

/** The records of a service, as its lists return them. */
export type PulledRecords = Readonly<
  Record<'categories' | 'pets' | 'orders' | 'inventory', readonly object[]>
>;

/**
 * Creates a store with the records of a service. A record that is created later gets an id above all of theirs.
 *
 * @throws CliError `failed` if the records break the rules of the local server.
 */
export function toPulledStore(records: PulledRecords, from: string): Store {
  const store = createStoreOf(records, from);
  for (const noun of ['categories', 'pets', 'orders'] as const) {
    const last = store[noun].all.at(-1)?.id ?? 0n;
    // No id follows the largest int64. The counter then begins at the lowest free id.
    if (last < int64Max) store[noun].nextId = last + 1n;
  }
  return store;
}

function createStoreOf({ inventory, ...lists }: PulledRecords, from: string): Store {
  const entries = Object.entries({
    ...lists,
    // The status of an entry is that of its pet, which may have changed between the two lists.
    inventory: inventory.map((item) => ({ ...item, status: undefined })),
  }).map(([name, list]) => [name, list.map(withoutNulls)]);
  try {
    return createStore(Object.fromEntries(entries));
  } catch (error) {
    if (!(error instanceof InvalidStore)) throw error;
    throw new CliError('failed', `pull ${from}: its records cannot be kept as they are: ${error.message}`, {
      hint: 'pull again if the service was changed meanwhile',
    });
  }
}

/** Removes the fields that are null or undefined: the store leaves out a field without a value. */
function withoutNulls(record: object): object {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== null && value !== undefined),
  );
}

/**
 * Writes a store to the file of the embedded store, which only its owner can read.
 *
 * @throws InputError if the file does not hold a store, CliError `failed` if it cannot be written; it then stays as it is.
 */
export async function replaceStore(file: string, store: Store): Promise<void> {
  await ensurePrivateFolder(dirname(file));
  await withLock(file, async () => {
    readStore(file);
    store.id = randomUUID();
    await writeFileAtomic(file, printStore(store));
  });
}
