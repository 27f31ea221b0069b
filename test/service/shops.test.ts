import { expect, test } from 'vitest';
import { generateStore, seedStore } from '../../src/server/seed.ts';
import type { Store } from '../../src/server/store.ts';
import { parseStore, printStore } from '../../src/server/store-file.ts';

/** The records of a shop that do not fit together. */
function faultsOf(store: Store): string[] {
  const faults: string[] = [];
  for (const { record: pet } of store.pets.all()) {
    if (!store.categories.has(pet.categoryId)) faults.push(`pet ${pet.id} has no category`);
    if (!store.inventory.has(pet.id)) faults.push(`pet ${pet.id} has no inventory entry`);
  }
  for (const { record } of store.inventory.all()) {
    const { petId, status, quantity } = record;
    if (store.pets.get(petId)?.record.status !== status)
      faults.push(`entry ${petId} has another status than its pet`);
    if ((status === 'sold') !== (quantity === 0)) faults.push(`entry ${petId} is ${status} with ${quantity}`);
  }
  for (const { record: order } of store.orders.all()) {
    const pet = order.petId === undefined ? undefined : store.pets.get(order.petId)?.record;
    if (!pet) faults.push(`order ${order.id} has no pet`);
    if (pet?.status === 'sold' && !order.complete) faults.push(`order ${order.id} of a sold pet is open`);
  }
  return faults;
}

test('the seeded shop has 6 categories and 25 pets, and its parts fit together', () => {
  const store = seedStore();
  expect([store.categories.size, store.pets.size, store.orders.size, store.inventory.size]).toEqual([
    6, 25, 10, 25,
  ]);
  expect(faultsOf(store)).toEqual([]);
});

test('a generated shop has the given number of pets, its parts fit together, and the same seed gives the same shop', () => {
  const store = generateStore(500, 3);
  expect(store.pets.size).toBe(500);
  expect(faultsOf(store)).toEqual([]);
  expect(printStore(generateStore(500, 3))).toBe(printStore(store));
  expect(printStore(generateStore(500, 4))).not.toBe(printStore(store));
});

test('a shop that is printed and read again prints the same text', () => {
  for (const store of [seedStore(), generateStore(50, 1)]) {
    const text = printStore(store);
    expect(printStore(parseStore(text, 'shop.json'))).toBe(text);
  }
});

test('a file may leave out statuses, inventory entries and id counters', () => {
  const store = parseStore(
    '{"categories":[{"id":7,"name":"Dogs"}],"pets":[{"id":9007199254740993,"name":"Rex","categoryId":7}]}',
    'shop.json',
  );
  expect(store.pets.get(9007199254740993n)?.record).toMatchObject({ status: 'available' });
  expect(store.inventory.get(9007199254740993n)?.record).toEqual({
    petId: 9007199254740993n,
    quantity: 0,
    status: 'available',
  });
  expect(store.ids.pets.take()).toBe(1n);
});

test('a complete order may refer to a pet that was deleted', () => {
  const store = parseStore('{"orders":[{"id":1,"petId":9,"complete":true}]}', 'shop.json');
  expect(store.orders.get(1n)?.record).toEqual({ id: 1n, petId: 9n, complete: true });
});
