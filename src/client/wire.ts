// Translates records and bodies at each call. A bound service may have its own field names and envelopes, which no caller of the client
// sees.

import { takesField, unknownFieldError } from '../api/contract.ts';
import { fieldsOfKind, nouns } from '../api/nouns.ts';
import { type BodyField, type Operation, operations, type RequestBody } from '../api/operations.ts';
import { categoryName, isDay, type ServiceRecord } from '../api/record-values.ts';
import { UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonIn, valueIn } from '../process/exact-json.ts';

const dateFields = fieldsOfKind('date');

/** Translates a record of the service into our field names. A record in our form stays as it is. */
export function translateRecord({ noun, recordForm }: Operation, record: JsonObject): JsonObject {
  if (recordForm.isOurs) return record;
  const renames = Object.entries(recordForm.names).filter(([name, wireName]) => name !== wireName);
  const { categoryId = 'categoryId' } = recordForm.names;
  const isInCategory = categoryId === 'categoryId' && !('categoryId' in record);
  const categoryField = isInCategory ? 'category' : categoryId;
  const category = noun === 'pets' ? record[categoryField] : undefined;
  if (renames.length === 0 && !isJsonObject(category ?? null)) return record;
  const fields = Object.entries(record).flatMap(([field, value]) => {
    if (field === categoryField && category !== undefined && isJsonObject(category))
      return Object.entries(categoryFields(category));
    const [name] = renames.find(([, wireName]) => wireName === field) ?? [];
    // A field that has one of our names but another meaning stays in the original only.
    const isHomonym = name === undefined && renames.some(([renamed]) => renamed === field);
    return isHomonym ? [] : [[name ?? field, value] as const];
  });
  return Object.fromEntries(fields);
}

function categoryFields({ id, name }: JsonObject): JsonObject {
  return {
    ...(id !== undefined && { categoryId: id }),
    ...(typeof name === 'string' && { [categoryName]: name }),
  };
}

/** Takes the record or the list out of the envelope of an answer. An answer of another shape has none. */
export function withoutEnvelope(
  { recordForm, isList }: Operation,
  answer: JsonValue | undefined,
): JsonValue | undefined {
  if (isList && Array.isArray(answer)) return answer;
  return valueIn(answer, recordForm.envelope);
}

/** Translates the record or the list in a body into our names, unchecked. */
export function fromWire(operation: Operation, body: JsonValue): JsonValue | undefined {
  const content = withoutEnvelope(operation, body);
  if (Array.isArray(content))
    return content.map((item) => (isJsonObject(item) ? translateRecord(operation, item) : item));
  return isJsonObject(content) ? translateRecord(operation, content) : undefined;
}

/**
 * Makes the body for the service. If an update replaces the record, the body also has the unchanged fields, as the service sent them.
 *
 * @param changes by our names. The value undefined removes a field. The name of a category goes with its id.
 * @param before the record as it was read, if the body changes a record.
 * @throws UsageError if the service does not take a field, or cannot remove it.
 */
export function toWire(operation: Operation, changes: JsonObject, before?: ServiceRecord): JsonObject {
  const { id, body, method } = operation;
  if (!body) return changes;
  const original = before?.original;
  const entries: [string, JsonValue][] = [];
  const values: JsonObject = { ...(before && keptUnderOtherNames(operation, changes, before)), ...changes };
  for (const [name, ourValue] of Object.entries(values)) {
    if (name === categoryName) continue;
    const wireName = wireNameOf(body, name);
    const { bounds: { type, format } = {}, categoryParts } = body.fields[name] ?? {};
    const value = categoryParts ? toWireCategory(values, categoryParts) : ourValue;
    if (value === undefined) {
      if (method === 'PATCH' && original && Object.hasOwn(original, wireName))
        throw new UsageError(`${name} cannot be removed: ${id} of the service is a PATCH`);
      continue;
    }
    requireTaken(operation, name);
    const isDate = dateFields.has(name);
    const isTyped = (isDate ? format : type) !== undefined;
    const wireValue = isTyped ? value : inTypeOf(original?.[wireName], isDate, value);
    entries.push([wireName, wireValue]);
  }
  // Not by assignment, because a field may be called `__proto__`.
  const wireChanges: JsonObject = Object.fromEntries(entries);
  if (!original) return wireChanges;
  // The fields keep the order of the record, so that a PUT changes nothing else.
  const keptEntries = Object.entries(original).filter(
    ([wireName, value]) =>
      Object.hasOwn(wireChanges, wireName) || isSentBack(operation, body, changes, wireName, value),
  );
  return { ...Object.fromEntries(keptEntries), ...wireChanges };
}

