// Rules for texts on a command line, without the schema library: help must not load that.

export const petStatuses = ['available', 'pending', 'sold'] as const;

export const int64Max = 9223372036854775807n;

/** Why a value is not an id, a clause. */
export const notAnId = 'must be an integer from 0 to 9223372036854775807';

/** The id in a text of decimal digits, 0 to 9223372036854775807; undefined for any other text. */
export function toId(text: string): bigint | undefined {
  const id = /^(0|[1-9]\d{0,18})$/.test(text) ? BigInt(text) : undefined;
  return id !== undefined && id <= int64Max ? id : undefined;
}

const rfc3339 =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Whether a text is a date-time of RFC 3339, 5.6, on a day that its month has. */
export function isDateTime(value: string): boolean {
  const [, year, month, day] = rfc3339.exec(value) ?? [];
  if (year === undefined) return false;
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
}
