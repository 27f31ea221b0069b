import type * as v from 'valibot';
import type { BodyName, bodySchemas, QueryName, querySchemas, Records, ResultName } from './schemas.ts';

/** The stability of an operation, from the extension `x-stability`; `stable` if it is missing. */
export type Stability = 'stable' | 'beta' | 'experimental';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Noun = 'pets' | 'categories' | 'orders' | 'inventory';

/** A row of the table: one operation of the service, without the defaults. */
export interface Row {
  readonly method: Method;
  /** Template below the base URL, as `/pets/{petId}`. */
  readonly path: string;
  readonly tag: string;
  readonly noun: Noun;
  readonly summary: string;
  /** Additional information for documents and help. */
  readonly description?: string;
  readonly query?: readonly QueryName[];
  readonly body?: BodyName;
  readonly result?: ResultName | undefined;
  /** The result is an array of `result`, read page by page. */
  readonly many?: boolean;
  /** Documented statuses of success, the usual one first. */
  readonly success: readonly number[];
  /** Documented error statuses, each with an Error body. */
  readonly errors: readonly number[];
  readonly stability?: Stability;
  readonly deprecated?: boolean;
  /** The day after which a deprecated operation may be gone, YYYY-MM-DD. */
  readonly sunset?: string | undefined;
  /** The service asks tools not to offer this operation interactively (`x-hideTryItPanel`). */
  readonly hideTryIt?: boolean;
  /** `stated` in the service document, or `chosen` by this project. */
  readonly source: 'stated' | 'chosen';
  readonly example: Example;
}

