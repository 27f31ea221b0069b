import { randomBytes } from 'node:crypto';
import type { Contract } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { NounName, Operation } from '../api/operations.ts';
import { isJsonObject, type JsonObject } from '../process/exact-json.ts';

/** The records of a noun that `--write` creates, changes and removes. */
interface TestRecords {
  readonly nounName: NounName;
  /** The name of the records that these refer to, which stands before them. */
  readonly parent?: keyof typeof testRecords;
  /** Whether a record's name says whose it is. If not, its pet does. */
  readonly isNamed: boolean;
  /** Fields of a new record, and those that its update changes. */
  readonly fields: JsonObject;
  readonly change: JsonObject;
}

const testRecords = {
  category: {
    nounName: 'categories',
    isNamed: true,
    fields: { description: 'made by petstore smoke, removed at its end' },
    change: { description: 'changed by petstore smoke' },
  },
  pet: {
    nounName: 'pets',
    parent: 'category',
    isNamed: true,
    fields: { status: 'available' },
    change: { status: 'pending' },
  },
  inventory: {
    nounName: 'inventory',
    parent: 'pet',
    isNamed: false,
    fields: { quantity: 3, status: 'available' },
    change: { quantity: 7 },
  },
  order: {
    nounName: 'orders',
    parent: 'pet',
    isNamed: false,
    fields: { quantity: 1, shipDate: '2030-01-01T00:00:00Z', complete: false },
    change: { quantity: 2, complete: true },
  },
} as const;

/** A noun whose records can be written and read back, with the operations that the service has for it. */
export interface WritableNoun extends Omit<TestRecords, 'parent'> {
  /** The name of its check. */
  readonly name: string;
  readonly create: Operation;
  readonly remove: Operation;
  /** At least one of these two is there. */
  readonly get: Operation | undefined;
  readonly list: Operation | undefined;
  readonly update: Operation | undefined;
  /** The noun of the records that its records refer to. */
  readonly parent: WritableNoun | undefined;
}

/** The nouns by the names of their checks. A noun that cannot be written safely has the reason in its place, a clause. */
export function writableNouns(contract: Contract): ReadonlyMap<string, WritableNoun | string> {
  const resolved = new Map<string, WritableNoun | string>();
  for (const [name, records] of Object.entries<TestRecords>(testRecords)) {
    const parent =
      records.parent && needsParent(records, contract) ? resolved.get(records.parent) : undefined;
    resolved.set(name, typeof parent === 'string' ? parent : resolveNoun(name, records, parent, contract));
  }
  return resolved;
}

function resolveNoun(
  name: string,
  records: TestRecords,
  parent: WritableNoun | undefined,
  { operations, missing }: Contract,
): WritableNoun | string {
  const ids = nouns[records.nounName].operations;
  const [create, remove] = [operations.get(ids.create), operations.get(ids.delete)];
  if (!create || !remove) {
    const lacking = create ? ids.delete : ids.create;
    return `${lacking}: ${missing.get(lacking) ?? 'the contract lacks it'}`;
  }
  const [get, list, update] = [ids.get, ids.list, ids.update].map((id) => operations.get(id));
  if (!get && !list) return `a ${name} cannot be read back, so it would not certainly be ours`;
  if (records.isNamed && maxNameLength(create) < minNameLength)
    return `names may have only ${maxNameLength(create)} characters, too few to be certainly ours`;
  return { ...records, name, parent, create, remove, get, list, update };
}

/** Whether records refer to others: the pets of a bound service may have no id of a category. */
function needsParent({ nounName, parent }: TestRecords, { operations }: Contract): boolean {
  if (parent !== 'category') return true;
  const { categoryId } = operations.get(nouns[nounName].operations.create)?.body?.fields ?? {};
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
