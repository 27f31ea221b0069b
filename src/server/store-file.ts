import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import * as v from 'valibot';
import { Id, NewCategory, NewOrder, NewPet, PetStatus, Quantity } from '../api/schemas.ts';
import { messageOf, UsageError } from '../errors.ts';
import { isJsonObject, type JsonValue, parseJson, printJson } from '../json.ts';
import { systemReason } from '../system-error.ts';
import { type Entry, textOf } from './collection.ts';
import { describeIssues } from './request.ts';
import { type IdCounter, isComplete, Store, toCategory, toOrder, toPet } from './store.ts';

const StoredId = v.pipe(Id, v.minValue(0n, 'must be an integer from 0 to 9223372036854775807'));
const Counter = v.optional(
  v.object({ next: v.pipe(StoredId, v.minValue(1n)), retired: v.optional(v.array(StoredId), []) }),
);

/**
 * The format of a shop in a file: the service's own records in lists, each of which is optional. Without `inventory`
 * every pet has an entry of quantity 0; without `ids` counting begins at the lowest free id.
 */
const StoreFile = v.strictObject({
  pulled: v.optional(v.object({ from: v.string(), at: v.string(), digest: v.string() })),
  categories: v.optional(v.array(v.object({ ...NewCategory.entries, id: StoredId })), []),
  pets: v.optional(v.array(v.object({ ...NewPet.entries, id: StoredId })), []),
  orders: v.optional(v.array(v.object({ ...NewOrder.entries, id: StoredId })), []),
  inventory: v.optional(
    v.array(v.object({ petId: StoredId, quantity: Quantity, status: v.optional(PetStatus) })),
  ),
  ids: v.optional(v.object({ categories: Counter, pets: Counter, orders: Counter }), {}),
});
type StoreFile = v.InferOutput<typeof StoreFile>;

/**
 * The shop in a file; undefined if the file does not exist. Read synchronously: for a small file, such as the offline
 * store, loading the promises of node:fs would take longer than reading.
 *
 * @throws UsageError if the file cannot be read or does not hold a shop; it stays unchanged.
 */
export function readStore(file: string): Store | undefined {
  const bytes = readBytes(file);
  if (bytes === undefined) return undefined;
  if (!isUtf8(bytes)) throw new UsageError(`${file}: is not UTF-8`, 'the file was left as it is');
  return parseStore(bytes.toString(), file);
}

function readBytes(file: string): Buffer | undefined {
  try {
    const found = statSync(file);
    // Opening a pipe would wait for a writer.
    if (found.isFile() || found.isDirectory()) return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`${file}: ${systemReason(error)}`);
  }
  throw new UsageError(`${file}: is not a regular file`);
}

/**
 * The shop that a text describes.
 *
 * @param file its name, for messages.
 * @throws UsageError if the text does not describe a shop, or its records do not fit together.
 */
export function parseStore(text: string, file: string): Store {
  const refuse = (why: string): never => {
    throw new UsageError(
      `${file}: ${why}`,
      'the file was left as it is; repair it, or delete it to start again',
    );
  };
  const value = parse(text, refuse);
  return createStore(isJsonObject(value) ? value : refuse('must be an object'), refuse);
}

/**
 * The shop with these records.
 *
 * @param file of the shape of StoreFile, or not.
 * @param refuse called with the reason if it is not, or if its records do not fit together.
 */
export function createStore(file: object, refuse: Refuse): Store {
  const result = v.safeParse(StoreFile, file);
  return result.success ? toStore(result.output, refuse) : refuse(describeIssues(result.issues));
}

/** The text for `parseStore`: one record a line, in the order of the ids. */
export function printStore(store: Store): string {
  return `{${store.pulled ? `"pulled":${printJson(store.pulled)},\n` : ''}${printRecords(store)}}\n`;
}

/** The text of a store without the source of its records. */
export function printRecords(store: Store): string {
  const lists = [
    `"categories":${printList(store.categories.all())}`,
    `"pets":${printList(store.pets.all())}`,
    `"orders":${printList(store.orders.all())}`,
    `"inventory":${printList(store.inventory.all())}`,
  ];
  const counters = { categories: store.categoryIds, pets: store.petIds, orders: store.orderIds };
  const ids = Object.entries(counters).map(([name, counter]) => `"${name}":${printCounter(counter)}`);
  return `${lists.join(',\n')},\n"ids":{${ids.join(',')}}`;
}

type Refuse = (why: string) => never;

function parse(text: string, refuse: Refuse): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    return refuse(`is not JSON: ${messageOf(error)}`);
  }
}

function toStore(file: StoreFile, refuse: Refuse): Store {
  const store = new Store();
  store.pulled = file.pulled;
  file.categories.forEach((category, at) => {
    if (store.categories.has(category.id)) refuse(`/categories/${at}/id: is there twice`);
    store.categories.put(category.id, toCategory(category.id, category));
  });
  file.pets.forEach((pet, at) => {
    if (store.pets.has(pet.id)) refuse(`/pets/${at}/id: is there twice`);
    if (!store.categories.has(pet.categoryId))
      refuse(`/pets/${at}/categoryId: is not a category of the file`);
    store.pets.put(pet.id, toPet(pet.id, pet));
  });
  file.orders.forEach((order, at) => {
    if (store.orders.has(order.id)) refuse(`/orders/${at}/id: is there twice`);
    // The pet of a complete order may have been deleted.
    if (order.petId !== undefined && !isComplete(toOrder(order.id, order)) && !store.pets.has(order.petId))
      refuse(`/orders/${at}/petId: is not a pet of the file`);
    store.orders.put(order.id, toOrder(order.id, order));
  });
  fillInventory(store, file, refuse);
  if (file.ids.categories) store.categoryIds.state = file.ids.categories;
  if (file.ids.pets) store.petIds.state = file.ids.pets;
  if (file.ids.orders) store.orderIds.state = file.ids.orders;
  return store;
}

function fillInventory(store: Store, { inventory, pets }: StoreFile, refuse: Refuse): void {
  const items: NonNullable<StoreFile['inventory']> =
    inventory ?? pets.map(({ id }) => ({ petId: id, quantity: 0 }));
  items.forEach(({ petId, quantity, status }, at) => {
    const pet = store.pets.get(petId) ?? refuse(`/inventory/${at}/petId: is not a pet of the file`);
    if (store.inventory.has(petId)) refuse(`/inventory/${at}/petId: is there twice`);
    if (status !== undefined && status !== pet.status)
      refuse(`/inventory/${at}/status: must be that of pet ${petId}, which is ${pet.status}`);
    store.inventory.put(petId, { petId, quantity, status: pet.status });
  });
}

function printList(entries: Iterable<Entry<object>>): string {
  const lines = Array.from(entries, textOf);
  return lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n]`;
}

function printCounter({ state: { next, retired } }: IdCounter): string {
  return retired.length === 0 ? `{"next":${next}}` : `{"next":${next},"retired":[${retired.join(',')}]}`;
}
