import type { NewOrder } from '../../api/schemas.ts';
import { Refusal } from '../refusal.ts';
import { type Store, type StoredOrder, toOrder } from '../store.ts';
import { done, found, type Handlers, paging, unknownReference } from './handler.ts';

export const orderHandlers: Handlers<
  'listOrders' | 'createOrder' | 'getOrder' | 'updateOrder' | 'deleteOrder'
> = {
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
    findOrder(store, orderId);
    if (body.id !== undefined && body.id !== orderId)
      throw new Refusal('validation_failed', `/id: must be ${orderId}, as in the path`);
    refuseUnknownPet(store, body);
    const order = toOrder(orderId, body);
    store.orders.put(orderId, order);
    return { status: 200, value: order };
  },

  deleteOrder(store, { orderId }) {
    findOrder(store, orderId);
    store.orders.delete(orderId);
    store.orderIds.retire(orderId);
    return done;
  },
};

function findOrder(store: Store, id: bigint): StoredOrder {
  return found(store.orders.get(id), 'order', id);
}

function refuseGivenId(store: Store, id: bigint): void {
  if (id < 0n)
    throw new Refusal('validation_failed', '/id: must be an integer from 0 to 9223372036854775807');
  if (!store.orderIds.isFree(id)) throw new Refusal('already_exists', `order ${id} exists, or did once`);
}

function refuseUnknownPet(store: Store, { petId }: NewOrder): void {
  if (petId !== undefined && !store.pets.has(petId)) throw unknownReference('/petId', `pet ${petId}`);
}
