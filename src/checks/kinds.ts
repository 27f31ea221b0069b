import { randomBytes } from 'node:crypto';
import type { Contract } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { NounName, Operation } from '../api/operations.ts';
import { isJsonObject, type JsonObject } from '../process/exact-json.ts';

/** A kind of record that `--write` creates, changes and removes. */
interface KindRow {
  readonly noun: NounName;
  /** The kind that its records refer to, which stands before it. */
  readonly parent?: keyof typeof kindRows;
  /** Whether a record's name says whose it is. If not, its pet does. */
  readonly isNamed: boolean;
  /** Fields of a new record, and those that its update changes. */
  readonly fields: JsonObject;
  readonly change: JsonObject;
}

const kindRows = {
  category: {
    noun: 'categories',
    isNamed: true,
    fields: { description: 'made by petstore smoke, removed at its end' },
    change: { description: 'changed by petstore smoke' },
  },
  pet: {
    noun: 'pets',
    parent: 'category',
    isNamed: true,
    fields: { status: 'available' },
    change: { status: 'pending' },
  },
  inventory: {
    noun: 'inventory',
    parent: 'pet',
    isNamed: false,
    fields: { quantity: 3, status: 'available' },
    change: { quantity: 7 },
  },
  order: {
    noun: 'orders',
    parent: 'pet',
    isNamed: false,
    fields: { quantity: 1, shipDate: '2030-01-01T00:00:00Z', complete: false },
    change: { quantity: 2, complete: true },
  },
} as const;

/** A kind of record, with the operations that the service has for it. */
export interface Kind extends Omit<KindRow, 'noun' | 'parent'> {
  readonly name: string;
  readonly create: Operation;
  readonly remove: Operation;
  /** At least one of these two is there. */
  readonly get: Operation | undefined;
  readonly list: Operation | undefined;
  readonly update: Operation | undefined;
  readonly parent: Kind | undefined;
}

/** The kinds of records, by name. One that cannot be made and removed safely has the reason in its place, a clause. */
export function kindsOf(contract: Contract): ReadonlyMap<string, Kind | string> {
  const kinds = new Map<string, Kind | string>();
  for (const [name, row] of Object.entries<KindRow>(kindRows)) {
    const parent = row.parent && needsParent(row, contract) ? kinds.get(row.parent) : undefined;
    kinds.set(name, typeof parent === 'string' ? parent : resolveKind(name, row, parent, contract));
  }
  return kinds;
}

function resolveKind(
  name: string,
  { noun, isNamed, fields, change }: KindRow,
  parent: Kind | undefined,
  { operations, missing }: Contract,
): Kind | string {
  const ids = nouns[noun].operations;
  const [create, remove] = [operations.get(ids.create), operations.get(ids.delete)];
  if (!create || !remove) {
    const lacking = create ? ids.delete : ids.create;
    return `${lacking}: ${missing.get(lacking) ?? 'the contract lacks it'}`;
  }
  const [get, list] = [operations.get(ids.get), operations.get(ids.list)];
  if (!get && !list) return `a ${name} cannot be read back, so it would not certainly be ours`;
  if (isNamed && maxNameLength(create) < minNameLength)
    return `names may have only ${maxNameLength(create)} characters, too few to be certainly ours`;
  return {
    name,
    create,
    remove,
    get,
    list,
    update: operations.get(ids.update),
    parent,
    isNamed,
    fields,
    change,
  };
}

/** Whether records of a kind refer to another: the pets of a bound service may have no id of a category. */
function needsParent({ noun, parent }: KindRow, { operations }: Contract): boolean {
  if (parent !== 'category') return true;
  const { categoryId } = operations.get(nouns[noun].operations.create)?.body?.fields ?? {};
  // A category that is an object or a name needs no record of its own.
  if (!categoryId || typeof categoryId.example === 'string') return false;
  const isRequiredId = categoryId.required && !isJsonObject(categoryId.example);
  return isRequiredId || operations.has('createCategory');
}

/** The most characters of the name of a record that this operation creates. */
function maxNameLength({ body }: Operation): number {
  return Number(body?.fields.name?.bounds?.maxLength ?? Number.POSITIVE_INFINITY);
}

const prefix = 'petstore-smoke-';
/** A shorter name has too few random characters. */
const minNameLength = 20;

/** A unique name for a record of this operation: its end is random, and its uuid contains the time. @see RFC 9562, 5.7 */
export function newName(create: Operation, now: Date): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const uuid = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return `${prefix}${uuid}`.slice(-Math.min(maxNameLength(create), prefix.length + uuid.length));
}
