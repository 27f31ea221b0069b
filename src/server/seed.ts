import type { NewOrder, PetStatus } from '../api/schemas.ts';
import { Store, type StoredPet } from './store.ts';

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
 * Creates a small store, with which the embedded store and `serve` begin. It is the same each time, except that its open
 * orders ship around now.
 */
export function seedStore(now = new Date()): Store {
  const store = new Store();
  addCategories(store);
  for (const [name, category, status, quantity] of pets) {
    const id = store.pets.takeId();
    store.pets.put(id, { id, name, categoryId: BigInt(category), status });
    store.inventory.put(id, { petId: id, quantity, status });
  }
  for (const [pet, quantity, shipDate] of completeOrders)
    addOrder(store, { petId: BigInt(pet), quantity, shipDate, complete: true });
  for (const [pet, quantity, days] of openOrders)
    addOrder(store, { petId: BigInt(pet), quantity, shipDate: shipDateOf(now, days), complete: false });
  return store;
}

/** Returns nine o'clock in UTC, some days after a day, as RFC 3339. */
function shipDateOf(day: Date, days: number): string {
  const date = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate() + days, 9));
  return date.toISOString().replace('.000', '');
}

function addOrder(store: Store, order: Omit<NewOrder, 'id'>): void {
  const id = store.orders.takeId();
  store.orders.put(id, { id, ...order });
}

/** Adds the categories, with ids from 1. */
function addCategories(store: Store): void {
  for (const [name, description] of categories) {
    const id = store.categories.takeId();
    store.categories.put(id, { id, name, description });
  }
}

/** The day on which the first complete order of a generated store shipped. */
const firstShipDay = new Date('2026-01-05');

/** Creates a store of `count` pets. It is the same each time, except that its open orders ship around now. */
export function generateStore(count: number, now = new Date()): Store {
  const store = new Store();
  const random = createRandom(1);
  addCategories(store);
  for (let index = 0; index < count; index += 1) addPet(store, random, now);
  return store;
}

function addPet(store: Store, random: Random, now: Date): void {
  const id = store.pets.takeId();
  const [name] = pick(random, pets);
  const categoryId = BigInt(1 + randomBelow(random, categories.length));
  const pet: StoredPet = { id, name, categoryId, status: pickStatus(random) };
  store.pets.put(id, pet);
  const quantity = pet.status === 'sold' ? 0 : 1 + randomBelow(random, 40);
  store.inventory.put(id, { petId: id, quantity, status: pet.status });
  if (pet.status !== 'available' && random() < 0.5) addOrder(store, createOrder(pet, random, now));
}

function pickStatus(random: Random): PetStatus {
  const share = random();
  if (share < 0.7) return 'available';
  return share < 0.8 ? 'pending' : 'sold';
}

/** Creates an order: complete for a sold pet; open for a pending pet, with a ship date within three weeks of now. */
function createOrder(pet: StoredPet, random: Random, now: Date): Omit<NewOrder, 'id'> {
  const complete = pet.status === 'sold';
  const shipDate = complete
    ? shipDateOf(firstShipDay, randomBelow(random, 200))
    : shipDateOf(now, randomBelow(random, 28) - 7);
  return { petId: pet.id, quantity: 1 + randomBelow(random, 5), shipDate, complete };
}

/** Returns a number from 0 to 1, exclusive. */
export type Random = () => number;

/** Creates Mulberry32: the same sequence for the same seed. It is good enough for demo data and faults, not for secrets. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a random integer from 0 to `count` - 1. */
export function randomBelow(random: Random, count: number): number {
  return Math.floor(random() * count);
}

/** Picks a random item of a list, which must not be empty. */
export function pick<Value>(random: Random, list: readonly Value[]): Value {
  return list[randomBelow(random, list.length)] as Value;
}
