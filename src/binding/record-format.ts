import type { NounName, Operation } from '../api/operations.ts';
import { fieldTypes, type ResultName } from '../api/schemas.ts';
import { nounOf, plain, wordsOf } from './nouns.ts';
import { type Shape, shapeOf } from './schema.ts';

// How the schemas of a document write the records of a noun: under which names, and inside which envelope.

const results: Readonly<Record<NounName, ResultName>> = {
  pets: 'Pet',
  categories: 'Category',
  orders: 'Order',
  inventory: 'InventoryItem',
};

/** How a schema writes the fields that the program knows. */
export interface FieldNames {
  /** The service's name of each field that it has, by our name. */
  readonly names: ReadonlyMap<string, string>;
  /** How a field `category` stands for `categoryId`, if one does. */
  readonly category: 'object' | 'name' | undefined;
}

/** The known fields that the schema of a body or a record has: by their own names, or as snake_case and other spellings. */
export function fieldNamesOf(noun: NounName, shape: Shape): FieldNames {
  const names = new Map<string, string>();
  for (const field of fieldTypes(results[noun]).keys()) {
    const spellings = field === 'id' ? ['id', `${wordsOf(noun).join('')}id`] : [field.toLowerCase()];
    const found = shape.fields.has(field)
      ? field
      : [...shape.fields.keys()].find((each) => spellings.includes(plain(each)));
    if (found !== undefined) names.set(field, found);
  }
  const category = names.has('categoryId') || noun !== 'pets' ? undefined : shape.fields.get('category');
  if (category === undefined) return { names, category: undefined };
  const { kind, fields } = shapeOf(category);
  const form = kind === 'string' ? 'name' : fields.has('id') || fields.has('name') ? 'object' : undefined;
  if (kind === 'integer' || form) names.set('categoryId', 'category');
  return { names, category: form };
}

/** The fields without which an answer is no record of a noun; of an order, one of them is enough. */
const keys: Readonly<Record<NounName, readonly string[]>> = {
  pets: ['id', 'name'],
  categories: ['id', 'name'],
  orders: ['petId', 'quantity', 'shipDate', 'complete'],
  inventory: ['petId', 'quantity'],
};

/** The fields that a schema lacks to be a record of a noun; undefined if it is one. */
export function lackOf(noun: NounName, shape: Shape): readonly string[] | undefined {
  const { names } = fieldNamesOf(noun, shape);
  const lacking = keys[noun].filter((field) => !names.has(field));
  const isLacking = noun === 'orders' ? lacking.length === keys.orders.length : lacking.length > 0;
  return isLacking ? lacking : undefined;
}

/** Whether a schema describes a record of a noun, by its fields. */
export function isRecord(noun: NounName, shape: Shape): boolean {
  return shape.kind === 'object' && lackOf(noun, shape) === undefined;
}

/** The record or the records in an answer. */
interface RecordContent {
  /** The fields that lead to them from the whole: `['data']`, `['_embedded', 'pets']`; empty if there are none. */
  readonly envelope: readonly string[];
  /** Of one record. */
  readonly shape: Shape;
}

/** The record or the records in the answer of an operation; undefined if it has no list where there should be one. */
export function recordsIn({ many, noun }: Operation, answer: Shape): RecordContent | undefined {
  return many ? listIn(answer, noun) : recordIn(answer, noun);
}

/** Fields of an envelope in which a list lies one level deeper. */
const outer = /^(_embedded|data|result|response)$/;

/** The list in an answer: the answer itself, or the one array of records in an object. */
function listIn(answer: Shape, noun: NounName): RecordContent | undefined {
  if (answer.kind === 'array') return { envelope: [], shape: shapeOf(answer.items) };
  const lists = listsIn(answer, noun);
  if (lists.length > 0) return lists.length === 1 ? lists[0] : undefined;
  for (const [field, schema] of answer.fields) {
    if (!outer.test(field)) continue;
    const [found, ...others] = listsIn(shapeOf(schema), noun);
    if (found && others.length === 0) return { ...found, envelope: [field, ...found.envelope] };
  }
  return undefined;
}

/** The arrays among the fields of an object whose items may be records of a noun. */
function listsIn({ fields }: Shape, noun: NounName): RecordContent[] {
  const lists = [...fields].flatMap(([field, schema]): RecordContent[] => {
    const { kind, items } = shapeOf(schema);
    return kind === 'array' ? [{ envelope: [field], shape: shapeOf(items) }] : [];
  });
  const certain = lists.filter(({ shape }) => isRecord(noun, shape));
  return certain.length > 0 ? certain : lists.filter(({ shape }) => shape.kind === 'unknown');
}

/** Fields of an envelope that hold one record, beside those called like the noun. */
const inner = /^(data|result|item|record)$/;

/** The record in an answer: the whole, or the one record of the noun in an envelope. */
function recordIn(whole: Shape, noun: NounName): RecordContent {
  if (whole.kind !== 'object' || isRecord(noun, whole)) return { envelope: [], shape: whole };
  const inside = [...whole.fields].flatMap(([field, schema]): RecordContent[] => {
    if (!inner.test(field) && nounOf(field) !== noun) return [];
    const shape = shapeOf(schema);
    return isRecord(noun, shape) ? [{ envelope: [field], shape }] : [];
  });
  const [found, ...others] = inside;
  return found && others.length === 0 ? found : { envelope: [], shape: whole };
}
