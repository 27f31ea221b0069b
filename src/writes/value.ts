import { comparedValues, isSameValue } from '../api/values.ts';
import { isJsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { shorten } from '../process/text.ts';

/** Fields of a record, by our names. The value undefined says that the record does not have the field. */
export type Fields = Readonly<Record<string, JsonValue | undefined>>;

/** The part of a record that a write reads and changes: a count, some fields, or the whole record. Null if there is no record. */
export type Value = number | bigint | Fields | null;

/** Returns true if two values are the same: counts by number, dates as instants, everything else exactly. */
export function isSame(value: Value, other: Value): boolean {
  if (value === null || other === null) return value === other;
  if (isFields(value)) {
    if (!isFields(other)) return false;
    for (const name in value) {
      const { expected, actual } = comparedValues(name, value[name], other);
      if (!isSameValue(expected, actual)) return false;
    }
    return true;
  }
  // A count may come as a bigint if it is large: 5 and 5n are the same.
  // biome-ignore lint/suspicious/noDoubleEquals: it compares a number with a bigint by their values.
  return !isFields(other) && value == other;
}

/** Returns true if a record shows what was sent. @param writeOnly the fields that no answer has. */
export function isShown(sent: Value, shown: Value, writeOnly: ReadonlySet<string>): boolean {
  if (sent === null || !isFields(sent)) return isSame(sent, shown);
  return isSame(Object.fromEntries(Object.entries(sent).filter(([name]) => !writeOnly.has(name))), shown);
}

export function isFields(value: Value): value is Fields {
  return typeof value === 'object' && value !== null;
}

/** Describes a value in a message: `12`, `no record`, `name "Rex", status "sold"`. */
export function describeValue(value: Value): string {
  if (value === null) return 'no record';
  if (!isFields(value)) return String(value);
  const fields = Object.entries(value).map(([name, field]) =>
    field === undefined ? `no ${name}` : `${name} ${printJson(field)}`,
  );
  return shorten(fields.join(', '), 120);
}

/** The change of a count, where no record counts as 0. Undefined for fields of records. */
export function changeBetween(before: Value, after: Value): number | undefined {
  if (isFields(before) || isFields(after)) return undefined;
  return Number(after ?? 0) - Number(before ?? 0);
}

/** Makes fields JSON. JSON has no undefined, so a field that the record does not have is null. */
export function toJsonValue(value: Value): JsonValue {
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, field ?? null]));
}

/** Reads a value from its JSON form. A count becomes a number if a number can hold it. @see toJsonValue */
export function fromJsonValue(json: JsonValue): Value {
  if (isJsonObject(json))
    return Object.fromEntries(Object.entries(json).map(([name, field]) => [name, field ?? undefined]));
  if (typeof json === 'bigint') return json <= Number.MAX_SAFE_INTEGER ? Number(json) : json;
  return json as number | null;
}
