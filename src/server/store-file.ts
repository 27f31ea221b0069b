import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import * as v from 'valibot';
import type { NounName } from '../api/nouns.ts';
import { idRequirement, int64Max } from '../api/record-values.ts';
import { bodySchemas, idValue, quantity } from '../api/schemas.ts';
import { CliError, InputError, systemCode, systemReason } from '../process/errors.ts';
import { isJsonObject, parseJson, printJson } from '../process/exact-json.ts';
import { issuesText } from './read-input.ts';
import { type Collection, type RecordWithId, Store, toOrder, toPet } from './store.ts';

const storedId = v.pipe(idValue, v.minValue(0n, idRequirement));
const usedIds = v.optional(
  v.object({
    next: v.pipe(storedId, v.minValue(1n)),
    // Deleted ids above `next`, which versions before 4.0.0 wrote.
    retired: v.optional(v.array(storedId), []),
  }),
  { next: 1 },
);

function withId<N extends NounName>({ entries }: { readonly entries: v.ObjectEntries }) {
  return v.object({ ...entries, id: storedId }) as unknown as v.GenericSchema<unknown, RecordWithId<N>>;
}

/**
 * A store in a file: a list of records for each noun. Every list is optional. If `inventory` is missing, every
 * pet has an entry of quantity 0. An entry has the status of its pet. New ids begin after the largest one, or at `ids`.
 */
const storeSchema = v.strictObject({
  id: v.optional(v.string()),
  // Versions before 4.0.0 wrote these two.
  changed: v.optional(v.boolean()),
  pulled: v.optional(v.object({})),
  categories: v.optional(v.array(withId<'categories'>(bodySchemas.NewCategory)), []),
  pets: v.optional(v.array(withId<'pets'>(bodySchemas.NewPet)), []),
  orders: v.optional(v.array(withId<'orders'>(bodySchemas.Order)), []),
  inventory: v.optional(v.array(v.object({ petId: storedId, quantity }))),
  ids: v.optional(v.object({ categories: usedIds, pets: usedIds, orders: usedIds }), {}),
});

/** A value is not a store. The message is the reason. */
class InvalidStore extends Error {}

/** The records of a store do not fit together. */
class UnfitRecords extends InvalidStore {}

const nounsWithIds = ['categories', 'pets', 'orders'] as const;

/** Returns a text that changes whenever the file is replaced. */
export function versionOf(file: string): string {
  try {
    const { ino, mtimeNs, size } = statSync(file, { bigint: true });
    return `${ino}-${mtimeNs}-${size}`;
  } catch {
    return 'none';
  }
}

const keptHint = 'the file was left as it is; repair it, or delete it to start again';

/**
 * Reads the store of a file, if the file exists. Reads synchronously, because loading `node:fs/promises` takes longer than reading a
 * small file.
 *
 * @throws InputError if the file cannot be read or does not hold a store; the file stays as it is.
 */
export function readStore(file: string, hint = keptHint): Store | undefined {
  const bytes = readBytes(file);
  if (!bytes) return undefined;
  try {
    if (!isUtf8(bytes)) throw new InvalidStore('is not UTF-8');
    const value = parseJson(bytes.toString());
    if (!isJsonObject(value)) throw new InvalidStore('must be an object');
    return createStore(value);
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof InvalidStore)) throw error;
    const problem = error instanceof SyntaxError ? `is not JSON: ${error.message}` : error.message;
    throw new InputError(`${file}: ${problem}`, hint);
  }
}

/** Reads the id of the store in a file. @throws InputError if the file cannot be read. */
export function readStoreId(file: string): string | undefined {
  // `printStore` puts the id first. Parsing a store of 100,000 pets would take most of a second.
  const beginning = readBytes(file)?.toString('latin1', 0, 100) ?? '';
  return /^\{"id":"([^"\\]+)"/.exec(beginning)?.[1] ?? readStore(file)?.id;
}

