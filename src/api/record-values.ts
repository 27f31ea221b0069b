import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { caseless, shorten } from '../process/text.ts';
import { toInstant } from './values.ts';

// The values of a record that a command reads and writes, and when two of them are the same.

/** A record of a service. */
export interface ServiceRecord<Members = JsonObject> {
  /** By our names, with ids as bigints. */
  readonly fields: Members;
  /** As the service sent it. A service that has our names sends the fields. */
  readonly original: JsonObject;
}

/** Fields of a record, by our names. The value undefined says that the record does not have the field, or is to lose it. */
export type Fields = Readonly<Record<string, JsonValue | undefined>>;

/** The part of a record that a write reads and changes: a count, some fields, or the whole record. Null if there is no record. */
export type RecordValue = number | bigint | Fields | null;

/**
 * Returns true if the actual value has every expected field with the expected value. Further fields do not matter.
 *
 * @param writeOnly the fields that no answer has. They need not be there.
 */
export function isMetBy(
  expected: RecordValue,
  actual: RecordValue,
  writeOnly?: ReadonlySet<string>,
): boolean {
  if (isFields(expected) && isFields(actual))
    return differencesOf(expected, actual).every(({ name }) => writeOnly?.has(name));
  return !isFields(expected) && !isFields(actual) && isFieldMetBy(expected, actual);
}

/** An expected field that the actual value does not have, or has with another value. */
interface Difference extends ReturnType<typeof comparedCategories> {
  readonly name: string;
}

/** Returns the expected fields that the actual value does not have, or has with another value. */
export function differencesOf(expected: Fields, actual: Fields): Difference[] {
  return Object.keys(expected).flatMap((name) => {
    const compared = isCategoryField(name)
      ? comparedCategories(expected[name], actual)
      : { expected: expected[name], actual: actual[name] };
    return isFieldMetBy(compared.expected, compared.actual) ? [] : { name, ...compared };
  });
}

/**
 * Returns the fields of a value that differ from the current record.
 *
 * @param writeOnlyNames the fields that no answer shows. They count as different.
 */
export function changesOf(after: RecordValue, now: RecordValue, writeOnlyNames: ReadonlySet<string>): object {
  if (!isFields(after)) return {};
  if (!isFields(now)) return after;
  const different = new Set(differencesOf(after, now).map(({ name }) => name));
  const changes = Object.entries(after).filter(([name]) => writeOnlyNames.has(name) || different.has(name));
  return Object.fromEntries(changes);
}

export function isFields(value: RecordValue): value is Fields {
  return typeof value === 'object' && value !== null;
}

/** Describes a value in a message: `12`, `no record`, `name "Rex", status "sold"`. */
export function describeValue(value: RecordValue): string {
  if (value === null) return 'no record';
  if (!isFields(value)) return String(value);
  const fields = Object.entries(value).map(([name, field]) =>
    field === undefined ? `no ${name}` : `${name} ${printJson(field)}`,
  );
  return shorten(fields.join(', '), 120);
}

/** Describes the part of a value that differs from another value. */
export function describeDifference(value: RecordValue, other: RecordValue): string {
  if (!isFields(value) || !isFields(other)) return describeValue(value);
  const differences = [...differencesOf(value, other), ...differencesOf(other, value)];
  return describeValue(Object.fromEntries(differences.map(({ name }) => [name, value[name]])));
}

/** Prints the value of a field for people: `Rex`, `none`. */
export function fieldText(name: string, field: JsonValue | undefined): string {
  if (isCategoryField(name) && field !== undefined && isJsonObject(field)) return categoryText(field);
  return typeof field === 'string' ? field : field === undefined ? 'none' : printJson(field);
}

/** The fields of a record with the given names. A category is its id, or `{id, name}` if the record has its name. */
export function fieldsOf(record: JsonObject, names: Iterable<string>): Fields {
  return Object.fromEntries(
    Array.from(names, (name) => [name, isCategoryField(name) ? categoryIn(record) : record[name]]),
  );
}

