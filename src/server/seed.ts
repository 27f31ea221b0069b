import type { PetStatus } from '../api/schemas.ts';
import { Store } from './store.ts';

const categories = [
  ['Dogs', 'Puppies and grown dogs of every size'],
  ['Cats', 'Kittens and cats, long and short hair'],
  ['Birds', 'Parakeets, finches and parrots'],
  ['Fish', 'Freshwater fish for the home aquarium'],
  ['Small mammals', 'Rabbits, guinea pigs and hamsters'],
] as const;

/** Name, category, status, stock. */
const pets: readonly (readonly [string, number, PetStatus, number])[] = [
  ['Bella', 1, 'available', 1],
  ['Max', 1, 'available', 1],
  ['Luna', 2, 'available', 1],
  ['Charlie', 1, 'pending', 1],
  ['Milo', 2, 'sold', 0],
  ['Kiwi', 3, 'available', 4],
  ['Nemo', 4, 'available', 24],
  ['Coco', 3, 'pending', 2],
  ['Thumper', 5, 'available', 3],
  ['Daisy', 1, 'sold', 0],
  ['Simba', 2, 'available', 1],
  ['Bubbles', 4, 'available', 40],
  ['Rocky', 1, 'available', 1],
  ['Peanut', 5, 'available', 6],
  ['Cleo', 2, 'pending', 1],
  ['Sunny', 3, 'available', 5],
  ['Finn', 4, 'available', 12],
  ['Hazel', 5, 'sold', 0],
  ['Buddy', 1, 'sold', 0],
  ['Oreo', 5, 'available', 2],
  ['Nala', 2, 'available', 1],
  ['Pearl', 4, 'pending', 8],
  ['Mango', 3, 'available', 2],
  ['Biscuit', 5, 'available', 4],
  ['Shadow', 2, 'available', 1],
];

/** Pet, quantity, ship date, whether it is complete: the orders of pets that are sold are, those of pending pets are not. */
const orders: readonly (readonly [number, number, string, boolean])[] = [
  [5, 1, '2026-03-02T09:00:00Z', true],
  [10, 1, '2026-03-09T14:30:00Z', true],
  [7, 6, '2026-03-11T10:15:00Z', true],
  [18, 1, '2026-04-01T08:00:00Z', true],
  [12, 10, '2026-04-07T16:45:00Z', true],
  [19, 1, '2026-04-20T11:00:00Z', true],
  [4, 1, '2026-12-01T09:00:00Z', false],
  [8, 2, '2026-12-03T13:00:00Z', false],
  [15, 1, '2026-12-08T09:30:00Z', false],
  [22, 8, '2026-12-15T15:00:00Z', false],
];

/** A small shop whose parts fit together, always the same: what an offline store and `serve` begin with. */
export function seedStore(): Store {
  const store = new Store();
  addCategories(store);
  for (const [name, category, status, quantity] of pets) {
    const id = store.petIds.take();
    store.pets.put(id, { id, name, categoryId: BigInt(category), status });
    store.inventory.put(id, { petId: id, quantity, status });
  }
  for (const [pet, quantity, shipDate, complete] of orders) {
    const id = store.orderIds.take();
    store.orders.put(id, { id, petId: BigInt(pet), quantity, shipDate, complete });
  }
  return store;
}

/** The categories that every shop of ours begins with, their ids from 1. */
export function addCategories(store: Store): void {
  for (const [name, description] of categories) {
    const id = store.categoryIds.take();
    store.categories.put(id, { id, name, description });
  }
}
