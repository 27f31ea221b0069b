import type { NewPet } from '../../api/schemas.ts';
import { Refusal } from '../refusal.ts';
import { type Store, type StoredPet, toPet } from '../store.ts';
import { done, found, type Handlers, paging, unknownReference } from './handler.ts';

export const petHandlers: Handlers<'listPets' | 'createPet' | 'getPet' | 'updatePet' | 'deletePet'> = {
  listPets: (store, { query = {} }) =>
    store.pets.page({
      filters: { status: query.status, categoryId: query.categoryId },
      ...paging(query),
    }),

  createPet(store, { body }) {
    refuseUnknownCategory(store, body);
    const pet = toPet(store.petIds.take(), body);
    store.pets.put(pet.id, pet);
    store.inventory.put(pet.id, { petId: pet.id, quantity: 0, status: pet.status });
    return { status: 201, value: pet, id: pet.id };
  },

  getPet: (store, { petId }) => ({ status: 200, entry: found(store.pets.entry(petId), 'pet', petId) }),

  updatePet(store, { petId, body }) {
    findPet(store, petId);
    refuseUnknownCategory(store, body);
    const pet = toPet(petId, body);
    store.pets.put(petId, pet);
    const item = store.inventory.get(petId);
    if (item && item.status !== pet.status) store.inventory.put(petId, { ...item, status: pet.status });
    return { status: 200, value: pet };
  },

  deletePet(store, { petId }) {
    findPet(store, petId);
    if (store.orders.some({ petId, complete: false }))
      throw new Refusal('in_use', `pet ${petId} has an order that is not complete`);
    store.pets.delete(petId);
    store.petIds.retire(petId);
    store.inventory.delete(petId);
    return done;
  },
};

function findPet(store: Store, id: bigint): StoredPet {
  return found(store.pets.get(id), 'pet', id);
}

function refuseUnknownCategory(store: Store, { categoryId }: NewPet): void {
  if (!store.categories.has(categoryId)) throw unknownReference('/categoryId', `category ${categoryId}`);
}
