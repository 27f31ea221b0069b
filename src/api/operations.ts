import type * as v from 'valibot';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import type {
  BodyName,
  Bounds,
  bodySchemas,
  QueryName,
  querySchemas,
  ResultName,
  ResultTypes,
} from './schemas.ts';

/** The stability of an operation, from the extension `x-stability`; `stable` if it is missing. */
export type Stability = 'stable' | 'beta' | 'experimental';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type NounName = 'pets' | 'categories' | 'orders' | 'inventory';

/**
 * An operation as a service offers it: as the table below states it, or as the service's own description
 * does.
 */
export interface Operation {
  readonly id: OperationId;
  readonly noun: NounName;
  readonly method: Method;
  /** Template below the base URL, such as `/pets/{petId}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** Additional information for documents and help. */
  readonly description?: string | undefined;
  readonly parameters: readonly Parameter[];
  readonly body?: RequestBody | undefined;
  /** The schema of the records in the answer; undefined if it has none. */
  readonly result?: ResultName | undefined;
  /** True if the answer holds a list of `result`, read page by page. */
  readonly isList: boolean;
  /** How the service writes the records of the noun in its answers. */
  readonly records: RecordFormat;
  /** Why this operation of the description was bound, a clause. */
  readonly why?: string | undefined;
  /** How the pages of a list follow each other; undefined if the operation is no list. */
  readonly paging?: Paging | undefined;
  /** True if an update takes only what changes; otherwise its body is made from the record as it was read. */
  readonly takesChangesOnly: boolean;
  /** True for the built-in contract: its records are checked against the full schema. */
  readonly hasFullSchema: boolean;
  /** Documented statuses of success, the usual one first. */
  readonly success: readonly number[];
  /** Documented error statuses, each with an Error body. */
  readonly errors: readonly number[];
  /**
   * By status, `4XX` or `default`, from the service's own description; undefined in the table, whose OpenAPI
   * document has them.
   */
  readonly responses?: Readonly<Record<string, DocumentedResponse>> | undefined;
  /** True if the description requires a credential; false if it does not mention security. */
  readonly needsCredential: boolean;
  readonly stability: Stability;
  readonly isDeprecated: boolean;
  /** The day after which a deprecated operation may be gone, YYYY-MM-DD. */
  readonly sunset?: string | undefined;
  /** The service asks tools not to offer this operation interactively (`x-hideTryItPanel`). */
  readonly hidesTryIt: boolean;
  /**
   * `stated` in the service's specification, `chosen` by this project, or `bound` to a service's own
   * description.
   */
  readonly provenance: 'stated' | 'chosen' | 'bound';
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
  /**
   * The service's default: a list that is requested without this parameter has only the records with this
   * value.
   */
  readonly serviceDefault?: string | undefined;
  /**
   * A value that every request has: the only one that the description allows, of a parameter that the table
   * lacks.
   */
  readonly constant?: string | undefined;
}

/** How a service writes records. */
export interface RecordFormat {
  /** The fields that lead from an answer to its record or records; empty if they are the whole answer. */
  readonly envelope: readonly string[];
  /** The service's name of each field of ours that the records have. */
  readonly names: Readonly<Record<string, string>>;
  /** The other fields of the records. */
  readonly furtherFields: readonly string[];
}

export interface RequestBody {
  readonly name: BodyName;
  readonly mediaType: string;
  /** The fields that it takes, by our names; of a description also those that are not ours. */
  readonly fields: Readonly<Record<string, BodyField>>;
  /** The service's names of fields that occur only in answers. */
  readonly readOnlyNames: readonly string[];
  /** True if it must not have other fields. */
  readonly isClosed: boolean;
  /**
   * True if an update has the id of the record in the body: its path has none, or the description requires it
   * there too.
   */
  readonly hasId: boolean;
}

export interface BodyField {
  /** The service's name of the field. */
  readonly wireName: string;
  readonly required: boolean;
  /** Checked before a request; undefined in the table, whose schemas have them. */
  readonly bounds?: Bounds | undefined;
  /** A valid value by the description; of a category an id or `{id, name}`. */
  readonly example?: JsonValue | undefined;
  /** True if a PATCH can remove the field with null. */
  readonly isRemovable?: boolean | undefined;
}

