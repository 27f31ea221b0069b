import type { NounName, Operation } from '../api/operations.ts';
import { fieldTypes, type ResultName } from '../api/schemas.ts';
import { nounOf, plain, wordsOf } from './nouns.ts';
import { type Shape, shapeOf } from './schema.ts';

// How the schemas of a document write the records of a noun: under which names, and inside which envelope.

/** An operation of the table that is sought in a document. */
export interface Wanted extends Operation {
  /** What the user says that the service calls the fields of the noun, by our names. */
  readonly fieldMap: ReadonlyMap<string, string>;
}

const results: Readonly<Record<NounName, ResultName>> = {
  pets: 'Pet',
  categories: 'Category',
  orders: 'Order',
  inventory: 'InventoryItem',
};

/** Our names of the fields of a noun's records. */
export function fieldsOf(noun: NounName): string[] {
  return [...fieldTypes(results[noun]).keys()];
}

/** How a schema writes the fields that the program knows. */
export interface FieldNames {
  /** The service's name of each field that it has, by our name. */
  readonly names: ReadonlyMap<string, string>;
  /** Whether the category is an object `{id, name}`. */
  readonly hasCategoryObject: boolean;
}

/** The known fields that the schema of a body or a record has: as the user says, by our names, or in other spellings. */
export function fieldNamesOf(
  { noun, fieldMap }: Pick<Wanted, 'noun' | 'fieldMap'>,
  shape: Shape,
): FieldNames {
  const mapped = new Set(fieldMap.values());
  const free = [...shape.fields.keys()].filter((name) => !mapped.has(name));
  const names = new Map<string, string>();
  for (const field of fieldsOf(noun)) {
    const spellings = field === 'id' ? ['id', `${wordsOf(noun).join('')}id`] : [field.toLowerCase()];
    const isSpelled = (name: string) => name === field || spellings.includes(plain(name));
    const name = fieldMap.get(field) ?? (free.includes(field) ? field : free.find(isSpelled));
    if (name !== undefined && shape.fields.has(name)) names.set(field, name);
  }
  if (noun !== 'pets') return { names, hasCategoryObject: false };
  const written = names.get('categoryId') ?? free.find((name) => name === 'category') ?? '';
  const { kind, fields } = shapeOf(shape.fields.get(written));
  const hasCategoryObject = kind === 'object' && (fields.has('id') || fields.has('name'));
  if (kind === 'integer' || hasCategoryObject) names.set('categoryId', written);
  return { names, hasCategoryObject };
}

/** The fields without which an answer is no record of a noun; of an order, one of them is enough. */
const keys: Readonly<Record<NounName, readonly string[]>> = {
  pets: ['id', 'name'],
  categories: ['id', 'name'],
  orders: ['petId', 'quantity', 'shipDate', 'complete'],
  inventory: ['petId', 'quantity'],
};

/** The fields that a schema lacks to be a record of a noun; undefined if it is one. */
export function lackOf(wanted: Wanted, shape: Shape): readonly string[] | undefined {
  const { names } = fieldNamesOf(wanted, shape);
  const lacking = keys[wanted.noun].filter((field) => !names.has(field));
  const isLacking = wanted.noun === 'orders' ? lacking.length === keys.orders.length : lacking.length > 0;
  return isLacking ? lacking : undefined;
}

/** Whether a schema describes a record of a noun, by its fields. */
export function isRecord(wanted: Wanted, shape: Shape): boolean {
  return shape.kind === 'object' && lackOf(wanted, shape) === undefined;
}

/** The record or the records in an answer. */
interface RecordContent {
  /** The fields that lead to them from the whole: `['data']`, `['_embedded', 'pets']`; empty if there are none. */
  readonly envelope: readonly string[];
  /** Of one record. */
  readonly shape: Shape;
}

/** The record or the records in the answer of an operation; undefined if it has no list where there should be one. */
export function recordsIn(wanted: Wanted, answer: Shape): RecordContent | undefined {
  return wanted.many ? listIn(wanted, answer) : recordIn(wanted, answer);
}

/** Fields of an envelope in which a list lies one level deeper. */
const outer = /^(_embedded|data|result|response)$/;

/** The list in an answer: the answer itself, or the one array of records in an object. */
function listIn(wanted: Wanted, answer: Shape): RecordContent | undefined {
  if (answer.kind === 'array') return { envelope: [], shape: shapeOf(answer.items) };
  const lists = listsIn(wanted, answer);
  if (lists.length > 0) return lists.length === 1 ? lists[0] : undefined;
  for (const [field, schema] of answer.fields) {
    if (!outer.test(field)) continue;
    const [list, ...others] = listsIn(wanted, shapeOf(schema));
    if (list && others.length === 0) return { ...list, envelope: [field, ...list.envelope] };
  }
  return undefined;
}

/** The arrays among the fields of an object whose items may be records of the noun. */
function listsIn(wanted: Wanted, { fields }: Shape): RecordContent[] {
  const lists = [...fields].flatMap(([field, schema]): RecordContent[] => {
    const { kind, items } = shapeOf(schema);
    return kind === 'array' ? [{ envelope: [field], shape: shapeOf(items) }] : [];
  });
  const certain = lists.filter(({ shape }) => isRecord(wanted, shape));
  return certain.length > 0 ? certain : lists.filter(({ shape }) => shape.kind === 'unknown');
}

/** Fields of an envelope that hold one record, beside those called like the noun. */
const inner = /^(data|result|item|record)$/;

/** The record in an answer: the whole, or the one record of the noun in an envelope. */
function recordIn(wanted: Wanted, whole: Shape): RecordContent {
  if (whole.kind !== 'object' || isRecord(wanted, whole)) return { envelope: [], shape: whole };
  const inside = [...whole.fields].flatMap(([field, schema]): RecordContent[] => {
    if (!inner.test(field) && nounOf(field) !== wanted.noun) return [];
    const shape = shapeOf(schema);
    return isRecord(wanted, shape) ? [{ envelope: [field], shape }] : [];
  });
  const [record, ...others] = inside;
  return record && others.length === 0 ? record : { envelope: [], shape: whole };
}
