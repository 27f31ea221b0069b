import { Refusal } from '../refusal.ts';
import { done, found, type Handlers, paging, unknownReference } from './handler.ts';

export const inventoryHandlers: Handlers<
  'listInventory' | 'createInventory' | 'getInventory' | 'updateInventory' | 'deleteInventory'
> = {
  listInventory: (store, { query = {} }) =>
    store.inventory.page({ filters: { status: query.status }, ...paging(query) }),

  createInventory(store, { body: { petId, quantity, status } }) {
    const pet = store.pets.get(petId);
    if (!pet) throw unknownReference('/petId', `pet ${petId}`);
    if (store.inventory.has(petId))
      throw new Refusal('already_exists', `pet ${petId} has an inventory entry already`);
    if (pet.status !== status)
      throw new Refusal('validation_failed', `/status: must be that of pet ${petId}, which is ${pet.status}`);
    const item = { petId, quantity, status };
    store.inventory.put(petId, item);
    return { status: 201, value: item, id: petId };
  },

  getInventory: (store, { petId }) => ({
    status: 200,
    entry: found(store.inventory.entry(petId), 'the inventory entry of pet', petId),
  }),

  updateInventory(store, { petId, body: { quantity } }) {
    const { status } = found(store.pets.get(petId), 'pet', petId);
    const item = { petId, quantity, status };
    const isNew = !store.inventory.has(petId);
    store.inventory.put(petId, item);
    return isNew ? { status: 201, value: item, id: petId } : { status: 200, value: item };
  },

  deleteInventory(store, { petId }) {
    found(store.inventory.get(petId), 'the inventory entry of pet', petId);
    store.inventory.delete(petId);
    return done;
  },
};