/**
 * How the pages of a list follow each other. The names are those of the service. A link in a header always
 * counts.
 */
export type Paging =
  /** An answer that is not the last has a link to the next page in its header. */
  | { readonly kind: 'link' }
  /** Pages are counted; `first` is undefined if the description does not say from what number. */
  | {
      readonly kind: 'number';
      readonly parameter: string;
      readonly first: number | undefined;
      /** The largest number that the parameter may have, if the description states one. */
      readonly maximum: number | undefined;
    }
  /** Records are counted, from 0. */
  | { readonly kind: 'offset'; readonly parameter: string; readonly maximum: number | undefined }
  /** Each answer has the link or the cursor of the next page at a path of fields. */
  | {
      readonly kind: 'cursor';
      /** Undefined if it takes no cursor, only links. */
      readonly parameter: string | undefined;
      readonly next: readonly string[];
    }
  /** The pages follow each other in a way that the program does not know. */
  | {
      readonly kind: 'unknown';
      /** The parameter or header that shows it; undefined if the description says nothing of pages. */
      readonly by: string | undefined;
      /** The parameter that may begin a list after the record with an id. */
      readonly after?: string | undefined;
    };

/** The documented answer for one status. */
export interface DocumentedResponse {
  /** Media types without parameters, in lower case; empty if the answer has no body. */
  readonly mediaTypes: readonly string[];
  /** True if the answer has a Location. */
  readonly hasLocation?: boolean | undefined;
  /** A JSON Schema of draft 2020-12; what it refers to is in the `definitions` of the contract. */
  readonly schema?: JsonObject | undefined;
}

/**
 * A valid call on a seeded store, for documents and the contract test; the id is text, so that it is not
 * rounded.
 */
interface Example {
  readonly id?: string;
  readonly body?: JsonObject;
}

/** What the operations of a noun have in common. */
interface Collection<Result extends ResultName = ResultName> {
  readonly noun: NounName;
  readonly tag: string;
  readonly path: string;
  readonly result: Result;
  readonly records: RecordFormat;
}

const pets = {
  noun: 'pets',
  tag: 'Pets',
  path: '/pets',
  result: 'Pet',
  records: recordFormat('id', 'name', 'categoryId', 'status'),
} as const;
const categories = {
  noun: 'categories',
  tag: 'Pets',
  path: '/categories',
  result: 'Category',
  records: recordFormat('id', 'name', 'description'),
} as const;
const orders = {
  noun: 'orders',
  tag: 'Store',
  path: '/store/orders',
  result: 'Order',
  records: recordFormat('id', 'petId', 'quantity', 'shipDate', 'complete'),
} as const;
const inventory = {
  noun: 'inventory',
  tag: 'Store',
  path: '/store/inventory',
  result: 'InventoryItem',
  records: recordFormat('petId', 'quantity', 'status'),
} as const;

const petBody = bodyFormat('NewPet', ['name', 'categoryId'], ['status']);
const categoryBody = bodyFormat('NewCategory', ['name'], ['description']);
const orderBody = bodyFormat('Order', [], ['id', 'petId', 'quantity', 'shipDate', 'complete']);
const entryBody = bodyFormat('InventoryItem', ['petId', 'quantity', 'status'], []);
const countBody = bodyFormat('InventoryUpdate', ['quantity'], []);

const defaults = {
  isList: false,
  needsCredential: false,
  stability: 'stable',
  isDeprecated: false,
  hidesTryIt: false,
  takesChangesOnly: false,
  hasFullSchema: true,
  provenance: 'chosen',
} as const;

function listOperation<Result extends ResultName, const Filter extends QueryName>(
  collection: Collection<Result>,
  ...filters: readonly Filter[]
) {
  const pageSize = { type: 'integer', minimum: 1, maximum: 1000 } as const;
  const paging = [{ ...inQuery('limit'), bounds: pageSize }, inQuery('after')] as const;
  const parameters = [...filters.map((name) => inQuery(name)), ...paging] as const;
  const kind = {
    method: 'GET',
    isList: true,
    paging: { kind: 'link' },
    success: [200],
    errors: [400],
  } as const;
  return { ...collection, ...defaults, ...kind, parameters };
}

