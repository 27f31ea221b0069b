import { originalOf, type RecordView, takesField, toView } from '../api/contract.ts';
import type { Operation, RequestBody } from '../api/operations.ts';
import { bodySchemas, resultSchemas } from '../api/schemas.ts';
import { UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';

// The two directions between the records of the program and those of a service. Above the client there are only our
// field names, and a pet's category is `categoryId`, with its name in `category` if the service sends it. An operation of
// the table has no wire format: only the reference to a category is rewritten.

/** The view of a record that a service sent. */
export function translateRecord({ noun, wire }: Operation, record: JsonObject): JsonObject & RecordView {
  if (!wire) return record;
  const { names } = wire;
  const ours = Object.entries(names);
  const { categoryId: reference = 'category' in record && !('categoryId' in record) ? 'category' : '' } =
    names;
  const hasCategory = noun === 'pets' && isJsonObject(record[reference]);
  if (ours.length === 0 && !hasCategory) return record;
  const fields = Object.entries(record).flatMap(([written, value]) => {
    if (hasCategory && written === reference) return Object.entries(readCategory(value));
    const name = ours.find(([, other]) => other === written)?.[0];
    // A field with our name that means something else there is in the original only.
    return name === undefined && Object.hasOwn(names, written) ? [] : [[name ?? written, value] as const];
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
export function contentOf({ wire, many }: Operation, answer: JsonValue | undefined): JsonValue | undefined {
  if (many && Array.isArray(answer)) return answer;
  let content: JsonValue | undefined = answer;
  for (const field of wire?.envelope ?? []) content = isJsonObject(content) ? content[field] : undefined;
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
  const { id, body, wire, method } = operation;
  // A short cut for bulk runs: without a wire format the body stays as it is.
  if (!wire && !before && typeof changes.categoryId !== 'object') return changes;
  const { bodyNames = {}, hasCategoryObject = false } = wire ?? {};
  const original = before && (originalOf(before) as JsonObject);
  const fields: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(changes)) {
    const written = bodyNames[name] ?? name;
    if (value === undefined) {
      if (method === 'PATCH' && original && Object.hasOwn(original, written))
        fields.push([written, nullFor(operation, name)]);
      continue;
    }
    // The status of an entry is that of its pet: not every service asks for it.
    if (id === 'createInventory' && name === 'status' && !takesField(operation, name)) continue;
    checkTaken(id, body, name);
    fields.push([written, name === 'categoryId' ? writeCategory(value, hasCategoryObject, body) : value]);
  }
  // Not by assignment: a field may be called `__proto__`.
  const sent: JsonObject = Object.fromEntries(fields);
  if (!original || !body) return sent;
  // In the order of the record, so that a PUT changes nothing else.
  const kept = Object.entries(original).filter(
    ([written, value]) =>
      Object.hasOwn(sent, written) || isSentBack(operation, body, changes, written, value),
  );
  return { ...Object.fromEntries(kept), ...sent };
}

/** Null for a field that an update removes. @throws UsageError if the service takes no null there. */
function nullFor({ id, body }: Operation, name: string): null {
  if (body?.removable?.includes(name)) return null;
  throw new UsageError(
    `${name} cannot be removed: ${id} of the service takes only changes, and no null for it`,
  );
}

/** Whether an update has a field of the record as it was read, which is not among the changes. */
function isSentBack(
  { noun, method, result, wire }: Operation,
  body: RequestBody,
  changes: JsonObject,
  written: string,
  value: JsonValue | undefined,
): boolean {
  const { bodyNames = {} } = wire ?? {};
  const mapped = Object.entries(bodyNames).find(([, other]) => other === written)?.[0];
  // A field with our name that means something else there is not ours.
  const name = mapped ?? (Object.hasOwn(bodyNames, written) ? '' : written);
  if (Object.hasOwn(changes, name)) return false;
  if (method === 'PATCH') return body.required.includes(name);
  if (body.readOnly?.includes(name)) return false;
  const isOurs = Object.hasOwn(bodySchemas[body.name].entries, name);
  const isOfRecord = result !== undefined && Object.hasOwn(resultSchemas[result].entries, name);
  if (isOurs && value === null) return false;
  const isListed = body.fields !== undefined && Object.hasOwn(body.fields, name || written);
  // A count is set in a body of its own, which has further fields of the entry only if it says so.
  if (noun === 'inventory') return isListed;
  if (body.fields && (body.isClosed || isOfRecord)) return isListed;
  return isOurs || !isOfRecord;
}

/** @throws UsageError for a field of ours, or any other in a closed body, that the service does not take. */
function checkTaken(id: string, body: RequestBody | undefined, name: string): void {
  if (!body?.fields || Object.hasOwn(body.fields, name) || name === body.idField) return;
  if (!body.isClosed && !Object.hasOwn(bodySchemas[body.name].entries, name)) return;
  throw new UsageError(`${id} of the service has no field ${name}`, 'see `petstore api operations`');
}

/** @param value an id, a name, or `{id, name}`. */
function writeCategory(value: JsonValue, isObject: boolean, body: RequestBody | undefined): JsonValue {
  const category = isJsonObject(value) ? value : { [typeof value === 'string' ? 'name' : 'id']: value };
  const { id, name } = category;
  if (isObject) {
    const { categoryId: example = {} } = body?.fields ?? {};
    const isTaken = (field: string) => isJsonObject(example) && field in example;
    return Object.fromEntries(
      Object.entries(category).filter(([field]) => !/^(id|name)$/.test(field) || isTaken(field)),
    );
  }
  if (id !== undefined) return id;
  throw new UsageError(
    `category '${name}': the service takes the id of a category, and has no list of categories to find it in`,
    'give the id',
  );
}
