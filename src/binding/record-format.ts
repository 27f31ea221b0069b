import { nouns } from '../api/nouns.ts';
import { type NounName, type Operation, operations } from '../api/operations.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { type Shape, shapeOf } from './schema.ts';
import { compactName, nounOf, singularWords } from './words.ts';

// The schemas of a document tell under which names, and inside which envelope, a service writes the records
// of a noun.

/** An operation of the table, which the binding looks for in a document. */
export interface TableOperation extends Operation {
  /** The names that `--map` gives to the fields of the noun, by our names. */
  readonly fieldMap: ReadonlyMap<string, string>;
}

/** Our names of the fields of a noun's records. */
export function recordFieldsOf(noun: NounName): string[] {
  return Object.keys(operations[nouns[noun].operations.get].records.names);
}

/**
 * Finds the fields of ours in the schema of a body or a record: by the names that the user gives, by our
 * names, or in other spellings. Returns the service's names by ours.
 */
export function fieldNamesOf(
  { noun, fieldMap }: Pick<TableOperation, 'noun' | 'fieldMap'>,
  shape: Shape,
): ReadonlyMap<string, string> {
  const mapped = new Set(fieldMap.values());
  const free = [...shape.fields.keys()].filter((name) => !mapped.has(name));
  const names = new Map<string, string>();
  for (const field of recordFieldsOf(noun)) {
    const spellings = field === 'id' ? ['id', `${singularWords(noun).join('')}id`] : [field.toLowerCase()];
    const isSpelled = (name: string) => name === field || spellings.includes(compactName(name));
    const name = fieldMap.get(field) ?? (free.includes(field) ? field : free.find(isSpelled));
    if (name !== undefined && shape.fields.has(name)) names.set(field, name);
  }
  if (noun !== 'pets' || names.has('categoryId') || !free.includes('category')) return names;
  const category = shape.fields.get('category');
  const isReference = shapeOf(category).kind === 'integer' || isCategoryObject(category);
  return isReference ? names.set('categoryId', 'category') : names;
}

/** Whether a category is an object `{id, name}`. */
export function isCategoryObject(schema: JsonValue | undefined): boolean {
  const { kind, fields } = shapeOf(schema);
  return kind === 'object' && (fields.has('id') || fields.has('name'));
}

/** The fields that a record of a noun must have; an order needs only one of them. */
const keyFields: Readonly<Record<NounName, readonly string[]>> = {
  pets: ['id', 'name'],
  categories: ['id', 'name'],
  orders: ['petId', 'quantity', 'shipDate', 'complete'],
  inventory: ['petId', 'quantity'],
};

/** Returns the key fields that a schema lacks; undefined if it describes a record of the noun. */
export function missingKeys(tableOperation: TableOperation, shape: Shape): readonly string[] | undefined {
  const names = fieldNamesOf(tableOperation, shape);
  const lacking = keyFields[tableOperation.noun].filter((field) => !names.has(field));
  const isLacking =
    tableOperation.noun === 'orders' ? lacking.length === keyFields.orders.length : lacking.length > 0;
  return isLacking ? lacking : undefined;
}

/** Whether a schema describes a record of a noun, by its fields. */
export function isRecord(tableOperation: TableOperation, shape: Shape): boolean {
  return shape.kind === 'object' && missingKeys(tableOperation, shape) === undefined;
}

/** The record or the records in an answer. */
interface RecordContent {
  /**
   * The fields that lead to them from the whole: `['data']`, `['_embedded', 'pets']`; empty if there are
   * none.
   */
  readonly envelope: readonly string[];
  /** The shape of one record. */
  readonly shape: Shape;
}

/**
 * Finds the record or the records in the answer of an operation; undefined if the answer of a list has no
 * list.
 */
export function recordsIn(tableOperation: TableOperation, answer: Shape): RecordContent | undefined {
  return tableOperation.isList ? listIn(tableOperation, answer) : recordIn(tableOperation, answer);
}

/** Fields of an envelope in which a list lies one level deeper. */
const outerEnvelope = /^(_embedded|data|result|response)$/;

/** Finds the list in an answer: the answer itself, or the only array of records in an object. */
function listIn(tableOperation: TableOperation, answer: Shape): RecordContent | undefined {
  if (answer.kind === 'array') return { envelope: [], shape: shapeOf(answer.items) };
  const lists = listsIn(tableOperation, answer);
  if (lists.length > 0) return lists.length === 1 ? lists[0] : undefined;
  for (const [field, schema] of answer.fields) {
    if (!outerEnvelope.test(field)) continue;
    const [list, ...others] = listsIn(tableOperation, shapeOf(schema));
    if (list && others.length === 0) return { ...list, envelope: [field, ...list.envelope] };
  }
  return undefined;
}

/** Finds the arrays among the fields of an object whose items may be records of the noun. */
function listsIn(tableOperation: TableOperation, { fields }: Shape): RecordContent[] {
  const lists = [...fields].flatMap(([field, schema]): RecordContent[] => {
    const { kind, items } = shapeOf(schema);
    return kind === 'array' ? [{ envelope: [field], shape: shapeOf(items) }] : [];
  });
  const certain = lists.filter(({ shape }) => isRecord(tableOperation, shape));
  return certain.length > 0 ? certain : lists.filter(({ shape }) => shape.kind === 'unknown');
}

/** Fields of an envelope that hold one record, beside those called like the noun. */
const innerEnvelope = /^(data|result|item|record)$/;

/** Finds the record in an answer: the whole, or the only record of the noun in an envelope. */
function recordIn(tableOperation: TableOperation, whole: Shape): RecordContent {
  if (whole.kind !== 'object' || isRecord(tableOperation, whole)) return { envelope: [], shape: whole };
  const inside = [...whole.fields].flatMap(([field, schema]): RecordContent[] => {
    if (!innerEnvelope.test(field) && nounOf(field) !== tableOperation.noun) return [];
    const shape = shapeOf(schema);
    return isRecord(tableOperation, shape) ? [{ envelope: [field], shape }] : [];
  });
  const [record, ...others] = inside;
  return record && others.length === 0 ? record : { envelope: [], shape: whole };
}