function createOperation<Result extends ResultName, Body extends RequestBody>(
  collection: Collection<Result>,
  body: Body,
) {
  const kind = { method: 'POST', parameters: [], success: [201], errors: [400, 413, 415, 422] } as const;
  return { ...collection, ...defaults, ...kind, body };
}

function getOperation<Result extends ResultName>(collection: Collection<Result>, idName: string) {
  const kind = { method: 'GET', success: [200], errors: [400, 404], example: { id: '1' } } as const;
  return { ...collection, ...defaults, ...kind, ...atRecord(collection, idName) };
}

function updateOperation<Result extends ResultName, Body extends RequestBody>(
  collection: Collection<Result>,
  idName: string,
  body: Body,
) {
  const kind = { method: 'PUT', success: [200], errors: [400, 404, 412, 413, 415, 422] } as const;
  return { ...collection, ...defaults, ...kind, ...atRecord(collection, idName), body };
}

function deleteOperation<Result extends ResultName>(collection: Collection<Result>, idName: string) {
  const kind = { method: 'DELETE', result: undefined, success: [204], errors: [400, 404, 412] } as const;
  return { ...collection, ...defaults, ...kind, ...atRecord(collection, idName) };
}

/** The path of one record. */
function atRecord({ path }: Collection, idName: string) {
  const parameter = { name: 'id', wireName: idName, in: 'path', required: true } as const;
  return { path: `${path}/{${idName}}`, parameters: [parameter] } as const;
}

const table = {
  listPets: { ...listOperation(pets, 'status', 'categoryId'), summary: 'List pets' },
  createPet: {
    ...createOperation(pets, petBody),
    summary: 'Create a pet',
    example: { body: { name: 'Rex', categoryId: 1, status: 'available' } },
  },
  getPet: { ...getOperation(pets, 'petId'), summary: 'Get a pet', isDeprecated: true, provenance: 'stated' },
  updatePet: {
    ...updateOperation(pets, 'petId', petBody),
    summary: 'Replace a pet',
    example: { id: '1', body: { name: 'Rex', categoryId: 1, status: 'pending' } },
  },
  deletePet: {
    ...deleteOperation(pets, 'petId'),
    summary: 'Delete a pet',
    errors: [400, 404, 409, 412],
    example: { id: '25' },
  },
  listCategories: { ...listOperation(categories), summary: 'List categories' },
  createCategory: {
    ...createOperation(categories, categoryBody),
    summary: 'Create a category',
    example: { body: { name: 'Amphibians', description: 'Frogs, toads and newts' } },
  },
  getCategory: { ...getOperation(categories, 'categoryId'), summary: 'Get a category' },
  updateCategory: {
    ...updateOperation(categories, 'categoryId', categoryBody),
    summary: 'Replace a category',
    example: { id: '1', body: { name: 'Dogs', description: 'Large and small' } },
  },
  deleteCategory: {
    ...deleteOperation(categories, 'categoryId'),
    summary: 'Delete a category',
    errors: [400, 404, 409, 412],
    example: { id: '6' },
  },
  listOrders: {
    ...listOperation(orders, 'petId', 'complete'),
    summary: 'List orders',
    hidesTryIt: true,
    provenance: 'stated',
  },
  createOrder: {
    ...createOperation(orders, orderBody),
    summary: 'Create an order',
    errors: [400, 409, 413, 415, 422],
    example: { body: { petId: 1, quantity: 2, shipDate: '2027-01-15T09:00:00Z', complete: false } },
  },
  getOrder: { ...getOperation(orders, 'orderId'), summary: 'Get an order' },
  updateOrder: {
    ...updateOperation(orders, 'orderId', orderBody),
    summary: 'Replace an order',
    stability: 'beta',
    example: { id: '1', body: { id: 1, petId: 1, quantity: 3, complete: true } },
  },
  deleteOrder: { ...deleteOperation(orders, 'orderId'), summary: 'Delete an order', example: { id: '1' } },
  listInventory: { ...listOperation(inventory, 'status'), summary: 'List inventory entries' },
  createInventory: {
    ...createOperation(inventory, entryBody),
    summary: 'Create the inventory entry of a pet',
    description: 'A new pet has an entry of quantity 0: this creates one again after it has been deleted.',
    errors: [400, 409, 413, 415, 422],
    stability: 'beta',
    example: { body: { petId: 2, quantity: 4, status: 'available' } },
  },
  getInventory: { ...getOperation(inventory, 'petId'), summary: 'Get the inventory entry of a pet' },
  updateInventory: {
    ...updateOperation(inventory, 'petId', countBody),
    summary: 'Set the stock count of a pet',
    takesChangesOnly: true,
    success: [200, 201],
    example: { id: '1', body: { quantity: 12 } },
  },
  deleteInventory: {
    ...deleteOperation(inventory, 'petId'),
    summary: 'Delete the inventory entry of a pet',
    stability: 'experimental',
    example: { id: '2' },
  },
} as const satisfies Record<string, Omit<Operation, 'id'>>;

