import { randomBytes } from 'node:crypto';
import type { Contract } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { isJsonObject } from '../process/exact-json.ts';
import { readsOf } from './round.ts';

/** One kind of record that `--write` creates, changes and removes, with the operations that the service has for it. */
export interface Kind {
  readonly name: KindName;
  readonly create: Operation;
  readonly remove: Operation;
  /** At least one of these two is there. */
  readonly get: Operation | undefined;
  readonly list: Operation | undefined;
  readonly update: Operation | undefined;
  /** The name of the id in records that refer to this one. */
  readonly idName: string;
  /** The kind of record that it refers to. */
  readonly parent: Kind | undefined;
  /** Whether a record's name says whose it is. If not, its pet does. */
  readonly isNamed: boolean;
  /** Fields of a new record, and those that its update changes. */
  readonly fields: JsonObject;
  readonly change: JsonObject;
}

type KindName = keyof typeof table;

interface KindRow extends Pick<Kind, 'isNamed' | 'fields' | 'change'> {
  readonly noun: 'Category' | 'Pet' | 'Inventory' | 'Order';
  readonly parent?: string;
}

/** Each kind comes after the one that its records refer to. */
const table = {
  category: {
    noun: 'Category',
    isNamed: true,
    fields: { description: 'made by petstore smoke, removed at its end' },
    change: { description: 'changed by petstore smoke' },
  },
  pet: {
    noun: 'Pet',
    parent: 'category',
    isNamed: true,
    fields: { status: 'available' },
    change: { status: 'pending' },
  },
  inventory: {
    noun: 'Inventory',
    parent: 'pet',
    isNamed: false,
    fields: { quantity: 3, status: 'available' },
    change: { quantity: 7 },
  },
  order: {
    noun: 'Order',
    parent: 'pet',
    isNamed: false,
    fields: { quantity: 1, shipDate: '2030-01-01T00:00:00Z', complete: false },
    change: { quantity: 2, complete: true },
  },
} as const satisfies Readonly<Record<string, KindRow>>;

/** The kinds of records, by name. One that cannot be made and removed safely has the reason in its place, a clause. */
export function kindsOf(contract: Contract): ReadonlyMap<KindName, Kind | string> {
  const kinds = new Map<string, Kind | string>();
  for (const [name, row] of Object.entries<KindRow>(table)) {
    const parent = row.parent !== undefined && needsParent(row, contract) ? kinds.get(row.parent) : undefined;
    kinds.set(
      name,
      typeof parent === 'string' ? parent : resolveKind(name as KindName, row, parent, contract),
    );
  }
  return kinds as ReadonlyMap<KindName, Kind | string>;
}

function resolveKind(
  name: KindName,
  { noun, isNamed, fields, change }: KindRow,
  parent: Kind | undefined,
  contract: Contract,
): Kind | string {
  const { operations, missing } = contract;
  const ids = { create: `create${noun}`, remove: `delete${noun}` } as const;
  const [create, remove] = [operations.get(ids.create), operations.get(ids.remove)];
  if (!create || !remove) {
    const lacking = create ? ids.remove : ids.create;
    return `${lacking}: ${missing.get(lacking) ?? 'the contract lacks it'}`;
  }
  const get = operations.get(`get${noun}`);
  const list = readsOf(contract).find((operation) => operation.many && operation.noun === create.noun);
  if (!get && !list) return `a ${name} cannot be read back, so it would not certainly be ours`;
  const maxLength = isNamed ? maxNameLength(create) : Number.POSITIVE_INFINITY;
  if (maxLength < minNameLength)
    return `names may have only ${maxLength} characters, too few to be certainly ours`;
  const operationsOfKind = { create, remove, get, list, update: operations.get(`update${noun}`) };
  return { name, ...operationsOfKind, idName: nouns[remove.noun].idName, parent, isNamed, fields, change };
}

/** Whether records of a kind refer to another: the pets of a bound service may have no id of a category. */
function needsParent({ noun, parent }: KindRow, { operations }: Contract): boolean {
  if (parent !== 'category') return true;
  const { categoryId } = operations.get(`create${noun}`)?.body?.fields ?? {};
  // A category that is an object or a name needs no record of its own.
  if (!categoryId || typeof categoryId.example === 'string') return false;
  const isRequiredId = categoryId.required && !isJsonObject(categoryId.example);
  return isRequiredId || operations.has('createCategory');
}

/** The most characters of the name of a record that this operation creates. */
export function maxNameLength({ body }: Operation): number {
  return Number(body?.fields.name?.bounds?.maxLength ?? Number.POSITIVE_INFINITY);
}

const prefix = 'petstore-smoke-';
/** A shorter name has too few random characters. */
const minNameLength = 20;

/** A unique name: its end is random, and its uuid contains the time. @see RFC 9562, 5.7 */
export function newName(now: Date, maxLength: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const uuid = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return `${prefix}${uuid}`.slice(-Math.min(maxLength, prefix.length + uuid.length));
}
