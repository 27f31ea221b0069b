import type { JsonObject } from '../process/exact-json.ts';

// The nouns, each declared once: bodies, records, columns, the flags of fields, and questions derive from this file.

export type NounName = 'pets' | 'categories' | 'orders' | 'inventory';
export type WriteVerb = 'create' | 'update' | 'delete';
export type OperationId =
  | 'listPets'
  | 'listCategories'
  | 'listOrders'
  | 'listInventory'
  | `${'get' | WriteVerb}${'Pet' | 'Category' | 'Order' | 'Inventory'}`;

/**
 * What a field holds, and how people write it: as a flag, as an answer to a question, as a cell of a file. A `name`
 * distinguishes records; a `reference` is the id of another record, or its name.
 */
export type FieldKind = 'name' | 'text' | 'reference' | 'status' | 'quantity' | 'date' | 'truth';

/** A field of a record, besides its id. */
export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  readonly summary: string;
  /** The name of its column and flag, if they have another name: `category` for `categoryId`. */
  readonly column?: string;
  readonly isRequired?: true;
  /** True if the program asks for it although the service does not require it, because a record without it makes no sense. */
  readonly isWanted?: true;
  /** The value that a record without the field has at every service. The description of a service may state further defaults. */
  readonly default?: boolean;
}

/** A noun as data: the terms for its records, their fields, and their operations. */
export interface Noun {
  readonly name: NounName;
  /** The term for one record, before its id in messages. */
  readonly singular: string;
  readonly plural: string;
  readonly tag: 'Pets' | 'Store';
  readonly path: string;
  readonly schema: 'Pet' | 'Category' | 'Order' | 'InventoryItem';
  /** The schema of the body that creates a record. */
  readonly body: 'NewPet' | 'NewCategory' | 'Order' | 'InventoryItem';
  /** The schema of the body that updates a record, and the fields that it has. By default as `body`. */
  readonly update?: { readonly body: 'InventoryUpdate'; readonly fields: readonly string[] };
  /** The field that identifies a record: an inventory entry has the id of its pet. */
  readonly idField: 'id' | 'petId';
  /** Whether `body` has the id. */
  readonly idInBody: 'none' | 'optional' | 'required';
  /** The name of its id in other records and in paths. */
  readonly idName: 'petId' | 'categoryId' | 'orderId';
  readonly fields: readonly Field[];
  /** The fields that identify this noun: a record of a service's description that lacks one is not of this noun. */
  readonly keyFields: readonly string[];
  /** True if a write changes only the quantity of a record, by a set or an addition. */
  readonly isCount: boolean;
  /** The fields by which its list can be filtered. */
  readonly filters: readonly string[];
  /** The field that refers to another record, and the column that shows the name of that record. */
  readonly reference?: { readonly field: string; readonly column: string };
  readonly operations: {
    readonly list: 'listPets' | 'listCategories' | 'listOrders' | 'listInventory';
    readonly get: OperationId;
    readonly create: OperationId;
    readonly update: OperationId;
    readonly delete: OperationId;
  };
  /** Returns the text by which people recognise a record, in addition to its id. */
  title(record: JsonObject): string;
}

/** The nouns whose records have names that can stand for their ids. */
export type NamedNoun = 'pets' | 'categories';

/** Returns the ids of the operations on a noun. */
function operationsOf<Singular extends string, Plural extends string>(singular: Singular, plural: Plural) {
  return {
    list: `list${plural}`,
    get: `get${singular}`,
    create: `create${singular}`,
    update: `update${singular}`,
    delete: `delete${singular}`,
  } as const;
}

