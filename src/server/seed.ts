import type { PetStatus } from '../api/schemas.ts';
import { Store, type StoredPet } from './store.ts';

const categories = [
  ['Dogs', 'Puppies and grown dogs of every size'],
  ['Cats', 'Kittens and cats, long and short hair'],
  ['Birds', 'Parakeets, finches and parrots'],
  ['Fish', 'Freshwater fish for the home aquarium'],
  ['Small mammals', 'Rabbits, guinea pigs and hamsters'],
  // It has no pets, so it can be deleted.
  ['Reptiles', 'Geckos, turtles and tortoises'],
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

/** Pet, quantity, ship date, complete: the orders of sold pets are complete, those of pending pets are not. */
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

/** A small shop whose parts fit together, always the same: the first content of an offline store and of `serve`. */
export function seedStore(): Store {
  const store = new Store();
  addCategories(store);
  for (const [name, category, status, quantity] of pets) {
    const id = store.ids.pets.take();
    store.pets.put(id, { id, name, categoryId: BigInt(category), status });
    store.inventory.put(id, { petId: id, quantity, status });
  }
  for (const [pet, quantity, shipDate, complete] of orders) {
    const id = store.ids.orders.take();
    store.orders.put(id, { id, petId: BigInt(pet), quantity, shipDate, complete });
  }
  return store;
}

/** The categories that every shop of ours begins with, their ids from 1. */
function addCategories(store: Store): void {
  for (const [name, description] of categories) {
    const id = store.ids.categories.take();
    store.categories.put(id, { id, name, description });
  }
}

const names = (
  'Ace Apollo Archie Bailey Bear Bella Blue Bruno Buddy Casper Charlie Chester Cleo Cocoa Cooper Daisy ' +
  'Dexter Duke Ella Felix Finn Frankie George Ginger Gizmo Hazel Henry Honey Iris Ivy Jack Jasper ' +
  'Jasmine Kiki Leo Lily Lola Louie Lucky Lucy Luna Maggie Maple Marley Max Mia Milo Misty Molly Moose ' +
  'Nala Nemo Nova Olive Oliver Oreo Oscar Otis Patches Peanut Penny Pepper Pippin Poppy Remy Rocky ' +
  'Romeo Rosie Ruby Rusty Sadie Sasha Shadow Simba Smokey Sophie Stella Sunny Teddy Thor Tiger Toby ' +
  'Tucker Waffles Willow Ziggy'
).split(' ');

const firstShipDate = Date.UTC(2026, 0, 5, 8);
const quarterHourMs = 15 * 60 * 1000;

/** A shop of `count` pets whose parts fit together: the same one for the same seed. */
export function generateStore(count: number, seed: number): Store {
  const store = new Store();
  const random = createRandom(seed);
  addCategories(store);
  for (let made = 0; made < count; made += 1) addPet(store, random);
  return store;
}

function addPet(store: Store, random: Random): void {
  const id = store.ids.pets.take();
  const categoryId = BigInt(1 + below(random, store.categories.size));
  const pet: StoredPet = { id, name: oneOf(random, names), categoryId, status: anyStatus(random) };
  store.pets.put(id, pet);
  const quantity = pet.status === 'sold' ? 0 : 1 + below(random, 40);
  store.inventory.put(id, { petId: id, quantity, status: pet.status });
  if (pet.status !== 'available' && random() < 0.5) addOrder(store, pet, random);
}

function anyStatus(random: Random): PetStatus {
  const share = random();
  if (share < 0.7) return 'available';
  return share < 0.8 ? 'pending' : 'sold';
}

/** An order of a pet that is sold is complete, one of a pet that is pending is open. */
function addOrder(store: Store, pet: StoredPet, random: Random): void {
  const id = store.ids.orders.take();
  const shipDate = new Date(firstShipDate + below(random, 20_000) * quarterHourMs);
  store.orders.put(id, {
    id,
    petId: pet.id,
    quantity: 1 + below(random, 5),
    shipDate: shipDate.toISOString().replace('.000', ''),
    complete: pet.status === 'sold',
  });
}

/** Returns numbers from 0 up to 1, the same sequence for the same seed. */
export type Random = () => number;

/** Mulberry32: 32 bits of state, good enough for demo data and injected faults, not for secrets. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An integer from 0 up to `count`. */
export function below(random: Random, count: number): number {
  return Math.floor(random() * count);
}

/** One of a list, which must not be empty. */
export function oneOf<Value>(random: Random, list: readonly Value[]): Value {
  return list[below(random, list.length)] as Value;
}
