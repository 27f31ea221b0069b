// Rules for values. They do not use the schema library, because loading it would slow down `help`.

export const petStatuses = ['available', 'pending', 'sold'] as const;

/** The status of a pet without a status. */
export const [defaultStatus] = petStatuses;

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

/** Finds the index of the first item with this id or a higher one, in items that are ordered by id. Most ids come at the end. */
export function indexOfId(items: readonly { readonly id?: bigint | undefined }[], id: bigint): number {
  let low = 0;
  let high = items.length;
  if ((items[high - 1]?.id ?? -1n) < id) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.id ?? id) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
