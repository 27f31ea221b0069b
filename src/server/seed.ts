import type { PetStatus } from '../api/schemas.ts';
import { Store } from './store.ts';

const categories = [
  ['Dogs', 'Puppies and grown dogs of every size'],
  ['Cats', 'Kittens and cats, long and short hair'],
  ['Birds', 'Parakeets, finches and parrots'],
  ['Fish', 'Freshwater fish for the home aquarium'],
  ['Small mammals', 'Rabbits, guinea pigs and hamsters'],
  // This category has no pets, so it can be deleted.
  ['Reptiles', 'Geckos, turtles and tortoises'],
] as const;

/** The pets: name, category, status, quantity in stock. */
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

/** The complete orders: pet, quantity, ship date. */
const completeOrders: readonly (readonly [number, number, string])[] = [
  [5, 1, '2026-03-02T09:00:00Z'],
  [10, 1, '2026-03-09T14:30:00Z'],
  [7, 6, '2026-03-11T10:15:00Z'],
  [18, 1, '2026-04-01T08:00:00Z'],
  [12, 10, '2026-04-07T16:45:00Z'],
  [19, 1, '2026-04-20T11:00:00Z'],
];

/** The open orders, one for each pending pet: pet, quantity, days from today to the ship date. */
const openOrders: readonly (readonly [number, number, number])[] = [
  [4, 1, -1],
  [8, 2, 1],
  [15, 1, 6],
  [22, 8, 13],
];

/**
 * Creates the store with which the embedded store and `serve` begin. It is the same each time, except that its open orders
 * ship around now.
 *
 * @param count how many pets it has. After the last name, the names begin again.
 */
export function seedStore(count = pets.length): Store {
  const store = new Store();
  for (const [name, description] of categories) {
    const id = store.categories.takeId();
    store.categories.put(id, { id, name, description });
  }
  for (let index = 0; index < count; index += 1) {
    const [name, category, status, quantity] = pets[index % pets.length] as (typeof pets)[number];
    const id = store.pets.takeId();
    store.pets.put(id, { id, name, categoryId: BigInt(category), status });
    store.inventory.put(id, { petId: id, quantity, status });
  }
  const orders = [
    ...completeOrders.map((order) => [...order, true] as const),
    ...openOrders.map(([pet, quantity, days]) => [pet, quantity, shipDateIn(days), false] as const),
  ];
  for (const [pet, quantity, shipDate, complete] of orders)
    if (pet <= count) {
      const id = store.orders.takeId();
      store.orders.put(id, { id, petId: BigInt(pet), quantity, shipDate, complete });
    }
  return store;
}

/** Returns nine o'clock in UTC, some days after today, as RFC 3339. */
function shipDateIn(days: number): string {
  const now = new Date();
  const date = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + days, 9));
  return date.toISOString().replace('.000', '');
}
