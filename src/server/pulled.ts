import { dirname } from 'node:path';
import { CliError } from '../errors.ts';
import { ensurePrivateFolder, writeFileAtomic } from '../files.ts';
import { withLock } from '../lock.ts';
import { versionOf } from './offline.ts';
import { seedStore } from './seed.ts';
import type { Store } from './store.ts';
import { createStore, printRecords, printStore, readStore } from './store-file.ts';

/** The records of a service, as its lists return them. */
export interface PulledRecords {
  readonly categories: readonly object[];
  readonly pets: readonly object[];
  readonly orders: readonly object[];
  readonly inventory: readonly object[];
}

/**
 * A shop with the records of a service. The next record that is created gets an id above all of them.
 *
 * @throws CliError `failed` if the records do not fit together, as the rules of the local server have it.
 */
export async function toPulledStore(records: PulledRecords, from: string, at: Date): Promise<Store> {
  const refuse = (why: string): never => {
    throw new CliError('failed', `pull ${from}: its records cannot be kept as they are: ${why}`, {
      hint: 'pull again if the service was changed meanwhile',
    });
  };
  // A field that is null says no more than one that is left out, which is what the store keeps.
  const lists = Object.entries(records).map(([name, list]) => [name, list.map(withoutNulls)] as const);
  const statuses = new Map(records.pets.map((pet) => [idOf(pet), (pet as { status?: string }).status]));
  const inventory = records.inventory.map((item) => {
    const { petId, quantity } = item as { petId: bigint; quantity: number | bigint };
    // The status is always that of the pet, which may have changed between the two lists.
    return { petId, quantity, status: statuses.get(petId) ?? undefined };
  });
  const ids = Object.fromEntries(
    (['categories', 'pets', 'orders'] as const).map((name) => [name, counterAfter(records[name])]),
  );
  const store = createStore(
    { ...Object.fromEntries(lists), inventory: inventory.map(withoutNulls), ids },
    refuse,
  );
  store.pulled = { from, at: at.toISOString(), digest: await digestOf(store) };
  return store;
}

/** Whether a store has been changed since it was pulled, or since it was seeded. */
export async function isChanged(store: Store): Promise<boolean> {
  if (store.pulled) return (await digestOf(store)) !== store.pulled.digest;
  return printRecords(store) !== printRecords(seedStore());
}

/** The source of the store in a file, and the time of the copy; undefined if it was not pulled, or cannot be read. */
export async function describeOrigin(file: string): Promise<string | undefined> {
  try {
    const store = readStore(file);
    if (!store?.pulled) return undefined;
    const { from, at } = store.pulled;
    return `pulled from ${from} at ${at}${(await isChanged(store)) ? ', changed since' : ''}`;
  } catch {
    return undefined;
  }
}

/**
 * Puts a store in the place of the one in `file`, which is private to its owner.
 *
 * @param version of the file when it was last looked at.
 * @throws CliError `failed` if somebody has changed it since, or if it cannot be written; it stays as it is.
 */
export async function replaceStore(file: string, store: Store, version: string): Promise<void> {
  await ensurePrivateFolder(dirname(file));
  await withLock(file, async () => {
    if (versionOf(file) !== version)
      throw new CliError('failed', `${file}: was changed meanwhile, and is left as it is`, {
        retryable: true,
      });
    await writeFileAtomic(file, printStore(store));
  });
}

async function digestOf(store: Store): Promise<string> {
  const { createHash } = await import('node:crypto');
  return createHash('sha256').update(printRecords(store)).digest('hex').slice(0, 32);
}

function idOf(record: object): bigint | undefined {
  const { id } = record as { id?: bigint | null };
  return id ?? undefined;
}

function withoutNulls(record: object): object {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== null && value !== undefined),
  );
}

/** Undefined if there are no records, or if the last id of all is in use. */
function counterAfter(records: readonly object[]): { readonly next: bigint } | undefined {
  let highest: bigint | undefined;
  for (const record of records) {
    const id = idOf(record);
    if (id !== undefined && (highest === undefined || id > highest)) highest = id;
  }
  if (highest === undefined || highest === 9223372036854775807n) return undefined;
  return { next: highest < 0n ? 1n : highest + 1n };
}
