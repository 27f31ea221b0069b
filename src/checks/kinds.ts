import { randomBytes } from 'node:crypto';
import type { Contract } from '../api/contract.ts';
import type { ListId, Operation, OperationId } from '../api/operations.ts';
import type { JsonObject } from '../process/exact-json.ts';

/** One kind of record that `--write` creates, changes and removes. */
export interface Kind {
  /** The name of its check. */
  readonly name: 'category' | 'pet' | 'inventory' | 'order';
  readonly list: ListId;
  readonly create: OperationId;
  readonly get: OperationId;
  readonly update: OperationId;
  readonly remove: OperationId;
  /** The name of the id in a path, and in records that refer to this one. */
  readonly idName: string;
  /** The field of a record with the id. */
  readonly idField: 'id' | 'petId';
  /** Whether a record's name says whose it is. If not, its pet does. */
  readonly isNamed: boolean;
  /** The kind of record that it refers to. */
  readonly parent?: Kind;
  /** Fields of a new record, and those that its update changes. */
  readonly fields: JsonObject;
  readonly change: JsonObject;
}

type Row = Omit<Kind, 'create' | 'get' | 'update' | 'remove' | 'idName' | 'idField'> &
  Partial<Pick<Kind, 'idName' | 'idField'>>;

/** A kind with the operations of its noun: `createPet`, and so on. */
function kindOf(noun: 'Category' | 'Pet' | 'Inventory' | 'Order', row: Row): Kind {
  return {
    create: `create${noun}`,
    get: `get${noun}`,
    update: `update${noun}`,
    remove: `delete${noun}`,
    idName: `${row.name}Id`,
    idField: 'id',
    ...row,
  };
}

const category = kindOf('Category', {
  name: 'category',
  list: 'listCategories',
  isNamed: true,
  fields: { description: 'made by petstore smoke, removed at its end' },
  change: { description: 'changed by petstore smoke' },
});
const pet = kindOf('Pet', {
  name: 'pet',
  list: 'listPets',
  isNamed: true,
  parent: category,
  fields: { status: 'available' },
  change: { status: 'pending' },
});
const inventory = kindOf('Inventory', {
  name: 'inventory',
  list: 'listInventory',
  idName: 'petId',
  idField: 'petId',
  isNamed: false,
  parent: pet,
  fields: { quantity: 3, status: 'available' },
  change: { quantity: 7 },
});
const order = kindOf('Order', {
  name: 'order',
  list: 'listOrders',
  isNamed: false,
  parent: pet,
  fields: { quantity: 1, shipDate: '2030-01-01T00:00:00Z', complete: false },
  change: { quantity: 2, complete: true },
});

/** Each kind comes after those that its records refer to. */
export const kinds: readonly Kind[] = [category, pet, inventory, order];

/** The kind that records refer to in this contract: the pets of a bound service may have no id of a category. */
export function parentOf({ parent, create }: Kind, { operations }: Contract): Kind | undefined {
  const { fields, required = [] } = operations.get(create)?.body ?? {};
  if (parent !== category || !fields) return parent;
  // A category that is an object or a name needs no record of its own.
  const needsRecord = required.includes(parent.idName) && typeof fields[parent.idName] === 'number';
  const isTaken = Object.hasOwn(fields, parent.idName) && typeof fields[parent.idName] !== 'string';
  return isTaken && (needsRecord || operations.has(parent.create)) ? parent : undefined;
}

/** An operation of a kind that the contract is known to have. */
export function demand({ operations }: Contract, id: OperationId): Operation {
  const operation = operations.get(id);
  if (!operation) throw new Error(`the contract lacks ${id}`);
  return operation;
}

const prefix = 'petstore-smoke-';
/** A shorter name has too few random characters. */
export const minNameLength = 20;

/** A unique name: its end is random, and its uuid contains the time. @see RFC 9562, 5.7 */
export function newName(now: Date, maxLength: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const uuid = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return `${prefix}${uuid}`.slice(-Math.min(maxLength, prefix.length + uuid.length));
}
