import type { ListId, NounName, OperationId } from './operations.ts';
import type { ResultName } from './schemas.ts';

/** A noun as data: the words for its records, and their operations. */
export interface Noun {
  readonly name: NounName;
  /** The words for one record. The id of the record may follow. */
  readonly singular: string;
  /** The words for several records. */
  readonly plural: string;
  /** The schema of its records. */
  readonly schema: ResultName;
  /** The field that identifies a record: an inventory entry has the id of its pet. */
  readonly idField: 'id' | 'petId';
  /** The name of its id in other records and in paths. */
  readonly idName: 'petId' | 'categoryId' | 'orderId';
  readonly operations: {
    readonly list: ListId;
    readonly get: GetId;
    readonly create: OperationId;
    readonly update: OperationId;
    readonly delete: OperationId;
  };
}

/** The nouns whose records have names that can stand for their ids. */
export type NamedNoun = 'pets' | 'categories';

/** The operations that read one record. */
type GetId = 'getPet' | 'getCategory' | 'getOrder' | 'getInventory';

/** Returns the ids of the operations on a noun. */
function operationsOf<One extends string, Many extends string>(one: One, many: Many) {
  const own = {
    get: `get${one}`,
    create: `create${one}`,
    update: `update${one}`,
    delete: `delete${one}`,
  } as const;
  return { list: `list${many}`, ...own } as const;
}

export const nouns = {
  pets: {
    name: 'pets',
    singular: 'pet',
    plural: 'pets',
    schema: 'Pet',
    idField: 'id',
    idName: 'petId',
    operations: operationsOf('Pet', 'Pets'),
  },
  categories: {
    name: 'categories',
    singular: 'category',
    plural: 'categories',
    schema: 'Category',
    idField: 'id',
    idName: 'categoryId',
    operations: operationsOf('Category', 'Categories'),
  },
  orders: {
    name: 'orders',
    singular: 'order',
    plural: 'orders',
    schema: 'Order',
    idField: 'id',
    idName: 'orderId',
    operations: operationsOf('Order', 'Orders'),
  },
  inventory: {
    name: 'inventory',
    singular: 'the inventory entry of pet',
    plural: 'inventory entries',
    schema: 'InventoryItem',
    idField: 'petId',
    idName: 'petId',
    operations: operationsOf('Inventory', 'Inventory'),
  },
} as const satisfies { readonly [Name in NounName]: Noun & { readonly name: Name } };

/** The fields that refer to a record with a name, and the noun of that record. */
export const referenceFields: Readonly<Record<string, NamedNoun>> = {
  categoryId: 'categories',
  petId: 'pets',
};
