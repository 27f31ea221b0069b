import { randomUUID } from 'node:crypto';
import { type Contract, fieldBounds, lackingFields, requireOperation, takesField } from '../api/contract.ts';
import { type Noun, nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { foldCase } from '../process/text.ts';

/** A kind of record that smoke can create, read back and delete. */
export interface RecordKind {
  /** The name of its check. */
  readonly name: string;
  readonly noun: Noun;
  /** True if its records have a name, which shows that smoke created them. If not, the parent shows that. */
  readonly isNamed: boolean;
  /** The fields of a new record, besides its name and its parent. */
  readonly fields: JsonObject;
  /** The fields that the update changes; empty if there is no update, or if it takes none of them. */
  readonly change: JsonObject;
  /** The kind of the records that these records refer to. */
  readonly parent: RecordKind | undefined;
  readonly create: Operation;
  readonly list: Operation | undefined;
}

type Template = Pick<RecordKind, 'noun' | 'fields' | 'change'>;

/** The values that smoke writes, by the name of the check. Fields that the service does not take are left out. */
const templates = {
  category: {
    noun: nouns.categories,
    fields: { description: 'made by petstore smoke, removed at its end' },
    change: { description: 'changed by petstore smoke' },
  },
  pet: { noun: nouns.pets, fields: { status: 'available' }, change: { status: 'pending' } },
  inventory: { noun: nouns.inventory, fields: { quantity: 3 }, change: { quantity: 7 } },
  order: {
    noun: nouns.orders,
    fields: { quantity: 1, shipDate: '2030-01-01T00:00:00Z', complete: false },
    change: { quantity: 2, complete: true },
  },
} satisfies Record<string, Template>;

/** Returns the kinds of test records by the names of their checks, or the reason why one cannot be written safely, a clause. */
export function recordKinds(contract: Contract): ReadonlyMap<string, RecordKind | string> {
  const category = resolveKind('category', undefined, contract);
  const pet = resolveKind('pet', needsCategory(contract) ? category : undefined, contract);
  return new Map([
    ['category', category],
    ['pet', pet],
    ['inventory', resolveKind('inventory', pet, contract)],
    ['order', resolveKind('order', pet, contract)],
  ]);
}

/** Completes a template with the fields that the service takes and requires, or returns a clause that says why it cannot. */
function resolveKind(
  name: keyof typeof templates,
  parent: RecordKind | string | undefined,
  contract: Contract,
): RecordKind | string {
  const { operations, missing } = contract;
  if (typeof parent === 'string') return parent;
  const { noun, fields, change }: Template = templates[name];
  const isNamed = noun.fields.some(({ kind }) => kind === 'name');
  const ids = noun.operations;
  const missingId = [ids.create, ids.get, ids.delete].find((id) => !operations.has(id));
  if (missingId !== undefined) return `${missingId}: ${missing.get(missingId)}`;
  const create = requireOperation(contract, ids.create);
  const proof = isNamed ? 'name' : parent?.noun.idName;
  if (proof && !takesField(create, proof))
    return `${create.id} takes no ${proof}, so smoke could not recognise its own ${name}`;
  const bodyFields = create.body?.fields ?? {};
  const maxLength = bodyFields.name?.bounds?.maxLength;
  if (isNamed && Number(maxLength ?? nameLength) < nameLength)
    return `names may have only ${maxLength} characters, and those of smoke have ${nameLength}`;
  const parentField = parent && { [parent.noun.idName]: 0 };
  const templateFields = {
    ...(isNamed && { name }),
    ...parentField,
    ...(noun.isCount && { status: '' }),
    ...fields,
  };
  const lackingNames = lackingFields(create, templateFields);
  // An invented value could name a record of somebody else.
  const unknown = lackingNames.find((field) => noun.isCount || bodyFields[field]?.example === undefined);
  if (unknown !== undefined)
    return `${create.id} requires ${bodyFields[unknown]?.wireName ?? unknown}, for which its description states no value`;
  const words = (values: JsonObject) => inWordsOf(contract, noun, values);
  const statedValues = lackingNames.map((field) => [field, bodyFields[field]?.example ?? null]);
  return {
    name,
    noun,
    isNamed,
    create,
    list: operations.get(ids.list),
    parent,
    fields: { ...takenFields(words(fields), create), ...Object.fromEntries(statedValues) },
    change: takenFields(words(change), operations.get(ids.update)),
  };
}

/** Returns values with a status in the words of the service: its own spelling, or else another of its words. */
function inWordsOf(contract: Contract, noun: Noun, values: JsonObject): JsonObject {
  const { enum: words } = fieldBounds(contract, noun.name, 'status') ?? {};
  const { status } = values;
  if (!words || typeof status !== 'string') return values;
  const own = words.find((word) => foldCase(word) === foldCase(status));
  return { ...values, status: own ?? words.at(status === 'available' ? 0 : -1) ?? status };
}

function takenFields(values: JsonObject, operation: Operation | undefined): JsonObject {
  const entries = Object.entries(values).filter(([field]) => operation && takesField(operation, field));
  return Object.fromEntries(entries);
}

/** Returns true if a new pet needs the id of a category. The pets of a bound service may have none. */
function needsCategory({ operations }: Contract): boolean {
  const { categoryId } = operations.get('createPet')?.body?.fields ?? {};
  // If the category of a pet is a name, no category record is needed.
  if (!categoryId || typeof categoryId.example === 'string') return false;
  return categoryId.required || operations.has('createCategory');
}

const prefix = 'petstore-smoke-';
const nameLength = prefix.length + randomUUID().length;

/** Makes a unique name for a new record: a prefix and a UUIDv7. @see RFC 9562, 5.7 */
export function createName(now: Date): string {
  const ms = now.getTime().toString(16).padStart(12, '0');
  // The random digits, the variant and the form are those of a UUIDv4.
  return `${prefix}${ms.slice(0, 8)}-${ms.slice(8)}-7${randomUUID().slice(15)}`;
}
