import type * as v from 'valibot';
import type { JsonObject, JsonValue } from '../json.ts';
import type { BodyName, bodySchemas, QueryName, querySchemas, Records, ResultName } from './schemas.ts';

/** The stability of an operation, from the extension `x-stability`; `stable` if it is missing. */
export type Stability = 'stable' | 'beta' | 'experimental';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Noun = 'pets' | 'categories' | 'orders' | 'inventory';

/** An operation as a service offers it: as the table below states it, or as the service's own description does. */
export interface Operation {
  readonly id: OperationId;
  readonly noun: Noun;
  readonly method: Method;
  /** Template below the base URL, as `/pets/{petId}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** Additional information for documents and help. */
  readonly description?: string | undefined;
  readonly parameters: readonly Parameter[];
  readonly body?: RequestBody | undefined;
  /** The schema of the records in the answer; undefined if it has none. */
  readonly result?: ResultName | undefined;
  /** True if the answer is an array of `result`, read page by page. */
  readonly many: boolean;
  /**
   * The fields of a bound operation's records. Other fields of the table are empty. Undefined in the table, whose
   * records have all fields, and if the description does not list them.
   */
  readonly fields?: readonly string[] | undefined;
  /** Documented statuses of success, the usual one first. */
  readonly success: readonly number[];
  /** Documented error statuses, each with an Error body. */
  readonly errors: readonly number[];
  /**
   * By status, `4XX` or `default`, from the service's own description; undefined in the table, whose OpenAPI document
   * has them.
   */
  readonly answers?: Readonly<Record<string, DocumentedAnswer>> | undefined;
  /** True if the description requires a credential; false if it does not mention security. */
  readonly secured: boolean;
  readonly stability: Stability;
  readonly deprecated: boolean;
  /** The day after which a deprecated operation may be gone, YYYY-MM-DD. */
  readonly sunset?: string | undefined;
  /** The service asks tools not to offer this operation interactively (`x-hideTryItPanel`). */
  readonly hideTryIt: boolean;
  /** `stated` in the service document, `chosen` by this project, or `bound` to a service's own description. */
  readonly source: 'stated' | 'chosen' | 'bound';
  /** Undefined in a bound operation. */
  readonly example?: Example | undefined;
}

export interface Parameter {
  /** The program's name for it, as in the table. */
  readonly name: string;
  /** Its name on the wire, and in the path's template. */
  readonly wireName: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly bounds?: Bounds | undefined;
  /** The service's default; without a value the list does then not hold all records. */
  readonly fallback?: string | undefined;
  /** A constant that is always sent: the only allowed value of a parameter that the program does not know. */
  readonly value?: string | undefined;
}

export interface RequestBody {
  readonly name: BodyName;
  readonly mediaType: string;
  /** Required fields. */
  readonly required: readonly string[];
  /** Bounds by field, checked before a request. */
  readonly bounds: Readonly<Record<string, Bounds>>;
  /** A valid value for each field of a bound body. Undefined in the table, and if the description lists no fields. */
  readonly fields?: Readonly<Record<string, JsonValue>> | undefined;
  /** Fields that occur only in answers. */
  readonly readOnly?: readonly string[] | undefined;
  /** True if the body must not have fields other than `fields`. */
  readonly isClosed?: true | undefined;
  /** The field with the record's id, if the path has none or the description requires it in the body too. */
  readonly idField?: 'id' | 'petId' | undefined;
}

/** Bounds of a value in a description, in the terms of JSON Schema. */
export interface Bounds {
  readonly type?: 'integer' | 'number' | 'string' | 'boolean' | undefined;
  readonly enum?: readonly string[] | undefined;
  readonly minimum?: number | bigint | undefined;
  readonly maximum?: number | bigint | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly pattern?: string | undefined;
}

/** The documented answer for one status. */
export interface DocumentedAnswer {
  /** Media types without parameters, in lower case; empty if the answer has no body. */
  readonly mediaTypes: readonly string[];
  /** A self-contained JSON Schema of draft 2020-12: everything that it refers to is in its own `$defs`. */
  readonly schema?: JsonObject | undefined;
}

