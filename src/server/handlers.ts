import type { Input, ListId, OperationId, Query, Result } from '../api/operations.ts';
import type { NewOrder, NewPet } from '../api/schemas.ts';
import type { Entry, Page } from './collection.ts';
import { Refusal } from './refusal.ts';
import { type Store, toCategory, toOrder, toPet } from './store.ts';

/** The reply of a handler: a stored record, a changed one, a new one with its id, or nothing. */
export type Reply<Value> =
  | { readonly status: 200; readonly entry: Entry<Value> }
  | { readonly status: 200; readonly value: Value }
  | { readonly status: 201; readonly value: Value; readonly id: bigint }
  | { readonly status: 204 };

/** Carries out one operation on the store, or throws a Refusal before it changes anything. */
type Handler<K extends OperationId> = (
  store: Store,
  input: Input<K>,
) => K extends ListId ? Page<Result<K>> : Reply<Result<K>>;

/** The handler of every operation of the table; a missing one is a compile error. */
export const handlers: { readonly [K in OperationId]: Handler<K> } = {
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
    found(store.pets.get(petId), 'pet', petId);
    refuseUnknownCategory(store, body);
    const pet = toPet(petId, body);
    store.pets.put(petId, pet);
    const item = store.inventory.get(petId);
    if (item && item.status !== pet.status) store.inventory.put(petId, { ...item, status: pet.status });
    return { status: 200, value: pet };
  },

  deletePet(store, { petId }) {
    found(store.pets.get(petId), 'pet', petId);
    if (store.orders.some({ petId, complete: false }))
      throw new Refusal('in_use', `pet ${petId} has an order that is not complete`);
    store.pets.delete(petId);
    store.petIds.retire(petId);
    store.inventory.delete(petId);
    return done;
  },

  listCategories: (store, { query }) => store.categories.page({ filters: {}, ...paging(query) }),

  createCategory(store, { body }) {
    const category = toCategory(store.categoryIds.take(), body);
    store.categories.put(category.id, category);
    return { status: 201, value: category, id: category.id };
  },

  getCategory: (store, { categoryId }) => ({
    status: 200,
    entry: found(store.categories.entry(categoryId), 'category', categoryId),
  }),

  updateCategory(store, { categoryId, body }) {
    found(store.categories.get(categoryId), 'category', categoryId);
    const category = toCategory(categoryId, body);
    store.categories.put(categoryId, category);
    return { status: 200, value: category };
  },

  deleteCategory(store, { categoryId }) {
    found(store.categories.get(categoryId), 'category', categoryId);
    if (store.pets.some({ categoryId })) throw new Refusal('in_use', `category ${categoryId} has pets`);
    store.categories.delete(categoryId);
    store.categoryIds.retire(categoryId);
    return done;
  },

  listOrders: (store, { query = {} }) =>
    store.orders.page({
      filters: { petId: query.petId, complete: query.complete },
      ...paging(query),
    }),

  createOrder(store, { body }) {
    refuseUnknownPet(store, body);
    if (body.id !== undefined) refuseGivenId(store, body.id);
    const order = toOrder(body.id ?? store.orderIds.take(), body);
    store.orders.put(order.id, order);
    return { status: 201, value: order, id: order.id };
  },

  getOrder: (store, { orderId }) => ({
    status: 200,
    entry: found(store.orders.entry(orderId), 'order', orderId),
  }),

  updateOrder(store, { orderId, body }) {
    found(store.orders.get(orderId), 'order', orderId);
    if (body.id !== undefined && body.id !== orderId)
      throw new Refusal('validation_failed', `/id: must be ${orderId}, as in the path`);
    refuseUnknownPet(store, body);
    const order = toOrder(orderId, body);
    store.orders.put(orderId, order);
    return { status: 200, value: order };
  },

  deleteOrder(store, { orderId }) {
    found(store.orders.get(orderId), 'order', orderId);
    store.orders.delete(orderId);
    store.orderIds.retire(orderId);
    return done;
  },

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

const defaultLimit = 100;

const done: { readonly status: 204 } = { status: 204 };

/** The page that a list's query asks for. */
function paging(query: Query<ListId> = {}): {
  readonly limit: number;
  readonly after: bigint | undefined;
} {
  return { limit: query.limit ?? defaultLimit, after: query.after };
}

/** @throws Refusal `not_found` if there is no record. */
function found<Record>(record: Record | undefined, what: string, id: bigint): Record {
  if (record === undefined) throw new Refusal('not_found', `${what} ${id} does not exist`);
  return record;
}

/** The record that a field of the body refers to is missing. */
function unknownReference(pointer: string, what: string): Refusal {
  return new Refusal('unknown_reference', `${pointer}: ${what} does not exist`);
}

function refuseUnknownCategory(store: Store, { categoryId }: NewPet): void {
  if (!store.categories.has(categoryId)) throw unknownReference('/categoryId', `category ${categoryId}`);
}

function refuseGivenId(store: Store, id: bigint): void {
  if (id < 0n)
    throw new Refusal('validation_failed', '/id: must be an integer from 0 to 9223372036854775807');
  if (!store.orderIds.isFree(id)) throw new Refusal('already_exists', `order ${id} exists or existed before`);
}

function refuseUnknownPet(store: Store, { petId }: NewOrder): void {
  if (petId !== undefined && !store.pets.has(petId)) throw unknownReference('/petId', `pet ${petId}`);
}