/** A valid call on a seeded store, for documents and the contract test; ids are text, so that none is rounded. */
export interface Example {
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const paging = ['limit', 'after'] as const;

/**
 * The operations table: client, server, OpenAPI document, help, notices, smoke checks and contract test derive from it.
 */
export const operations = {
  listPets: {
    method: 'GET',
    path: '/pets',
    tag: 'Pets',
    noun: 'pets',
    summary: 'List pets',
    query: ['status', 'categoryId', ...paging],
    result: 'Pet',
    many: true,
    success: [200],
    errors: [400],
    source: 'chosen',
    example: {},
  },
  createPet: {
    method: 'POST',
    path: '/pets',
    tag: 'Pets',
    noun: 'pets',
    summary: 'Create a pet',
    body: 'NewPet',
    result: 'Pet',
    success: [201],
    errors: [400, 413, 415, 422],
    source: 'chosen',
    example: { body: { name: 'Rex', categoryId: 1, status: 'available' } },
  },
  getPet: {
    method: 'GET',
    path: '/pets/{petId}',
    tag: 'Pets',
    noun: 'pets',
    summary: 'Get a pet',
    result: 'Pet',
    success: [200],
    errors: [400, 404],
    deprecated: true,
    sunset: '2027-12-31',
    source: 'stated',
    example: { path: { petId: '1' } },
  },
  updatePet: {
    method: 'PUT',
    path: '/pets/{petId}',
    tag: 'Pets',
    noun: 'pets',
    summary: 'Replace a pet',
    body: 'NewPet',
    result: 'Pet',
    success: [200],
    errors: [400, 404, 413, 415, 422],
    source: 'chosen',
    example: {
      path: { petId: '1' },
      body: { name: 'Rex', categoryId: 1, status: 'pending' },
    },
  },
  deletePet: {
    method: 'DELETE',
    path: '/pets/{petId}',
    tag: 'Pets',
    noun: 'pets',
    summary: 'Delete a pet',
    success: [204],
    errors: [400, 404, 409],
    source: 'chosen',
    example: { path: { petId: '25' } },
  },
  listCategories: {
    method: 'GET',
    path: '/categories',
    tag: 'Pets',
    noun: 'categories',
    summary: 'List categories',
    query: paging,
    result: 'Category',
    many: true,
    success: [200],
    errors: [400],
    source: 'chosen',
    example: {},
  },
  createCategory: {
    method: 'POST',
    path: '/categories',
    tag: 'Pets',
    noun: 'categories',
    summary: 'Create a category',
    body: 'NewCategory',
    result: 'Category',
    success: [201],
    errors: [400, 413, 415, 422],
    source: 'chosen',
    example: {
      body: { name: 'Amphibians', description: 'Frogs, toads and newts' },
    },
  },
  getCategory: {
    method: 'GET',
    path: '/categories/{categoryId}',
    tag: 'Pets',
    noun: 'categories',
    summary: 'Get a category',
    result: 'Category',
    success: [200],
    errors: [400, 404],
    source: 'chosen',
    example: { path: { categoryId: '1' } },
  },
  updateCategory: {
    method: 'PUT',
    path: '/categories/{categoryId}',
    tag: 'Pets',
    noun: 'categories',
    summary: 'Replace a category',
    body: 'NewCategory',
    result: 'Category',
    success: [200],
    errors: [400, 404, 413, 415, 422],
    source: 'chosen',
    example: {
      path: { categoryId: '1' },
      body: { name: 'Dogs', description: 'Large and small' },
    },
  },
  deleteCategory: {
    method: 'DELETE',
    path: '/categories/{categoryId}',
    tag: 'Pets',
    noun: 'categories',
    summary: 'Delete a category',
    success: [204],
    errors: [400, 404, 409],
    source: 'chosen',
    example: { path: { categoryId: '6' } },
  },
  listOrders: {
    method: 'GET',
    path: '/store/orders',
    tag: 'Store',
    noun: 'orders',
    summary: 'List orders',
    query: ['petId', 'complete', ...paging],
    result: 'Order',
    many: true,
    success: [200],
    errors: [400],
    hideTryIt: true,
    source: 'stated',
    example: {},
  },
  createOrder: {
    method: 'POST',
    path: '/store/orders',
    tag: 'Store',
    noun: 'orders',
    summary: 'Create an order',
    body: 'Order',
    result: 'Order',
    success: [201],
    errors: [400, 409, 413, 415, 422],
    source: 'chosen',
    example: {
      body: {
        petId: 1,
        quantity: 2,
        shipDate: '2027-01-15T09:00:00Z',
        complete: false,
      },
    },
  },
  getOrder: {
    method: 'GET',
    path: '/store/orders/{orderId}',
    tag: 'Store',
    noun: 'orders',
    summary: 'Get an order',
    result: 'Order',
    success: [200],
    errors: [400, 404],
    source: 'chosen',
    example: { path: { orderId: '1' } },
  },
  updateOrder: {
    method: 'PUT',
    path: '/store/orders/{orderId}',
    tag: 'Store',
    noun: 'orders',
    summary: 'Replace an order',
    body: 'Order',
    result: 'Order',
    success: [200],
    errors: [400, 404, 413, 415, 422],
    stability: 'beta',
    source: 'chosen',
    example: {
      path: { orderId: '1' },
      body: { id: 1, petId: 1, quantity: 3, complete: true },
    },
  },
  deleteOrder: {
    method: 'DELETE',
    path: '/store/orders/{orderId}',
    tag: 'Store',
    noun: 'orders',
    summary: 'Delete an order',
    success: [204],
    errors: [400, 404],
    source: 'chosen',
    example: { path: { orderId: '1' } },
  },
  listInventory: {
    method: 'GET',
    path: '/store/inventory',
    tag: 'Store',
    noun: 'inventory',
    summary: 'List inventory entries',
    query: ['status', ...paging],
    result: 'InventoryItem',
    many: true,
    success: [200],
    errors: [400],
    source: 'chosen',
    example: {},
  },
  createInventory: {
    method: 'POST',
    path: '/store/inventory',
    tag: 'Store',
    noun: 'inventory',
    summary: 'Create the inventory entry of a pet',
    description: 'A new pet has an entry of quantity 0: this creates one again after it has been deleted.',
    body: 'InventoryItem',
    result: 'InventoryItem',
    success: [201],
    errors: [400, 409, 413, 415, 422],
    stability: 'beta',
    source: 'chosen',
    example: { body: { petId: 2, quantity: 4, status: 'available' } },
  },
  getInventory: {
    method: 'GET',
    path: '/store/inventory/{petId}',
    tag: 'Store',
    noun: 'inventory',
    summary: 'Get the inventory entry of a pet',
    result: 'InventoryItem',
    success: [200],
    errors: [400, 404],
    source: 'chosen',
    example: { path: { petId: '1' } },
  },
  updateInventory: {
    method: 'PUT',
    path: '/store/inventory/{petId}',
    tag: 'Store',
    noun: 'inventory',
    summary: 'Set the stock count of a pet',
    body: 'InventoryUpdate',
    result: 'InventoryItem',
    success: [200, 201],
    errors: [400, 404, 413, 415, 422],
    source: 'chosen',
    example: { path: { petId: '1' }, body: { quantity: 12 } },
  },
  deleteInventory: {
    method: 'DELETE',
    path: '/store/inventory/{petId}',
    tag: 'Store',
    noun: 'inventory',
    summary: 'Delete the inventory entry of a pet',
    success: [204],
    errors: [400, 404],
    stability: 'experimental',
    source: 'chosen',
    example: { path: { petId: '2' } },
  },
} as const satisfies Record<string, Row>;

type Operations = typeof operations;
export type OperationId = keyof Operations;
export const operationIds = Object.keys(operations) as OperationId[];

/** A row with the general type, for code that treats all rows alike. */
export function rowOf(id: OperationId): Row {
  return operations[id];
}

/** The table's name for the id in an operation's path; undefined if the path has none. */
export function idName(id: OperationId): string | undefined {
  return /\{(\w+)\}/.exec(rowOf(id).path)?.[1];
}

/** The operations that return a list, page by page. */
export type ListId = {
  [K in OperationId]: Operations[K] extends { many: true } ? K : never;
}[OperationId];

type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;
type BodyOf<K extends OperationId> = Operations[K] extends {
  body: infer B extends BodyName;
}
  ? { readonly body: v.InferOutput<(typeof bodySchemas)[B]> }
  : unknown;

/** The filters and paging of a list operation, each optional. */
export type Query<K extends OperationId> = Operations[K] extends {
  query: readonly (infer Q extends QueryName)[];
}
  ? { readonly [N in Q]?: v.InferOutput<(typeof querySchemas)[N]> | undefined }
  : Record<never, never>;

/** The input of an operation: the id of its path by name, its query, its body. */
export type Input<K extends OperationId> = {
  readonly [N in PathNames<Operations[K]['path']>]: bigint;
} & BodyOf<K> & {
    readonly query?: Query<K>;
  };

/** One record of the operation's result; undefined if it has none. */
export type Result<K extends OperationId> = Operations[K] extends {
  result: infer R extends ResultName;
}
  ? Records[R]
  : undefined;