type Table = typeof table;
export type OperationId = keyof Table;
export const operationIds = Object.keys(table) as OperationId[];

/**
 * The operations table: client, server, OpenAPI document, help, notices, smoke checks and contract test
 * derive from it.
 */
export const operations = Object.fromEntries(
  operationIds.map((id): [OperationId, Operation] => [id, { ...table[id], id }]),
) as Readonly<Record<OperationId, Operation>>;

/** Whether an operation of the table is about one record, whose id its input has. */
export function takesId(id: OperationId): boolean {
  return operations[id].parameters.some((parameter) => parameter.in === 'path');
}

function inQuery<const Name extends QueryName>(name: Name) {
  return { name, wireName: name, in: 'query', required: false } as const;
}

function recordFormat(...fields: readonly string[]): RecordFormat {
  return { envelope: [], names: Object.fromEntries(fields.map((name) => [name, name])), furtherFields: [] };
}

/** The fields are stated here too, because loading the schemas would slow down `help`. */
function bodyFormat<const Name extends BodyName>(
  name: Name,
  required: readonly (keyof BodyOf<Name> & string)[],
  optional: readonly (keyof BodyOf<Name> & string)[],
) {
  const fields: Readonly<Record<string, BodyField>> = Object.fromEntries(
    [...required, ...optional].map((field) => [
      field,
      { wireName: field, required: required.includes(field) },
    ]),
  );
  return {
    name,
    mediaType: 'application/json',
    fields,
    readOnlyNames: [],
    isClosed: false,
    hasId: false,
  } as const;
}

type BodyOf<Name extends BodyName> = v.InferOutput<(typeof bodySchemas)[Name]>;

/** The operations that return a list, page by page. */
export type ListId = {
  [K in OperationId]: Table[K] extends { isList: true } ? K : never;
}[OperationId];

/** The parameters of an operation at one place, by name. */
type Names<K extends OperationId, Place extends Parameter['in']> = Extract<
  Table[K]['parameters'][number],
  { in: Place }
>['name'];

/** The filters and paging of a list operation, each optional. */
type Query<K extends OperationId> = {
  readonly [Name in Names<K, 'query'>]?: v.InferOutput<(typeof querySchemas)[Name]> | undefined;
};

/** The input of an operation: the id of the record in its path, its query, its body. */
export type Input<K extends OperationId> = {
  readonly [Name in Names<K, 'path'>]: bigint;
} & (Table[K] extends {
  body: { name: infer Name extends BodyName };
}
  ? { readonly body: BodyOf<Name> }
  : unknown) & { readonly query?: Query<K> };

/** One record of the operation's result; undefined if it has none. */
export type Result<K extends OperationId> = Table[K] extends { result: infer Name extends ResultName }
  ? ResultTypes[Name]
  : undefined;
