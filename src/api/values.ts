// Rules for values, without the schema library: help must not load that.

import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';

export const petStatuses = ['available', 'pending', 'sold'] as const;

export const int64Max = 9223372036854775807n;

/** Why a value is not an id, a clause. */
export const idRequirement = 'must be an integer from 0 to 9223372036854775807';

/** The id in a text of decimal digits, 0 to 9223372036854775807; undefined for any other text. */
export function toId(text: string): bigint | undefined {
  const id = /^(0|[1-9]\d{0,18})$/.test(text) ? BigInt(text) : undefined;
  return id !== undefined && id <= int64Max ? id : undefined;
}

/** A number without the zeros that pad it: `007001` is 7001, `+05` is +5. */
export function withoutLeadingZeros(text: string): string {
  return /^[+-]?0\d/.test(text) ? text.replace(/^([+-]?)0+(?=\d)/, '$1') : text;
}

/**
 * The quantity in a text of decimal digits, 0 to 2^53 - 1; undefined for any other text, such as an empty
 * one, which Number would read as 0.
 */
export function toQuantity(text: string): number | undefined {
  const quantity = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(quantity) ? quantity : undefined;
}

/** The difference in a text: a quantity with an optional sign. */
export function toChange(text: string): number | undefined {
  const sign = text.charAt(0);
  const size = toQuantity(sign === '+' || sign === '-' ? text.slice(1) : text);
  return size === undefined || size === 0 || sign !== '-' ? size : -size;
}

const rfc3339 =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Whether a text is a date-time of RFC 3339, 5.6; the month must have the day. */
export function isDateTime(value: string): boolean {
  const [, year, month, day] = rfc3339.exec(value) ?? [];
  if (year === undefined) return false;
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
}

/**
 * Whether a field has the expected value. Dates are compared as instants and text without outer spaces; an
 * absent, a null and an empty value are the same. An object may have more fields than the expected one.
 */
export function isSameValue(expected: JsonValue | undefined, actual: JsonValue | undefined): boolean {
  if (isEmpty(expected) || isEmpty(actual)) return isEmpty(expected) && isEmpty(actual);
  if (Array.isArray(expected) || Array.isArray(actual)) {
    const [items, others] = [expected, actual];
    if (!Array.isArray(items) || !Array.isArray(others) || items.length !== others.length) return false;
    return items.every((item, index) => isSameValue(item, others[index]));
  }
  if (isJsonObject(expected))
    return (
      isJsonObject(actual) &&
      Object.entries(expected).every(([name, value]) => isSameValue(value, actual[name]))
    );
  const [text, other] = [String(expected).trim(), String(actual).trim()];
  if (text === other) return true;
  return isDateTime(text) && isDateTime(other) && Date.parse(text) === Date.parse(other);
}

/**
 * The two values by which a field of a record is compared with what a user or a row names. A category may be
 * named by its id, its name or `{id, name}`: it is compared by the ids if both have one, else by the names.
 */
export function comparedValues(
  field: string,
  value: JsonValue,
  record: JsonObject,
): { readonly expected: JsonValue; readonly actual: JsonValue | undefined } {
  if (field !== 'categoryId' || (typeof value !== 'string' && !isJsonObject(value)))
    return { expected: value, actual: record[field] };
  const { id = null, name = id } = isJsonObject(value) ? value : { name: value };
  const { categoryId = null, category = categoryId } = record;
  const hasIds = id !== null && categoryId !== null;
  return hasIds ? { expected: id, actual: categoryId } : { expected: name, actual: category };
}

function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '';
}

/**
 * A `pattern` of JSON Schema as a source for `new RegExp(source, 'u')`: unchanged, or without escapes such as
 * `\-` and `\@`, which that mode does not allow. Undefined if it is not an ECMAScript expression even then,
 * or is very long.
 */
export function readPattern(pattern: string): string | undefined {
  if (pattern.length > longestPattern) return undefined;
  return [pattern, withoutNeedlessEscapes(pattern)].find(isExpression);
}

/** V8 accepts a longer expression, which then fails at its first use. */
const longestPattern = 10_000;

function isExpression(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** Characters that may be escaped in the mode `u`; a hyphen too, but only in brackets. */
const escapable = /^[\^$\\.*+?()[\]{}|/\p{L}\p{N}]$/u;

function withoutNeedlessEscapes(pattern: string): string {
  let isInClass = false;
  return pattern.replace(/\\([\s\S])|[[\]]/gu, (part: string, escaped?: string) => {
    if (escaped === undefined) {
      isInClass = part === '[';
      return part;
    }
    return escapable.test(escaped) || (escaped === '-' && isInClass) ? part : escaped;
  });
}
