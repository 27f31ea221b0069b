import type { Noun, OperationId } from '../../api/operations.ts';
import type { JsonObject } from '../../json.ts';

/** The ids of records that others refer to. */
export interface Fixtures {
  readonly categoryId: () => Promise<bigint>;
  readonly petId: () => Promise<bigint>;
}

/** How one kind of record is made, changed and removed. */
export interface Kind {
  /** The name of its check. */
  readonly name: 'category' | 'pet' | 'inventory' | 'order';
  readonly noun: Noun;
  readonly list: OperationId;
  readonly create: OperationId;
  readonly get: OperationId;
  readonly update: OperationId;
  readonly remove: OperationId;
  /** The name of its id in a path. */
  readonly idName: string;
  /** The field of a record that holds it. */
  readonly idField: string;
  /** What to create, and what of it to change then. */
  draft(
    name: string,
    fixtures: Fixtures,
  ): Promise<{ readonly body: JsonObject; readonly change: JsonObject }>;
  /** The body of an update that replaces. */
  replacement(body: JsonObject): JsonObject;
}

const category: Kind = {
  name: 'category',
  noun: 'categories',
  list: 'listCategories',
  create: 'createCategory',
  get: 'getCategory',
  update: 'updateCategory',
  remove: 'deleteCategory',
  idName: 'categoryId',
  idField: 'id',
  draft: async (name) => ({
    body: { name, description: 'made by petstore smoke, removed at its end' },
    change: { description: 'changed by petstore smoke' },
  }),
  replacement: (body) => body,
};

const pet: Kind = {
  name: 'pet',
  noun: 'pets',
  list: 'listPets',
  create: 'createPet',
  get: 'getPet',
  update: 'updatePet',
  remove: 'deletePet',
  idName: 'petId',
  idField: 'id',
  draft: async (name, { categoryId }) => ({
    body: { name, categoryId: await categoryId(), status: 'available' },
    change: { status: 'pending' },
  }),
  replacement: (body) => body,
};

const inventory: Kind = {
  name: 'inventory',
  noun: 'inventory',
  list: 'listInventory',
  create: 'createInventory',
  get: 'getInventory',
  update: 'updateInventory',
  remove: 'deleteInventory',
  idName: 'petId',
  idField: 'petId',
  draft: async (_, { petId }) => ({
    body: { petId: await petId(), quantity: 3, status: 'available' },
    change: { quantity: 7 },
  }),
  replacement: ({ quantity = 0 }) => ({ quantity }),
};

const order: Kind = {
  name: 'order',
  noun: 'orders',
  list: 'listOrders',
  create: 'createOrder',
  get: 'getOrder',
  update: 'updateOrder',
  remove: 'deleteOrder',
  idName: 'orderId',
  idField: 'id',
  draft: async (_, { petId }) => ({
    body: { petId: await petId(), quantity: 1, shipDate: '2030-01-01T00:00:00Z', complete: false },
    change: { quantity: 2, complete: true },
  }),
  replacement: (body) => body,
};

/** In the order in which they need each other. */
export const kinds = { category, pet, inventory, order } as const;