/** Returns the change of a count; fields of records have none. A missing record counts as 0. */
export function changeBetween(before: RecordValue, after: RecordValue): number | undefined {
  if (isFields(before) || isFields(after)) return undefined;
  return Number(after ?? 0) - Number(before ?? 0);
}

/** Converts fields to JSON. JSON has no undefined, so a field that the record does not have is null. */
export function toJsonValue(value: RecordValue): JsonValue {
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, field ?? null]));
}

/**
 * Returns true if a field has the expected value. Dates are compared as instants, a day as its first instant in UTC, and numbers by
 * their values; anything else must be equal. Undefined and null are equal. An object may have more fields than the expected object.
 */
export function isFieldMetBy(expected: JsonValue | undefined, actual: JsonValue | undefined): boolean {
  if (isNothing(expected) || isNothing(actual)) return isNothing(expected) && isNothing(actual);
  if (Array.isArray(expected) || Array.isArray(actual)) {
    if (typeof expected === 'string') return expected === printJson(actual ?? null);
    if (!Array.isArray(expected) || !Array.isArray(actual) || expected.length !== actual.length) return false;
    return expected.every((item, index) => isFieldMetBy(item, actual[index]));
  }
  if (isJsonObject(expected))
    return (
      isJsonObject(actual) &&
      Object.entries(expected).every(([name, value]) => isFieldMetBy(value, actual[name]))
    );
  // A table has the JSON of an object in a cell.
  if (isJsonObject(actual)) return expected === printJson(actual);
  const expectedText = String(expected);
  const actualText = String(actual);
  if (expectedText === actualText) return true;
  const instant = toInstant(expectedText);
  return instant !== undefined && instant === toInstant(actualText);
}

function isNothing(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}

// Only for the category of a pet can a service send the name with the id. Our records have the id in `categoryId` and the name in
// `category`. A command or a row names a category by its id, by its name, or by `{id, name}`.

export function isCategoryField(name: string): boolean {
  return name === 'categoryId';
}

type RecordFields = Readonly<Record<string, JsonValue | undefined>>;

/** Returns the category of a record: its id, or `{id, name}` if the record has its name. */
function categoryIn({ categoryId: id, category: name = null }: RecordFields): JsonValue | undefined {
  if (name === null) return id;
  return id === undefined ? { name } : { id, name };
}

/** Turns a category, an object that has its id, its name or both, into the fields of a record. */
export function categoryFields({ id, name }: JsonObject): JsonObject {
  return {
    ...(id !== undefined && { categoryId: id }),
    ...(typeof name === 'string' && { category: name }),
  };
}

/** Returns the ids of two categories if both have one, or else their names, to compare them. */
function comparedCategories(
  category: JsonValue | undefined,
  record: RecordFields,
): { readonly expected: JsonValue | undefined; readonly actual: JsonValue | undefined } {
  const expected = categoryParts(category ?? null);
  const { id = null, name = id } = categoryParts(categoryIn(record) ?? null);
  return expected.id != null && id !== null
    ? { expected: expected.id, actual: id }
    : { expected: expected.name ?? expected.id ?? undefined, actual: name ?? id ?? undefined };
}

/** Returns true if a record has a category. The case of its name does not matter. */
export function hasCategory(record: RecordFields, category: JsonValue): boolean {
  const { expected, actual } = comparedCategories(category, record);
  return caseless(String(expected)) === caseless(String(actual));
}

/** Returns the name of a category, or without one its id. */
function categoryText({ id, name }: JsonObject): string {
  return String(name ?? id);
}

/** Returns the parts of a category that a value has: its id, its name or both. */
export function categoryParts(category: JsonValue): JsonObject {
  if (isJsonObject(category)) return category;
  return typeof category === 'string' ? { name: category } : { id: category };
}
