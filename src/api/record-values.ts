import { type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { momentOf, shorten } from '../process/text.ts';

// The values of a record that a command reads and writes. This file does not use the schema library: the command line is parsed with
// its functions, and needs no schemas.

export const petStatuses = ['available', 'pending', 'sold'] as const;

/** The status of a pet without a status, by the built-in contract. */
export const [defaultStatus] = petStatuses;

export const int64Max = 9223372036854775807n;

/** The rule for ids, a clause for messages. */
export const idRequirement = `must be a whole number from 0 to ${int64Max}`;

/** The rule for counts, a clause for messages. */
export const countRequirement = `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`;

/** The number of records in a page of the service: by default, and at most. */
export const pageSizes = { default: 100, most: 1000 } as const;

/** Reads an id: decimal digits from 0 to `int64Max`. */
export function toId(text: string): bigint | undefined {
  const id = /^(0|[1-9]\d{0,18})$/.test(text) ? BigInt(text) : undefined;
  return id !== undefined && id <= int64Max ? id : undefined;
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

/** Returns true if a text is a day of RFC 3339: YYYY-MM-DD. The month must have it. */
export function isDay(text: string): boolean {
  return isDateTime(`${text}T00:00:00Z`);
}

/** Converts a day to a date-time, its first moment in UTC. Any other text stays. */
export function toDateTime(text: string): string {
  return isDay(text) ? `${text}T00:00:00Z` : text;
}

/** Returns the instant of a date-time or a day. @see toDateTime */
export function toInstant(text: string): number | undefined {
  const dateTime = toDateTime(text);
  return isDateTime(dateTime) ? momentOf(dateTime) : undefined;
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

export function isFields(value: RecordValue): value is Fields {
  return typeof value === 'object' && value !== null;
}

/** Describes a value in a message: `12`, `no record`, `name "Rex", status "sold"`. */
export function valueText(value: RecordValue): string {
  if (value === null) return 'no record';
  if (!isFields(value)) return String(value);
  const fields = Object.entries(value).map(([name, field]) =>
    field === undefined ? `no ${name}` : `${name} ${printJson(field)}`,
  );
  return shorten(fields.join(', '), 120);
}

/** Prints the value of a field for people: `Rex`, `none`. */
export function fieldText(field: JsonValue | undefined): string {
  return typeof field === 'string' ? field : field === undefined ? 'none' : printJson(field);
}

/**
 * The name of the category of a pet, if the service sends it with the id. It is shown, and it is written with the id. It is not called
 * `category`, because a service may have a field of that name.
 */
export const categoryName = 'category.name';

/** The fields of a record with the given names. The name of a category comes with its id, if the record has it. */
export function fieldsOf(record: JsonObject, names: Iterable<string>): Fields {
  const all = new Set(names);
  if (record[categoryName] === undefined) all.delete(categoryName);
  else if (all.has('categoryId')) all.add(categoryName);
  return Object.fromEntries(Array.from(all, (name) => [name, record[name]]));
}

/** Converts fields to JSON. JSON has no undefined, so a field that the record does not have is null. */
export function toJsonValue(value: RecordValue): JsonValue {
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, field ?? null]));
}
