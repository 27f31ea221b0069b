import { type Noun, type NounName, nouns } from '../api/nouns.ts';
import { type Operation, operations, takesId } from '../api/operations.ts';
import { compactName } from '../process/text.ts';
import type { Shape } from './schema.ts';

// Finds the names of fields and the envelopes of a service's records in the schemas of its description.

/** An operation of the table, with the field names that the user chose. */
export interface TableOperation extends Operation {
  /** The names that `--map` gives to the fields of the noun, by our names. */
  readonly fieldMap: ReadonlyMap<string, string>;
}

/** Lists the fields of a noun's records by our names. */
export function recordFieldsOf(noun: NounName): string[] {
  return Object.keys(operations[nouns[noun].operations.get].recordForm.names);
}

/**
 * Finds our fields in the schema of a body or a record, by `--map`, by our names, or by other spellings. Returns the service's
 * names by ours.
 */
export function fieldNamesOf(
  { noun, fieldMap }: Pick<TableOperation, 'noun' | 'fieldMap'>,
  shape: Shape,
): ReadonlyMap<string, string> {
  const mappedNames = new Set(fieldMap.values());
  const otherNames = [...shape.fields.keys()].filter((name) => !mappedNames.has(name));
  const names = new Map<string, string>();
  for (const field of recordFieldsOf(noun)) {
    const spellings = (field === 'id' ? ['id', nouns[noun].idName] : [field]).map(compactName);
    const name =
      fieldMap.get(field) ??
      (otherNames.includes(field) ? field : otherNames.find((each) => spellings.includes(compactName(each))));
    if (name !== undefined && shape.fields.has(name)) names.set(field, name);
  }
  if (noun !== 'pets' || names.has('categoryId') || !otherNames.includes('category')) return names;
  const category = shape.field('category');
  const isReference = category.kind === 'integer' || isCategoryObject(category);
  return isReference ? names.set('categoryId', 'category') : names;
}

/** Returns true if a category is an object `{id}` or `{id, name}`. */
export function isCategoryObject(shape: Shape): boolean {
  return shape.kind === 'object' && shape.fields.has('id');
}

/** Returns the fields that the answer of an operation must have. An entry need not have the id of its pet if that is in the path. */
export function keyFieldsOf({ id, noun }: TableOperation, path: string): readonly string[] {
  const { keyFields, isCount, idField }: Noun = nouns[noun];
  const hasIdInPath = isCount && takesId(id) && path.includes('{');
  return hasIdInPath ? keyFields.filter((field) => field !== idField) : keyFields;
}

/** Returns true if a schema describes a record of a noun, by its fields. */
export function isRecord(
  tableOperation: TableOperation,
  shape: Shape,
  keyFields: readonly string[] = nouns[tableOperation.noun].keyFields,
): boolean {
  const names = fieldNamesOf(tableOperation, shape);
  return shape.kind === 'object' && keyFields.every((field) => names.has(field));
}

/** The place of the record or the list in an answer. */
interface RecordContent {
  /** The path of fields to the record or the list: `['_embedded', 'pets']`. Empty if the answer itself is the record or the list. */
  readonly envelope: readonly string[];
  readonly shape: Shape;
}

/** Finds the record or the list in an answer. Returns undefined if an operation that lists has no list in its answer. */
export function recordsIn(tableOperation: TableOperation, answer: Shape): RecordContent | undefined {
  return tableOperation.isList ? listContent(tableOperation, answer) : recordIn(tableOperation, answer);
}

/** Finds the record that the bound get or list of a noun shows. Returns undefined if the description does not have its fields. */
export function shownRecord(
  tableRead: TableOperation,
  answer: { readonly shape: Shape } | undefined,
): Shape | undefined {
  const shape = answer && recordsIn(tableRead, answer.shape)?.shape;
  return shape && shape.fields.size > 0 ? shape : undefined;
}

/**
 * Finds the list in an answer: the answer itself, or the only array of records in an object. If none has records of the noun, it
 * is the only array of other objects.
 */
function listContent(tableOperation: TableOperation, answer: Shape): RecordContent | undefined {
  if (answer.kind === 'array') return { envelope: [], shape: answer.items };
  const inner = [...answer.fields].flatMap(([field, shape]) =>
    outerEnvelope.test(field) ? arraysIn(shape, [field]) : [],
  );
  const arrays = [...arraysIn(answer), ...inner];
  const records = arrays.filter(({ shape }) => isRecord(tableOperation, shape));
  const others = arrays.filter(({ shape: { kind } }) => kind === 'object' || kind === 'unknown');
  const lists = records.length > 0 ? records : others;
  return lists.length === 1 ? lists[0] : undefined;
}

/** Fields of an envelope in which a list lies one level deeper. */
const outerEnvelope = /^(_embedded|data|result|response)$/;

function arraysIn({ fields }: Shape, outer: readonly string[] = []): RecordContent[] {
  return [...fields].flatMap(([field, { kind, items }]) =>
    kind === 'array' ? [{ envelope: [...outer, field], shape: items }] : [],
  );
}

/**
 * Finds the record in an answer: the answer itself, or the only record in it. An object with some of our fields is a record itself, not
 * an envelope, for example a pet with its category.
 */
function recordIn(tableOperation: TableOperation, answer: Shape): RecordContent {
  const records = [...answer.fields].filter(([, shape]) => isRecord(tableOperation, shape));
  const [record, ...others] = fieldNamesOf(tableOperation, answer).size === 0 ? records : [];
  return record && others.length === 0
    ? { envelope: [record[0]], shape: record[1] }
    : { envelope: [], shape: answer };
}
