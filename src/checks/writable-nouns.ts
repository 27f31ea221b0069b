import { randomBytes } from 'node:crypto';
import { type Contract, lackingFields, takesField } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { NounName, Operation } from '../api/operations.ts';
import type { JsonObject } from '../process/exact-json.ts';

/** A noun whose records can be created, deleted and read back. */
export interface WritableNoun {
  /** The name of its check. */
  readonly name: string;
  readonly nounName: NounName;
  /** True if its records have a name, which shows that smoke created them. If not, the parent shows that. */
  readonly isNamed: boolean;
  /** The fields of a new record, besides its name and its parent. */
  readonly fields: JsonObject;
  /** The fields that the update changes; empty if there is no update, or if it takes none of them. */
  readonly change: JsonObject;
  /** The noun of the records that the records of this noun refer to. */
  readonly parent: WritableNoun | undefined;
  readonly create: Operation;
  readonly list: Operation | undefined;
}

/** What smoke writes of a noun, if the service takes all of it. The parent comes before it in the table. */
type Template = Omit<WritableNoun, 'parent' | 'create' | 'list'> & { readonly parent?: string };

const templates: readonly Template[] = [
  {
    name: 'category',
    nounName: 'categories',
    isNamed: true,
    fields: { description: 'made by petstore smoke, removed at its end' },
    change: { description: 'changed by petstore smoke' },
  },
  {
    name: 'pet',
    nounName: 'pets',
    isNamed: true,
    parent: 'category',
    fields: { status: 'available' },
    change: { status: 'pending' },
  },
  {
    name: 'inventory',
    nounName: 'inventory',
    isNamed: false,
    parent: 'pet',
    fields: { quantity: 3 },
    change: { quantity: 7 },
  },
  {
    name: 'order',
    nounName: 'orders',
    isNamed: false,
    parent: 'pet',
    fields: { quantity: 1, shipDate: '2030-01-01T00:00:00Z', complete: false },
    change: { quantity: 2, complete: true },
  },
];

/** Returns the nouns by the names of their checks, or the reason why a noun cannot be written safely, a clause. */
export function writableNouns(contract: Contract): ReadonlyMap<string, WritableNoun | string> {
  const writable = new Map<string, WritableNoun | string>();
  for (const template of templates) {
    const { name, parent: parentName } = template;
    const parent = parentName && needsParent(template, contract) ? writable.get(parentName) : undefined;
    writable.set(name, typeof parent === 'string' ? parent : resolveNoun(template, parent, contract));
  }
  return writable;
}

/** Completes a template with what the service offers and requires. Returns the reason if that is not possible, a clause. */
function resolveNoun(
  template: Template,
  parent: WritableNoun | undefined,
  { operations, missing }: Contract,
): WritableNoun | string {
  const { name, nounName, isNamed, fields, change } = template;
  const ids = nouns[nounName].operations;
  const create = operations.get(ids.create);
  if (!create || !operations.has(ids.delete)) {
    const missingId = create ? ids.delete : ids.create;
    return `${missingId}: ${missing.get(missingId)?.why ?? 'the contract lacks it'}`;
  }
  const [list, update] = [operations.get(ids.list), operations.get(ids.update)];
  if (!operations.has(ids.get) && !list)
    return `a ${name} cannot be read back, so it would not certainly be ours`;
  const mark = isNamed ? 'name' : parent && nouns[parent.nounName].idName;
  if (mark && !takesField(create, mark))
    return `${create.id} takes no ${mark}, so a ${name} would not certainly be ours`;
  const bodyFields = create.body?.fields ?? {};
  const maxLength = Number(bodyFields.name?.bounds?.maxLength ?? nameLength);
  if (isNamed && maxLength < nameLength)
    return `names may have only ${maxLength} characters, too few to be certainly ours`;
  const isEntry = nounName === 'inventory';
  const own = {
    ...(isNamed && { name }),
    ...(parent && { [nouns[parent.nounName].idName]: 0 }),
    ...(isEntry && { status: '' }),
    ...fields,
  };
  const lacking = lackingFields(create, own);
  // A value that is made up may name a record of somebody else.
  const unknown = lacking.find((field) => isEntry || bodyFields[field]?.example === undefined);
  if (unknown !== undefined)
    return `${create.id} requires ${bodyFields[unknown]?.wireName ?? unknown}, for which its description states no value`;
  const stated = lacking.map((field) => [field, bodyFields[field]?.example ?? null]);
  return {
    ...{ name, nounName, isNamed, create, list, parent },
    fields: { ...takenFields(fields, create), ...Object.fromEntries(stated) },
    change: takenFields(change, update),
  };
}

/** Returns the values that an operation takes. */
function takenFields(values: JsonObject, operation: Operation | undefined): JsonObject {
  const entries = Object.entries(values).filter(([field]) => operation && takesField(operation, field));
  return Object.fromEntries(entries);
}

/** Returns true if a noun needs a parent record. The pets of a bound service may have no id of a category. */
function needsParent({ nounName, parent }: Template, { operations }: Contract): boolean {
  if (parent !== 'category') return true;
  const { categoryId } = operations.get(nouns[nounName].operations.create)?.body?.fields ?? {};
  // If the category of a pet is a name, no category record is needed.
  if (!categoryId || typeof categoryId.example === 'string') return false;
  return categoryId.required || operations.has('createCategory');
}

const prefix = 'petstore-smoke-';
const nameLength = prefix.length + 36;

/** Makes a unique name for a new record: a prefix and a UUIDv7. @see RFC 9562, 5.7 */
export function createName(now: Date): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const uuid = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return `${prefix}${uuid}`;
}
