import { originalOf, type RecordView, takesField, toView } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import { type Operation, operations, type RequestBody } from '../api/operations.ts';
import { UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';

// The two directions between the records of the program and those of a service. Above the client there are only our
// field names, and a pet's category is `categoryId`, with its name in `category` if the service sends it. The records of the
// built-in contract stay as they are.

/** The view of a record that a service sent. */
export function translateRecord(
  { noun, records, strict }: Operation,
  record: JsonObject,
): JsonObject & RecordView {
  if (strict) return record;
  const renamed = Object.entries(records.names).filter(([name, written]) => name !== written);
  const { categoryId = 'categoryId' } = records.names;
  const isElsewhere = categoryId === 'categoryId' && !('categoryId' in record);
  const reference = isElsewhere ? 'category' : categoryId;
  const hasCategory = noun === 'pets' && isJsonObject(record[reference]);
  if (renamed.length === 0 && !hasCategory) return record;
  const fields = Object.entries(record).flatMap(([written, value]) => {
    if (hasCategory && written === reference) return Object.entries(readCategory(value));
    const name = renamed.find(([, other]) => other === written)?.[0];
    // A field with our name that means something else there is in the original only.
    const isOther = name === undefined && renamed.some(([ours]) => ours === written);
    return isOther ? [] : [[name ?? written, value] as const];
  });
  return toView(Object.fromEntries(fields), record);
}

/** The category of a pet in an object with its id, its name or both. */
function readCategory(value: JsonValue | undefined): JsonObject {
  const { id, name } = isJsonObject(value) ? value : {};
  return {
    ...(id !== undefined && { categoryId: id }),
    ...(typeof name === 'string' && { category: name }),
  };
}

/** The record or the records in an answer, without the envelope around them; undefined if it has another shape. */
export function contentOf(
  { records, many }: Operation,
  answer: JsonValue | undefined,
): JsonValue | undefined {
  if (many && Array.isArray(answer)) return answer;
  let content: JsonValue | undefined = answer;
  for (const field of records.envelope) content = isJsonObject(content) ? content[field] : undefined;
  return content;
}

/**
 * The body as the service takes it: the changes, with all other fields as they came if the record is replaced.
 *
 * @param changes by our names; a field with the value undefined is removed. A category is an id, or `{id, name}`.
 * @param before the record as it was read, if the body changes one.
 * @throws UsageError for a field that the service does not take, or that it cannot remove.
 */
export function toWire(operation: Operation, changes: JsonObject, before?: object): JsonObject {
  const { id, body, method } = operation;
  if (!body) return changes;
  const original = before && (originalOf(before) as JsonObject);
  const fields: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(changes)) {
    const wireName = wireNameOf(body, name);
    if (value === undefined) {
      if (method === 'PATCH' && original && Object.hasOwn(original, wireName))
        fields.push([wireName, nullFor(id, body, name)]);
      continue;
    }
    // The status of an entry is that of its pet: not every service asks for it.
    if (id === 'createInventory' && name === 'status' && !takesField(operation, name)) continue;
    checkTaken(operation, name);
    fields.push([wireName, name === 'categoryId' ? writeCategory(value, body) : value]);
  }
  // Not by assignment: a field may be called `__proto__`.
  const sent: JsonObject = Object.fromEntries(fields);
  if (!original) return sent;
  // In the order of the record, so that a PUT changes nothing else.
  const unchanged = Object.entries(original).filter(
    ([wireName, value]) =>
      Object.hasOwn(sent, wireName) || isSentBack(operation, body, changes, wireName, value),
  );
  return { ...Object.fromEntries(unchanged), ...sent };
}

/** The service's name of a field of a body. */
export function wireNameOf({ fields }: RequestBody, name: string): string {
  return Object.hasOwn(fields, name) ? (fields[name]?.wireName ?? name) : name;
}

/** Null for a field that an update removes. @throws UsageError if the service takes no null there. */
function nullFor(id: string, { fields }: RequestBody, name: string): null {
  if (fields[name]?.removable) return null;
  throw new UsageError(
    `${name} cannot be removed: ${id} of the service takes only changes, and no null for it`,
  );
}

/** Whether an update has a field of the record as it was read, which is not among the changes. */
function isSentBack(
  { id, noun, method }: Operation,
  { fields, readOnly, isClosed }: RequestBody,
  changes: JsonObject,
  wireName: string,
  value: JsonValue | undefined,
): boolean {
  const ours = Object.entries(fields).find(([, field]) => field.wireName === wireName)?.[0];
  // A field with our name that means something else there is not ours.
  const name = ours ?? (Object.hasOwn(fields, wireName) ? '' : wireName);
  if (Object.hasOwn(changes, name)) return false;
  if (method === 'PATCH') return fields[name]?.required === true;
  if (readOnly.includes(wireName)) return false;
  const { body, records } = operations[id];
  if (body && Object.hasOwn(body.fields, name) && value === null) return false;
  const isListed = Object.hasOwn(fields, name || wireName);
  // A count is set in a body of its own, which has further fields of the entry only if it says so.
  return isListed || (noun !== 'inventory' && !isClosed && !Object.hasOwn(records.names, name));
}

/** @throws UsageError for a field of ours, or any other in a closed body, that the service does not take. */
function checkTaken(operation: Operation, name: string): void {
  const { id, noun, body } = operation;
  if (takesField(operation, name) || (body?.hasId && name === nouns[noun].idField)) return;
  const isOurs = Object.hasOwn(operations[id].body?.fields ?? {}, name);
  if (body?.isClosed || isOurs)
    throw new UsageError(`${id} of the service has no field ${name}`, 'see `petstore api operations`');
}

/** @param value an id, a name, or `{id, name}`. */
function writeCategory(value: JsonValue, { fields }: RequestBody): JsonValue {
  const category = isJsonObject(value) ? value : { [typeof value === 'string' ? 'name' : 'id']: value };
  const { id, name } = category;
  const example = fields.categoryId?.example;
  if (isJsonObject(example))
    return Object.fromEntries(
      Object.entries(category).filter(([field]) => !/^(id|name)$/.test(field) || field in example),
    );
  if (id !== undefined) return id;
  throw new UsageError(
    `category '${name}': the service takes the id of a category, and has no list of categories to find it in`,
    'give the id',
  );
}
