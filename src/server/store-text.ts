import * as v from 'valibot';
import { Id, NewCategory, NewOrder, NewPet, PetStatus, Quantity } from '../api/schemas.ts';
import { messageOf, UsageError } from '../errors.ts';
import { isJsonObject, type JsonValue, parseJson } from '../json.ts';
import type { IdCounter } from './id-counter.ts';
import { describeIssues } from './issues.ts';
import { printers } from './record-text.ts';
import { isComplete, Store, toCategory, toOrder, toPet } from './store.ts';

const StoredId = v.pipe(Id, v.minValue(0n, 'must be an integer from 0 to 9223372036854775807'));
const Counter = v.optional(
  v.object({ next: v.pipe(StoredId, v.minValue(1n)), retired: v.optional(v.array(StoredId), []) }),
);

/**
 * A shop as a file has it: the service's own records in lists, each of which may be left out. Without `inventory` every
 * pet has an entry of quantity 0; `ids` says where counting goes on, else at the lowest id that is free.
 */
const StoreFile = v.strictObject({
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
 * The shop that a file holds.
 *
 * @param file its name, for messages.
 * @throws UsageError where the text is no shop, or its records do not fit together.
 */
export function parseStore(text: string, file: string): Store {
  const refuse = (why: string): never => {
    throw new UsageError(
      `${file}: ${why}`,
      'the file was left as it is; repair it, or delete it to start again',
    );
  };
  const value = parse(text, refuse);
  const result = v.safeParse(StoreFile, isJsonObject(value) ? value : refuse('must be an object'));
  return result.success ? toStore(result.output, refuse) : refuse(describeIssues(result.issues));
}

/** The text that `parseStore` reads: one record a line, in the order of the ids. */
export function printStore(store: Store): string {
  const lists = [
    `"categories":${printList(store.categories.all(), printers.Category)}`,
    `"pets":${printList(store.pets.all(), printers.Pet)}`,
    `"orders":${printList(store.orders.all(), printers.Order)}`,
    `"inventory":${printList(store.inventory.all(), printers.InventoryItem)}`,
  ];
  const counters = { categories: store.categoryIds, pets: store.petIds, orders: store.orderIds };
  const ids = Object.entries(counters).map(([name, counter]) => `"${name}":${printCounter(counter)}`);
  return `{${lists.join(',\n')},\n"ids":{${ids.join(',')}}}\n`;
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
  file.categories.forEach((category, at) => {
    if (store.categories.has(category.id)) refuse(`/categories/${at}/id: is there twice`);
    store.categories.put(category.id, toCategory(category.id, category));
  });
  file.pets.forEach((pet, at) => {
    if (store.pets.has(pet.id)) refuse(`/pets/${at}/id: is there twice`);
    if (!store.categories.has(pet.categoryId)) refuse(`/pets/${at}/categoryId: is no category of the file`);
    store.pets.put(pet.id, toPet(pet.id, pet));
  });
  file.orders.forEach((order, at) => {
    if (store.orders.has(order.id)) refuse(`/orders/${at}/id: is there twice`);
    // The pet of a complete order may have been deleted.
    if (order.petId !== undefined && !isComplete(toOrder(order.id, order)) && !store.pets.has(order.petId))
      refuse(`/orders/${at}/petId: is no pet of the file`);
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
    const pet = store.pets.get(petId) ?? refuse(`/inventory/${at}/petId: is no pet of the file`);
    if (store.inventory.has(petId)) refuse(`/inventory/${at}/petId: is there twice`);
    if (status !== undefined && status !== pet.status)
      refuse(`/inventory/${at}/status: must be that of pet ${petId}, which is ${pet.status}`);
    store.inventory.put(petId, { petId, quantity, status: pet.status });
  });
}

function printList<Record>(records: Iterable<Record>, print: (record: Record) => string): string {
  const lines = Array.from(records, print);
  return lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n]`;
}

function printCounter({ state: { next, retired } }: IdCounter): string {
  return retired.length === 0 ? `{"next":${next}}` : `{"next":${next},"retired":[${retired.join(',')}]}`;
}