export const nouns = {
  pets: {
    name: 'pets',
    singular: 'pet',
    plural: 'pets',
    tag: 'Pets',
    path: '/pets',
    schema: 'Pet',
    body: 'NewPet',
    idField: 'id',
    idInBody: 'none',
    idName: 'petId',
    fields: [
      { name: 'name', kind: 'name', summary: 'its name', isRequired: true },
      {
        name: 'categoryId',
        kind: 'reference',
        summary: 'its category',
        column: 'category',
        isRequired: true,
      },
      {
        name: 'status',
        kind: 'status',
        summary: 'its status: available, pending or sold, or another status of the service',
      },
    ],
    keyFields: ['id', 'name'],
    isCount: false,
    reference: { field: 'categoryId', column: 'category' },
    filters: ['status', 'categoryId'],
    operations: operationsOf('Pet', 'Pets'),
    title: ({ name }) => `${name}`,
  },
  categories: {
    name: 'categories',
    singular: 'category',
    plural: 'categories',
    tag: 'Pets',
    path: '/categories',
    schema: 'Category',
    body: 'NewCategory',
    idField: 'id',
    idInBody: 'none',
    idName: 'categoryId',
    fields: [
      { name: 'name', kind: 'name', summary: 'its name', isRequired: true },
      { name: 'description', kind: 'text', summary: 'its description' },
    ],
    keyFields: ['id', 'name'],
    isCount: false,
    filters: [],
    operations: operationsOf('Category', 'Categories'),
    title: ({ name }) => `${name}`,
  },
  orders: {
    name: 'orders',
    singular: 'order',
    plural: 'orders',
    tag: 'Store',
    path: '/store/orders',
    schema: 'Order',
    body: 'Order',
    idField: 'id',
    idInBody: 'optional',
    idName: 'orderId',
    fields: [
      {
        name: 'petId',
        kind: 'reference',
        summary: 'the pet that is ordered',
        column: 'pet',
        isWanted: true,
      },
      { name: 'quantity', kind: 'quantity', summary: 'how many are ordered', isWanted: true },
      {
        name: 'shipDate',
        kind: 'date',
        summary: 'RFC 3339, or a UTC day: YYYY-MM-DD, today, tomorrow, +3d, +1w',
      },
      { name: 'complete', kind: 'truth', summary: 'the order is fulfilled', default: false },
    ],
    keyFields: ['id', 'petId'],
    isCount: false,
    reference: { field: 'petId', column: 'name' },
    filters: ['petId', 'complete'],
    operations: operationsOf('Order', 'Orders'),
    title: ({ quantity, petId }) => `${quantity ?? 'an unknown quantity'} of pet ${petId ?? 'unknown'}`,
  },
  inventory: {
    name: 'inventory',
    singular: 'inventory entry',
    plural: 'inventory entries',
    tag: 'Store',
    path: '/store/inventory',
    schema: 'InventoryItem',
    body: 'InventoryItem',
    update: { body: 'InventoryUpdate', fields: ['quantity'] },
    idField: 'petId',
    idInBody: 'required',
    idName: 'petId',
    fields: [
      { name: 'quantity', kind: 'quantity', summary: 'the stock count', isRequired: true },
      {
        name: 'status',
        kind: 'status',
        summary: 'the status of the pet',
        isRequired: true,
      },
    ],
    keyFields: ['petId', 'quantity'],
    isCount: true,
    reference: { field: 'petId', column: 'name' },
    filters: ['status'],
    operations: operationsOf('Inventory', 'Inventory'),
    title: ({ quantity }) => `${quantity} in stock`,
  },
} as const satisfies { readonly [Name in NounName]: Noun & { readonly name: Name } };

export type BodyName = Noun['body'] | NonNullable<Noun['update']>['body'];

/** Lists the fields of a noun with its id, which is a field too. @param id whether the id is there, and whether it must be. */
export function fieldsWithId({ idField: name, fields }: Noun, id: Noun['idInBody']): readonly Field[] {
  if (id === 'none') return fields;
  const field: Field = { name, kind: 'reference', summary: 'its id' };
  return [id === 'required' ? { ...field, isRequired: true } : field, ...fields];
}

/** Returns the bodies that create and update a record: their names and their fields. */
export function bodiesOf(noun: Noun) {
  const create = { name: noun.body as BodyName, fields: fieldsWithId(noun, noun.idInBody) };
  const { update } = noun;
  const updated = noun.fields.filter(({ name }) => update?.fields.includes(name));
  return { create, update: update ? { name: update.body, fields: updated } : create };
}

export function fieldsOfKind(wanted: FieldKind): ReadonlySet<string> {
  const fields = Object.values(nouns).flatMap((noun): readonly Field[] => noun.fields);
  return new Set(fields.filter(({ kind }) => kind === wanted).map(({ name }) => name));
}

/** The fields that refer to a record with a name, and the noun of that record. */
export const referenceFields: Readonly<Record<string, NamedNoun>> = {
  petId: 'pets',
  categoryId: 'categories',
};