/**
 * Gives a text the type of the value that it replaces, if the description states no type: the cell `4712` replaces the number 4711
 * by a number.
 */
function inTypeOf(old: JsonValue | undefined, isDate: boolean, value: JsonValue): JsonValue {
  if (typeof value !== 'string' || old === undefined || old === null) return value;
  // Days are written as instants.
  if (isDate) return isDay(String(old)) ? value.replace('T00:00:00Z', '') : value;
  if (typeof old === 'string') return value;
  const parsed = jsonIn(value);
  return jsonTypeOf(parsed) === jsonTypeOf(old) ? (parsed ?? value) : value;
}

function jsonTypeOf(value: JsonValue | undefined): string {
  return Array.isArray(value) ? 'array' : typeof value === 'bigint' ? 'number' : typeof value;
}

/** Returns the service's name of a field of a body. */
export function wireNameOf({ fields }: RequestBody, name: string): string {
  return Object.hasOwn(fields, name) ? (fields[name]?.wireName ?? name) : name;
}

/**
 * Returns the fields that do not change, and that the body takes by another name than the record has: a service may show
 * `category: {id, name}` and take `categoryId`.
 */
function keptUnderOtherNames(
  { body, method }: Operation,
  changes: JsonObject,
  { fields, original }: ServiceRecord,
): JsonObject {
  const isElsewhere = ([name, { wireName, required, categoryParts }]: readonly [string, BodyField]) => {
    if (Object.hasOwn(changes, name) || (method === 'PATCH' && !required)) return false;
    const isOtherForm =
      name === 'categoryId' && isJsonObject(original[wireName]) !== (categoryParts !== undefined);
    return isOtherForm || !Object.hasOwn(original, wireName);
  };
  const names = Object.entries(body?.fields ?? {})
    .filter(isElsewhere)
    .map(([name]) => name);
  // The name of a category goes with its id.
  const all = names.includes('categoryId') ? [...names, categoryName] : names;
  return Object.fromEntries(all.flatMap((name) => (fields[name] == null ? [] : [[name, fields[name]]])));
}

/** Returns true if an update sends back a field that was read and does not change. */
function isSentBack(
  { id, noun, method, recordForm }: Operation,
  { fields, readOnlyNames, isClosed }: RequestBody,
  changes: JsonObject,
  wireName: string,
  value: JsonValue | undefined,
): boolean {
  const name = Object.keys(fields).find((each) => fields[each]?.wireName === wireName) ?? wireName;
  // Our `name` may be bound to `title`, and the service may have a `name` too: that field is not one of ours.
  const isHomonym = Object.hasOwn(fields, name) && fields[name]?.wireName !== wireName;
  if (isHomonym) return method !== 'PATCH' && !readOnlyNames.includes(wireName);
  if (Object.hasOwn(changes, name)) return false;
  if (method === 'PATCH') return fields[name]?.required === true;
  if (readOnlyNames.includes(wireName)) return false;
  const { body } = operations[id];
  // A service may replace a field that is left out by its default.
  if (body && Object.hasOwn(body.fields, name) && value === null) return fields[name]?.isNullable === true;
  if (Object.hasOwn(fields, name)) return true;
  // The body of a count is smaller than its entry: it has only the fields that the description lists.
  return !nouns[noun].isCount && !isClosed && !Object.hasOwn(recordForm.names, name);
}

/** @throws UsageError if the service does not take a field of ours, or if its body is closed and lacks the field. */
function requireTaken(operation: Operation, name: string): void {
  const { id, noun, body } = operation;
  if (takesField(operation, name) || (body?.hasId && name === nouns[noun].idField)) return;
  const isInTable = Object.hasOwn(operations[id].body?.fields ?? {}, name);
  if (body?.isClosed || isInTable) throw unknownFieldError(operation, name);
}

/** Returns the category in the changes as an object, with its name if the body takes it. Undefined if it is to be removed. */
function toWireCategory(
  { categoryId: id, [categoryName]: name }: JsonObject,
  parts: NonNullable<BodyField['categoryParts']>,
): JsonObject | undefined {
  if (id == null && name == null) return undefined;
  return { ...(id != null && { id }), ...(name != null && parts.includes('name') && { name }) };
}
