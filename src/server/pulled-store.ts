import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { int64Max } from '../api/values.ts';
import { CliError } from '../process/errors.ts';
import { ensurePrivateFolder, writeFileAtomic } from '../process/files.ts';
import { withLock } from '../process/lock.ts';
import type { Store } from './store.ts';
import { createStore, InvalidStore, printStore, readStore, versionOf } from './store-file.ts';

/** The records of a service, as its lists return them. */
export type PulledRecords = Readonly<
  Record<'categories' | 'pets' | 'orders' | 'inventory', readonly object[]>
>;

/**
 * A store with the records of a service. The next record that is created gets an id above all of them.
 *
 * @throws CliError `failed` if the records break the rules of the local server.
 */
export function toPulledStore(records: PulledRecords, from: string, at: Date): Store {
  const store = storeOf(records, from);
  for (const noun of ['categories', 'pets', 'orders'] as const) {
    const last = store[noun].all.at(-1)?.id ?? 0n;
    // After the largest int64 there is none, so the counter then begins at the lowest free id.
    if (last < int64Max) store[noun].nextId = last + 1n;
  }
  Object.assign(store, { isChanged: false, pulled: { from, at: at.toISOString() } });
  return store;
}

function storeOf({ inventory, ...others }: PulledRecords, from: string): Store {
  const lists = Object.entries({
    ...others,
    // The status is left out: that of the pet counts, which may have changed between the two lists.
    inventory: inventory.map((item) => ({ ...item, status: undefined })),
  }).map(([name, list]) => [name, list.map(withoutNulls)]);
  try {
    return createStore(Object.fromEntries(lists));
  } catch (error) {
    if (!(error instanceof InvalidStore)) throw error;
    throw new CliError('failed', `pull ${from}: its records cannot be kept as they are: ${error.message}`, {
      hint: 'pull again if the service was changed meanwhile',
    });
  }
}

/** The record without fields that are null or undefined: in the store, a field without a value is left out. */
function withoutNulls(record: object): object {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== null && value !== undefined),
  );
}

/** The source of the store in a file, and the time of the copy; undefined if it was not pulled, or cannot be read. */
export function describeOrigin(file: string): string | undefined {
  try {
    const { pulled, isChanged } = readStore(file) ?? {};
    return pulled && `pulled from ${pulled.from} at ${pulled.at}${isChanged ? ', changed since' : ''}`;
  } catch {
    return undefined;
  }
}

interface Replacement {
  /** The store that is replaced, if there is one. */
  readonly current: Store | undefined;
  /**
   * Puts a store in its place; the file is private to its owner.
   *
   * @throws CliError `failed` if the file has been changed since, or cannot be written; it stays as it is.
   */
  replace(store: Store): Promise<void>;
}

/** @throws UsageError if the file does not hold a store. */
export function beginReplacement(file: string): Replacement {
  const version = versionOf(file);
  return {
    current: readStore(file),
    async replace(store) {
      await ensurePrivateFolder(dirname(file));
      await withLock(file, async () => {
        if (versionOf(file) !== version)
          throw new CliError('failed', `${file}: was changed meanwhile, and is left as it is`, {
            retryable: true,
          });
        store.id = randomUUID();
        await writeFileAtomic(file, printStore(store));
      });
    },
  };
}
