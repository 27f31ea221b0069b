import type { PetStatus } from '../api/schemas.ts';
import { below, createRandom, oneOf, type Random } from './random.ts';
import { addCategories } from './seed.ts';
import { Store, type StoredPet } from './store.ts';

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
  const id = store.petIds.take();
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
  const id = store.orderIds.take();
  const shipDate = new Date(firstShipDate + below(random, 20_000) * quarterHourMs);
  store.orders.put(id, {
    id,
    petId: pet.id,
    quantity: 1 + below(random, 5),
    shipDate: shipDate.toISOString().replace('.000', ''),
    complete: pet.status === 'sold',
  });
}