/** A valid call on a seeded store, for documents and the contract test; ids are text, so that none is rounded. */
export interface Example {
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const pets = { noun: 'pets', tag: 'Pets', result: 'Pet' } as const;
const categories = { noun: 'categories', tag: 'Pets', result: 'Category' } as const;
const orders = { noun: 'orders', tag: 'Store', result: 'Order' } as const;
const inventory = { noun: 'inventory', tag: 'Store', result: 'InventoryItem' } as const;

/** What most operations, and those of one kind, have in common: a row of the table starts with it. */
const usual = {
  parameters: [],
  many: false,
  secured: false,
  stability: 'stable',
  deprecated: false,
  hideTryIt: false,
  source: 'chosen',
} as const;
const list = { ...usual, method: 'GET', many: true, success: [200], errors: [400] } as const;
const create = { ...usual, method: 'POST', success: [201], errors: [400, 413, 415, 422] } as const;
const get = { ...usual, method: 'GET', success: [200], errors: [400, 404] } as const;
const update = { ...usual, method: 'PUT', success: [200], errors: [400, 404, 413, 415, 422] } as const;
const remove = { ...usual, method: 'DELETE', result: undefined, success: [204], errors: [400, 404] } as const;

const newPet = toBody('NewPet', ['name', 'categoryId']);
const newCategory = toBody('NewCategory', ['name']);
const order = toBody('Order', []);
const inventoryItem = toBody('InventoryItem', ['petId', 'quantity', 'status']);
const inventoryUpdate = toBody('InventoryUpdate', ['quantity']);

const paging = [inQuery('limit'), inQuery('after')] as const;

const table = {
  listPets: {
    ...pets,
    ...list,
    path: '/pets',
    summary: 'List pets',
    parameters: [inQuery('status'), inQuery('categoryId'), ...paging],
  },
  createPet: {
    ...pets,
    ...create,
    path: '/pets',
    summary: 'Create a pet',
    body: newPet,
    example: { body: { name: 'Rex', categoryId: 1, status: 'available' } },
  },
  getPet: {
    ...pets,
    ...get,
    path: '/pets/{petId}',
    summary: 'Get a pet',
    parameters: [inPath('petId')],
    deprecated: true,
    sunset: '2027-12-31',
    source: 'stated',
    example: { path: { petId: '1' } },
  },
  updatePet: {
    ...pets,
    ...update,
    path: '/pets/{petId}',
    summary: 'Replace a pet',
    parameters: [inPath('petId')],
    body: newPet,
    example: { path: { petId: '1' }, body: { name: 'Rex', categoryId: 1, status: 'pending' } },
  },
  deletePet: {
    ...pets,
    ...remove,
    path: '/pets/{petId}',
    summary: 'Delete a pet',
    parameters: [inPath('petId')],
    errors: [400, 404, 409],
    example: { path: { petId: '25' } },
  },
  listCategories: {
    ...categories,
    ...list,
    path: '/categories',
    summary: 'List categories',
    parameters: paging,
  },
  createCategory: {
    ...categories,
    ...create,
    path: '/categories',
    summary: 'Create a category',
    body: newCategory,
    example: { body: { name: 'Amphibians', description: 'Frogs, toads and newts' } },
  },
  getCategory: {
    ...categories,
    ...get,
    path: '/categories/{categoryId}',
    summary: 'Get a category',
    parameters: [inPath('categoryId')],
    example: { path: { categoryId: '1' } },
  },
  updateCategory: {
    ...categories,
    ...update,
    path: '/categories/{categoryId}',
    summary: 'Replace a category',
    parameters: [inPath('categoryId')],
    body: newCategory,
    example: { path: { categoryId: '1' }, body: { name: 'Dogs', description: 'Large and small' } },
  },
  deleteCategory: {
    ...categories,
    ...remove,
    path: '/categories/{categoryId}',
    summary: 'Delete a category',
    parameters: [inPath('categoryId')],
    errors: [400, 404, 409],
    example: { path: { categoryId: '6' } },
  },
  listOrders: {
    ...orders,
    ...list,
    path: '/store/orders',
    summary: 'List orders',
    parameters: [inQuery('petId'), inQuery('complete'), ...paging],
    hideTryIt: true,
    source: 'stated',
  },
  createOrder: {
    ...orders,
    ...create,
    path: '/store/orders',
    summary: 'Create an order',
    body: order,
    errors: [400, 409, 413, 415, 422],
    example: { body: { petId: 1, quantity: 2, shipDate: '2027-01-15T09:00:00Z', complete: false } },
  },
  getOrder: {
    ...orders,
    ...get,
    path: '/store/orders/{orderId}',
    summary: 'Get an order',
    parameters: [inPath('orderId')],
    example: { path: { orderId: '1' } },
  },
  updateOrder: {
    ...orders,
    ...update,
    path: '/store/orders/{orderId}',
    summary: 'Replace an order',
    parameters: [inPath('orderId')],
    body: order,
    stability: 'beta',
    example: { path: { orderId: '1' }, body: { id: 1, petId: 1, quantity: 3, complete: true } },
  },
  deleteOrder: {
    ...orders,
    ...remove,
    path: '/store/orders/{orderId}',
    summary: 'Delete an order',
    parameters: [inPath('orderId')],
    example: { path: { orderId: '1' } },
  },
  listInventory: {
    ...inventory,
    ...list,
    path: '/store/inventory',
    summary: 'List inventory entries',
    parameters: [inQuery('status'), ...paging],
  },
  createInventory: {
    ...inventory,
    ...create,
    path: '/store/inventory',
    summary: 'Create the inventory entry of a pet',
    description: 'A new pet has an entry of quantity 0: this creates one again after it has been deleted.',
    body: inventoryItem,
    errors: [400, 409, 413, 415, 422],
    stability: 'beta',
    example: { body: { petId: 2, quantity: 4, status: 'available' } },
  },
  getInventory: {
    ...inventory,
    ...get,
    path: '/store/inventory/{petId}',
    summary: 'Get the inventory entry of a pet',
    parameters: [inPath('petId')],
    example: { path: { petId: '1' } },
  },
  updateInventory: {
    ...inventory,
    ...update,
    path: '/store/inventory/{petId}',
    summary: 'Set the stock count of a pet',
    parameters: [inPath('petId')],
    body: inventoryUpdate,
    success: [200, 201],
    example: { path: { petId: '1' }, body: { quantity: 12 } },
  },
  deleteInventory: {
    ...inventory,
    ...remove,
    path: '/store/inventory/{petId}',
    summary: 'Delete the inventory entry of a pet',
    parameters: [inPath('petId')],
    stability: 'experimental',
    example: { path: { petId: '2' } },
  },
} as const satisfies Record<string, Omit<Operation, 'id'>>;

type Table = typeof table;
export type OperationId = keyof Table;
export const operationIds = Object.keys(table) as OperationId[];

/**
 * The operations table: client, server, OpenAPI document, help, notices, smoke checks and contract test derive from it.
 */
export const operations = Object.fromEntries(
  operationIds.map((id): [OperationId, Operation] => [id, { ...table[id], id }]),
) as Readonly<Record<OperationId, Operation>>;

/** The name of the id in the path of an operation of the table; undefined if the path has none. */
export function idName(id: OperationId): string | undefined {
  return operations[id].parameters.find((parameter) => parameter.in === 'path')?.name;
}

function inPath<const Name extends string>(name: Name) {
  return { name, wireName: name, in: 'path', required: true } as const;
}

function inQuery<const Name extends QueryName>(name: Name) {
  return { name, wireName: name, in: 'query', required: false } as const;
}

/** The required fields are stated here too, because loading the schemas would slow down `help`. */
function toBody<const Name extends BodyName>(name: Name, required: readonly (keyof BodyOf<Name>)[]) {
  return { name, mediaType: 'application/json', required, bounds: {} } as const;
}

type BodyOf<Name extends BodyName> = v.InferOutput<(typeof bodySchemas)[Name]>;

/** The operations that always answer with what was asked for. */
export type ReadId = {
  [K in OperationId]: Table[K] extends { method: 'GET' } ? K : never;
}[OperationId];

/** The operations that return a list, page by page. */
export type ListId = {
  [K in OperationId]: Table[K] extends { many: true } ? K : never;
}[OperationId];

/** The parameters of an operation at one place, by name. */
type Names<K extends OperationId, Place extends Parameter['in']> = Extract<
  Table[K]['parameters'][number],
  { in: Place }
>['name'];

/** The filters and paging of a list operation, each optional. */
export type Query<K extends OperationId> = {
  readonly [Name in Names<K, 'query'>]?: v.InferOutput<(typeof querySchemas)[Name]> | undefined;
};

/** The input of an operation: the id of its path by name, its query, its body. */
export type Input<K extends OperationId> = {
  readonly [Name in Names<K, 'path'>]: bigint;
} & (Table[K] extends {
  body: { name: infer Name extends BodyName };
}
  ? { readonly body: BodyOf<Name> }
  : unknown) & { readonly query?: Query<K> };

/** One record of the operation's result; undefined if it has none. */
export type Result<K extends OperationId> = Table[K] extends { result: infer Name extends ResultName }
  ? Records[Name]
  : undefined;
