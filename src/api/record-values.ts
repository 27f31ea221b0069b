import {
  isJsonObject,
  isSameNumber,
  type JsonObject,
  type JsonValue,
  printJson,
} from '../process/exact-json.ts';
import { shorten } from '../process/text.ts';
import { categoryIn, categoryText, comparedCategories, isCategoryField } from './category.ts';
import { fieldsOfKind } from './nouns.ts';

// The values of a record that a command reads and writes, and when two of them are the same. This file does not use the schema
// library, because loading it would slow down `help`.

export const petStatuses = ['available', 'pending', 'sold'] as const;

/** The status of a pet without a status, by the built-in contract. */
export const [defaultStatus] = petStatuses;

/** The values of fields that a record may leave out. */
const omittedValues: JsonObject = { status: defaultStatus, complete: false };

export const int64Max = 9223372036854775807n;

/** The rule for ids, a clause for messages. */
export const idRequirement = 'must be an integer from 0 to 9223372036854775807';

/** Reads an id: decimal digits from 0 to 9223372036854775807. */
export function toId(text: string): bigint | undefined {
  const id = /^(0|[1-9]\d{0,18})$/.test(text) ? BigInt(text) : undefined;
  return id !== undefined && id <= int64Max ? id : undefined;
}

/** Removes the zeros that pad a number: `007001` becomes `7001`, `+05` becomes `+5`. */
export function withoutLeadingZeros(text: string): string {
  return /^[+-]?0\d/.test(text) ? text.replace(/^([+-]?)0+(?=\d)/, '$1') : text;
}

/**
 * Reads a quantity, decimal digits from 0 to 2^53 - 1. Returns undefined for any other text, such as an empty
 * text, which `Number` would read as 0.
 */
export function toQuantity(text: string): number | undefined {
  const quantity = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(quantity) ? quantity : undefined;
}

/** Reads a change of a count: a quantity with an optional sign. */
export function toChange(text: string): number | undefined {
  const sign = text.charAt(0);
  const size = toQuantity(sign === '+' || sign === '-' ? text.slice(1) : text);
  return size === undefined || size === 0 || sign !== '-' ? size : -size;
}

const rfc3339 =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Returns true if a text is a date-time of RFC 3339, 5.6. The month must have the day. */
export function isDateTime(value: string): boolean {
  const [, year, month, day] = rfc3339.exec(value) ?? [];
  if (year === undefined) return false;
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
}

/** Returns true if a text is a day in the form of RFC 3339: YYYY-MM-DD. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text);
}

/** Converts a day to a date-time, its first moment in UTC. Any other text stays. */
export function toDateTime(text: string): string {
  return isDay(text) ? `${text}T00:00:00Z` : text;
}

/** Returns the instant of a date-time or a day. @see toDateTime */
export function toInstant(text: string): number | undefined {
  const dateTime = toDateTime(text);
  return isDateTime(dateTime) ? Date.parse(dateTime) : undefined;
}

