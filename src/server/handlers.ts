import { type NounName, nouns, type OperationId } from '../api/nouns.ts';
import type { NewRecord } from '../api/schemas.ts';
import { Refusal } from './refusal.ts';
import { type PageQuery, type RecordPage, type Store, type StoredRecord, toOrder, toPet } from './store.ts';

/** The result of a handler: a page of records, a record that exists (200) or is new (201), or a deletion (204). */
export type HandlerResult =
  | RecordPage
  | { readonly status: 200 | 201; readonly stored: StoredRecord }
  | { readonly status: 204 };

interface AtRecord {
  readonly id: bigint;
}

/** The body of a record. The body of an order may have its id. */
interface WithBody<N extends NounName, Id = unknown> {
  readonly body: NewRecord<N> & Id;
}
type OrderId = { readonly id?: bigint | undefined };

/** Carries out one operation on the store, or throws a Refusal before it changes anything. Its input has been read for this operation. */
type OperationHandler = (store: Store, input: never) => HandlerResult;

/** The handler of every operation of the table. The compiler refuses a table with an operation that has none. */
export const handlers = {
  listPets: list('pets'),
  getPet: get('pets'),
  createPet(store, { body }: WithBody<'pets'>) {
    requireRecord(store, 'categories', body.categoryId, '/categoryId');
    const pet = toPet(store.pets.takeId(), body);
    store.inventory.put(pet.id, { petId: pet.id, quantity: 0, status: pet.status });
    return created(store.pets.put(pet.id, pet));
  },
  updatePet(store, { id, body }: AtRecord & WithBody<'pets'>) {
    requireRecord(store, 'pets', id);
    requireRecord(store, 'categories', body.categoryId, '/categoryId');
    const pet = toPet(id, body);
    const item = store.inventory.get(id)?.record;
    if (item && item.status !== pet.status) store.inventory.put(id, { ...item, status: pet.status });
    return ok(store.pets.put(id, pet));
  },
  deletePet(store, { id }: AtRecord) {
    if (store.orders.some({ petId: id, complete: false }))
      throw new Refusal('in_use', `pet ${id} has an order that is not complete`);
    const result = deleteRecord(store, 'pets', id);
    store.inventory.delete(id);
    return result;
  },

  listCategories: list('categories'),
  getCategory: get('categories'),
  createCategory(store, { body }: WithBody<'categories'>) {
    const id = store.categories.takeId();
    return created(store.categories.put(id, { id, ...body }));
  },
  updateCategory(store, { id, body }: AtRecord & WithBody<'categories'>) {
    requireRecord(store, 'categories', id);
    return ok(store.categories.put(id, { id, ...body }));
  },
  deleteCategory(store, { id }: AtRecord) {
    if (store.pets.some({ categoryId: id })) throw new Refusal('in_use', `category ${id} has pets`);
    return deleteRecord(store, 'categories', id);
  },

  listOrders: list('orders'),
  getOrder: get('orders'),
  createOrder(store, { body }: WithBody<'orders', OrderId>) {
    if (body.petId !== undefined) requireRecord(store, 'pets', body.petId, '/petId');
    const id = store.orders.takeId();
    return created(store.orders.put(id, toOrder(id, body)));
  },
  updateOrder(store, { id, body }: AtRecord & WithBody<'orders', OrderId>) {
    requireRecord(store, 'orders', id);
    if ((body.id ?? id) !== id) throw new Refusal('validation_failed', `/id: must be ${id}, as in the path`);
    if (body.petId !== undefined) requireRecord(store, 'pets', body.petId, '/petId');
    return ok(store.orders.put(id, toOrder(id, body)));
  },
  deleteOrder: (store, { id }: AtRecord) => deleteRecord(store, 'orders', id),

  listInventory: list('inventory'),
  getInventory: get('inventory'),
  createInventory(
    store,
    { body: { petId, quantity, status } }: WithBody<'inventory', { readonly petId: bigint }>,
  ) {
    const pet = requireRecord(store, 'pets', petId, '/petId').record;
    if (store.inventory.get(petId))
      throw new Refusal('already_exists', `pet ${petId} has an inventory entry already`);
    if (pet.status !== status)
      throw new Refusal('validation_failed', `/status: must be that of pet ${petId}, which is ${pet.status}`);
    return created(store.inventory.put(petId, { petId, quantity, status }));
  },
  updateInventory(
    store,
    { id, body: { quantity } }: AtRecord & { readonly body: { readonly quantity: number } },
  ) {
    const { status } = requireRecord(store, 'pets', id).record;
    const isNew = !store.inventory.get(id);
    const stored = store.inventory.put(id, { petId: id, quantity, status });
    return isNew ? created(stored) : ok(stored);
  },
  deleteInventory: (store, { id }: AtRecord) => deleteRecord(store, 'inventory', id),
} satisfies Readonly<Record<OperationId, OperationHandler>>;

function list(noun: NounName) {
  return (store: Store, { query = {} }: { readonly query?: PageQuery }): HandlerResult =>
    store[noun].page(query);
}

function get(noun: NounName) {
  return (store: Store, { id }: AtRecord): HandlerResult => ok(requireRecord(store, noun, id));
}

function ok(stored: StoredRecord): HandlerResult {
  return { status: 200, stored };
}

function created(stored: StoredRecord): HandlerResult {
  return { status: 201, stored };
}

function deleteRecord(store: Store, noun: NounName, id: bigint): HandlerResult {
  requireRecord(store, noun, id);
  store[noun].delete(id);
  return { status: 204 };
}

/**
 * Returns the record with an id.
 *
 * @param pointer the JSON pointer of the field that has the id; by default the path has it.
 * @throws Refusal if the record does not exist: `unknown_reference` for a field, `not_found` for the path.
 */
function requireRecord<Name extends NounName>(
  store: Store,
  noun: Name,
  id: bigint,
  pointer?: string,
): NonNullable<ReturnType<Store[Name]['get']>> {
  const stored = store[noun].get(id);
  if (stored) return stored as NonNullable<ReturnType<Store[Name]['get']>>;
  const problem = `${nouns[noun].singular} ${id} does not exist`;
  if (pointer === undefined) throw new Refusal('not_found', problem);
  throw new Refusal('unknown_reference', `${pointer}: ${problem}`);
}
