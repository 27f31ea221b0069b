import type { Input, ListId, OperationId, Result } from '../api/operations.ts';
import { notAnId } from '../api/values.ts';
import { Refusal } from './refusal.ts';
import { type RecordPage, type Store, type StoredRecord, toPet } from './store.ts';

/** The reply of a handler that does not list: a record that exists, a new one, or nothing. */
export type HandlerReply<Value> =
  | { readonly status: 200 | 201; readonly stored: StoredRecord<Value & object> }
  | { readonly status: 204 };

/** Carries out one operation on the store, or throws a Refusal before it changes anything. */
type Handler<K extends OperationId> = (
  store: Store,
  input: Input<K>,
) => K extends ListId ? RecordPage<Result<K>> : HandlerReply<Result<K>>;

/** The handler of every operation of the table; a missing one is a compile error. */
export const handlers: { readonly [K in OperationId]: Handler<K> } = {
  listPets: (store, { query = {} }) => store.pets.page(query),

  createPet(store, { body }) {
    demandRecord(store.categories, body.categoryId, '/categoryId');
    const pet = toPet(store.ids.pets.take(), body);
    store.inventory.put(pet.id, { petId: pet.id, quantity: 0, status: pet.status });
    return created(store.pets.put(pet.id, pet));
  },

  getPet: (store, { id: petId }) => ok(demandRecord(store.pets, petId)),

  updatePet(store, { id: petId, body }) {
    demandRecord(store.pets, petId);
    demandRecord(store.categories, body.categoryId, '/categoryId');
    const pet = toPet(petId, body);
    const item = store.inventory.get(petId)?.record;
    if (item && item.status !== pet.status) store.inventory.put(petId, { ...item, status: pet.status });
    return ok(store.pets.put(petId, pet));
  },

  deletePet(store, { id: petId }) {
    demandRecord(store.pets, petId);
    if (store.orders.some({ petId, complete: false }))
      throw new Refusal('in_use', `pet ${petId} has an order that is not complete`);
    store.remove('pets', petId);
    store.inventory.delete(petId);
    return deleted;
  },

  listCategories: (store, { query = {} }) => store.categories.page(query),

  createCategory(store, { body }) {
    const id = store.ids.categories.take();
    return created(store.categories.put(id, { id, ...body }));
  },

  getCategory: (store, { id: categoryId }) => ok(demandRecord(store.categories, categoryId)),

  updateCategory(store, { id: categoryId, body }) {
    demandRecord(store.categories, categoryId);
    return ok(store.categories.put(categoryId, { id: categoryId, ...body }));
  },

  deleteCategory(store, { id: categoryId }) {
    demandRecord(store.categories, categoryId);
    if (store.pets.some({ categoryId })) throw new Refusal('in_use', `category ${categoryId} has pets`);
    store.remove('categories', categoryId);
    return deleted;
  },

  listOrders: (store, { query = {} }) => store.orders.page(query),

  createOrder(store, { body: { id: chosenId, complete = false, ...fields } }) {
    if (fields.petId !== undefined) demandRecord(store.pets, fields.petId, '/petId');
    if (chosenId !== undefined) checkUnused(store, chosenId);
    const id = chosenId ?? store.ids.orders.take();
    return created(store.orders.put(id, { id, ...fields, complete }));
  },

  getOrder: (store, { id: orderId }) => ok(demandRecord(store.orders, orderId)),

  updateOrder(store, { id: orderId, body: { id = orderId, ...fields } }) {
    demandRecord(store.orders, orderId);
    if (id !== orderId) throw new Refusal('validation_failed', `/id: must be ${orderId}, as in the path`);
    if (fields.petId !== undefined) demandRecord(store.pets, fields.petId, '/petId');
    return ok(store.orders.put(orderId, { id, ...fields }));
  },

  deleteOrder(store, { id: orderId }) {
    demandRecord(store.orders, orderId);
    store.remove('orders', orderId);
    return deleted;
  },

  listInventory: (store, { query = {} }) => store.inventory.page(query),

  createInventory(store, { body: { petId, quantity, status } }) {
    const pet = demandRecord(store.pets, petId, '/petId').record;
    if (store.inventory.has(petId))
      throw new Refusal('already_exists', `pet ${petId} has an inventory entry already`);
    if (pet.status !== status)
      throw new Refusal('validation_failed', `/status: must be that of pet ${petId}, which is ${pet.status}`);
    return created(store.inventory.put(petId, { petId, quantity, status }));
  },

  getInventory: (store, { id: petId }) => ok(demandRecord(store.inventory, petId)),

  updateInventory(store, { id: petId, body: { quantity } }) {
    const { status } = demandRecord(store.pets, petId).record;
    const isNew = !store.inventory.has(petId);
    const stored = store.inventory.put(petId, { petId, quantity, status });
    return isNew ? created(stored) : ok(stored);
  },

  deleteInventory(store, { id: petId }) {
    demandRecord(store.inventory, petId);
    store.inventory.delete(petId);
    return deleted;
  },
};

const deleted: { readonly status: 204 } = { status: 204 };

function ok<Value extends object>(stored: StoredRecord<Value>): HandlerReply<Value> {
  return { status: 200, stored };
}

function created<Value extends object>(stored: StoredRecord<Value>): HandlerReply<Value> {
  return { status: 201, stored };
}

/** A collection, as `demandRecord` needs it. */
interface RecordSource<Value> {
  readonly noun: string;
  get(id: bigint): StoredRecord<Value> | undefined;
}

/**
 * The record of an id.
 *
 * @param pointer the body's field that has the id; undefined if the path has it.
 * @throws Refusal `unknown_reference` or `not_found` if there is no such record.
 */
function demandRecord<Value>(
  records: RecordSource<Value>,
  id: bigint,
  pointer?: string,
): StoredRecord<Value> {
  const stored = records.get(id);
  if (stored) return stored;
  const why = `${records.noun} ${id} does not exist`;
  if (pointer === undefined) throw new Refusal('not_found', why);
  throw new Refusal('unknown_reference', `${pointer}: ${why}`);
}

function checkUnused(store: Store, id: bigint): void {
  if (id < 0n) throw new Refusal('validation_failed', `/id: ${notAnId}`);
  if (!store.ids.orders.isFree(id))
    throw new Refusal('already_exists', `order ${id} exists or existed before`);
}