/** Finds the index of the first item that does not come before a place, by binary search. The length if there is none. */
export function lowestIndex<Item>(items: readonly Item[], isBefore: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(items[middle] as Item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Finds the index of the first item with this id or a higher one, in items that are ordered by id. Most ids come at the end. */
export function indexOfId(items: readonly { readonly id?: bigint | undefined }[], id: bigint): number {
  if ((items.at(-1)?.id ?? -1n) < id) return items.length;
  return lowestIndex(items, (item) => (item.id ?? id) < id);
}

export interface ServiceRecord<Members = JsonObject> {
  /** By our names, with ids as bigints. */
  readonly fields: Members;
  /** As the service sent it. A service that has our names sends the fields. */
  readonly original: JsonObject;
  /** The strong entity tag. A record of a list has none. */
  readonly etag?: string | undefined;
  /** How long a cache has kept the answer, in seconds. A record of a list has none. */
  readonly age?: string | undefined;
}

/** Fields of a record, by our names. The value undefined says that the record does not have the field, or is to lose it. */
export type Fields = Readonly<Record<string, JsonValue | undefined>>;

/** The part of a record that a write reads and changes: a count, some fields, or the whole record. Null if there is no record. */
export type RecordValue = number | bigint | Fields | null;

/** Returns true if a record has every field of a value, with the same value. Further fields do not matter. */
export function isMetBy(expected: RecordValue, actual: RecordValue): boolean {
  if (isFields(expected) && isFields(actual)) return differencesOf(expected, actual).length === 0;
  return !isFields(expected) && !isFields(actual) && isSame(expected, actual);
}

/** Returns true if two values are the same, with the same fields. Defaults may be left out. @param ignored names of fields */
export function isSameValue(value: RecordValue, other: RecordValue, ignored?: ReadonlySet<string>): boolean {
  if (!isFields(value) || !isFields(other)) return isMetBy(value, other);
  return [...differencesOf(value, other), ...differencesOf(other, value)].every(
    ({ name, expected, actual }) =>
      ignored?.has(name) || isSame(expected ?? omittedValues[name], actual ?? omittedValues[name]),
  );
}

/**
 * Returns true if an answer or a reading shows a value that was sent. A service may print a date in another way, add members to an
 * object within a field, and leave out a default.
 *
 * @param writeOnly the fields that no answer has. They need not be there.
 */
export function isShownBy(sent: RecordValue, actual: RecordValue, writeOnly?: ReadonlySet<string>): boolean {
  if (!isFields(sent) || !isFields(actual)) return isMetBy(sent, actual);
  return unshownFields(sent, actual).every(({ name }) => writeOnly?.has(name));
}

/**
 * Returns true if a field that was to be changed is exactly as before. An object with a member that was to be removed looks as if it
 * showed what was sent.
 *
 * @param writeOnly the fields that no answer has.
 */
export function isAsBefore(
  before: RecordValue,
  sent: RecordValue,
  actual: RecordValue,
  writeOnly: ReadonlySet<string>,
): boolean {
  if (!isFields(before) || !isFields(sent) || !isFields(actual)) return false;
  return Object.keys(sent).some((name) => {
    const [was, asked, is] = [before, sent, actual].map((fields) => fields[name] ?? omittedValues[name]);
    const isAsked = isSame(asked, was) || isSameInstant(asked, was);
    return !isAsked && !writeOnly.has(name) && isSame(was, is) && isSame(is, was);
  });
}

/** An expected field that the actual value does not have, or has with another value. */
interface Difference extends ReturnType<typeof comparedCategories> {
  readonly name: string;
}

/** Returns the expected fields that the actual value does not have, or has with another value. */
export function differencesOf(expected: Fields, actual: Fields): Difference[] {
  return compareFields(expected, actual, isSameField);
}

/** Returns the fields that were sent and that an answer does not show. @see isShownBy */
export function unshownFields(sent: Fields, actual: Fields): Difference[] {
  return compareFields(sent, actual, isShownField);
}

function compareFields(expected: Fields, actual: Fields, isEqual: typeof isSameField): Difference[] {
  const differences: Difference[] = [];
  for (const name of Object.keys(expected)) {
    const compared = isCategoryField(name)
      ? comparedCategories(expected[name], actual)
      : { expected: expected[name], actual: actual[name] };
    if (!isEqual(name, compared.expected, compared.actual)) differences.push({ name, ...compared });
  }
  return differences;
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

/** Converts fields to JSON. JSON has no undefined, so a field that the record does not have is null. */
export function toJsonValue(value: RecordValue): JsonValue {
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, field ?? null]));
}

const dateFields = fieldsOfKind('date');

/** Returns true if a field has the same value. Dates are compared as instants, a day as its first instant in UTC. */
function isSameField(name: string, value: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return isSame(value, other) || (dateFields.has(name) && isSameInstant(value, other));
}

/** Returns true if a field of an answer shows what was sent, which may be a default. @see isShownBy */
function isShownField(name: string, sent: JsonValue | undefined, actual: JsonValue | undefined): boolean {
  return isShown(sent ?? omittedValues[name], actual ?? omittedValues[name]);
}

/** Returns true if a value of an answer shows what was sent. @see isShownBy */
export function isShown(sent: JsonValue | undefined, actual: JsonValue | undefined): boolean {
  if (Array.isArray(sent) && Array.isArray(actual))
    return sent.length === actual.length && sent.every((item, index) => isShown(item, actual[index]));
  if (isJsonObject(sent) && isJsonObject(actual))
    return Object.entries(sent).every(([name, value]) => isShown(value, actual[name]));
  return isSame(sent, actual) || isSame(actual, sent) || isSameInstant(sent, actual);
}

function isSameInstant(value: JsonValue | undefined, other: JsonValue | undefined): boolean {
  const instant = typeof value === 'string' ? toInstant(value) : undefined;
  return instant !== undefined && typeof other === 'string' && instant === toInstant(other);
}

/**
 * Returns true if a value is as expected: numbers by their values, undefined and null alike, and objects and lists by all members. A
 * text also stands for its value in JSON, because a table has only texts.
 */
function isSame(expected: JsonValue | undefined, actual: JsonValue | undefined): boolean {
  if (expected === actual) return true;
  if (typeof expected === 'number' && typeof actual === 'number') return false;
  if (isNothing(expected) || isNothing(actual)) return isNothing(expected) && isNothing(actual);
  if (typeof actual === 'string') return false;
  if (typeof expected === 'string') return expected === printJson(actual);
  if (Array.isArray(expected) && Array.isArray(actual))
    return expected.length === actual.length && expected.every((item, index) => isSame(item, actual[index]));
  if (isJsonObject(expected) && isJsonObject(actual))
    return Object.keys({ ...expected, ...actual }).every((name) => isSame(expected[name], actual[name]));
  return printJson(expected) === printJson(actual) || isSameNumber(expected, actual);
}

function isNothing(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}