function readBytes(file: string): Buffer | undefined {
  try {
    const stats = statSync(file);
    // Opening a pipe would wait for a process that writes to it.
    if (stats.isFile() || stats.isDirectory()) return readFileSync(file);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new InputError(`${file}: ${systemReason(error)}`);
  }
  throw new InputError(`${file}: is not a regular file`);
}

/** Creates a store from the content of a file. @throws InvalidStore, UnfitRecords. */
function createStore(content: object): Store {
  const result = v.safeParse(storeSchema, content);
  if (!result.success) {
    const [first, ...more] = result.issues;
    throw new InvalidStore(issuesText([first]) + (more.length > 0 ? ` (and ${more.length} more)` : ''));
  }
  const { id: storeId, categories, pets, orders, inventory, ids } = result.output;
  const store = new Store();
  store.id = storeId;
  categories.forEach(({ id, ...fields }, at) => {
    add(store.categories, id, { id, ...fields }, `/categories/${at}/id`);
  });
  pets.forEach((pet, at) => {
    add(store.pets, pet.id, toPet(pet.id, pet), `/pets/${at}/id`);
  });
  orders.forEach((order, at) => {
    add(store.orders, order.id, toOrder(order.id, order), `/orders/${at}/id`);
  });
  const items: NonNullable<typeof inventory> =
    inventory ?? pets.map(({ id }) => ({ petId: id, quantity: 0 }));
  items.forEach(({ petId, quantity }, at) => {
    const pet = store.pets.get(petId)?.record;
    if (!pet) throw new UnfitRecords(`/inventory/${at}/petId: is not a pet of the file`);
    add(store.inventory, petId, { petId, quantity, status: pet.status }, `/inventory/${at}/petId`);
  });
  for (const noun of nounsWithIds) {
    const { next, retired } = ids[noun];
    const used = [...retired, store[noun].all.at(-1)?.id ?? 0n];
    // No id follows the largest int64. New records then get the lowest free id.
    store[noun].nextId = used.reduce((free, id) => (id < int64Max && id >= free ? id + 1n : free), next);
  }
  return store;
}

/** The records of a service, as its lists return them. */
export type PulledRecords = Readonly<Record<NounName, readonly object[]>>;

/** Creates a store with the records of a service. @throws CliError `failed` if the records break the rules of the local server. */
export function toPulledStore(records: PulledRecords, from: string): Store {
  const entries = Object.entries(records);
  try {
    return createStore(Object.fromEntries(entries.map(([name, list]) => [name, list.map(withoutNulls)])));
  } catch (error) {
    if (!(error instanceof InvalidStore)) throw error;
    throw new CliError('failed', `pull ${from}: its records cannot be kept as they are: ${error.message}`, {
      hint: error instanceof UnfitRecords ? 'pull again if the service was changed meanwhile' : undefined,
    });
  }
}

/** Removes the fields that are null or undefined: the store leaves out a field without a value. */
function withoutNulls(record: object): object {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== null && value !== undefined),
  );
}

/** Adds a record. @param pointer the JSON pointer of its id in the file. */
function add<Value extends object>(
  records: Collection<Value>,
  id: bigint,
  record: Value,
  pointer: string,
): void {
  if (records.get(id)) throw new UnfitRecords(`${pointer}: occurs twice`);
  records.put(id, record);
}

/** Prints the text of a store's file: one record a line, in the order of the ids. */
export function printStore({ id, ...collections }: Store): string {
  const lists = ([...nounsWithIds, 'inventory'] as const).map((noun) => {
    const lines = collections[noun].all.map(({ text }) => text);
    return `"${noun}":${lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n]`}`;
  });
  const ids = nounsWithIds.map((noun) => {
    return `"${noun}":${printJson({ next: collections[noun].nextId })}`;
  });
  const parts = [
    ...(id === undefined ? [] : [`"id":${printJson(id)}`]),
    ...lists,
    `"ids":{${ids.join(',')}}`,
  ];
  return `{${parts.join(',\n')}}\n`;
}
