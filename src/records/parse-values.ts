import type { Bounds } from '../api/schemas.ts';
import { isDay, toDateTime, toInstant } from '../api/values.ts';
import { parseId } from '../input/numbers.ts';
import { ValueError } from '../process/errors.ts';
import { type JsonValue, jsonIn } from '../process/exact-json.ts';
import { caseless, withArticle } from '../process/text.ts';

/** The id of a record, or a name that is looked up. */
export type IdOrName = bigint | string;

/** Returns true if a text is meant as an id and not as a name. A text without a letter, such as `-5` or `1.0`, is a mistyped id. */
export function isIdText(text: string): boolean {
  return /^[\d\s.,+-]*$/.test(text);
}

/** Parses an id. A text with a letter is a name. @throws ValueError for a mistyped id. */
export function parseIdOrName(text: string): IdOrName {
  return isIdText(text) ? parseId(text) : text;
}

/** Parses a date, and returns its first moment in milliseconds of Unix time. @throws ValueError as `parseDate`. */
export function parseMoment(text: string): number {
  return Date.parse(toDateTime(parseDate(text)));
}

/**
 * Parses a date: a day, as `YYYY-MM-DD`, `today`, `tomorrow`, `+3d` or `+1w`; or a date-time (RFC 3339).
 *
 * @throws ValueError.
 */
export function parseDate(text: string): string {
  const [, count, unit] = /^\+(\d{1,4})([dw])$/.exec(text) ?? [];
  const days =
    count === undefined ? ['today', 'tomorrow'].indexOf(text) : Number(count) * (unit === 'w' ? 7 : 1);
  if (days >= 0) {
    const now = new Date();
    const day = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + days);
    return new Date(day).toISOString().slice(0, 10);
  }
  const date = withoutSpace(text);
  if (toInstant(date) === undefined)
    throw new ValueError(
      'must be a date such as 2027-01-15, 2027-01-15T09:00:00Z, today, tomorrow, +3d or +1w',
    );
  return date;
}

/** Converts an instant as databases print it, `2026-11-29 09:00:00+00`, to RFC 3339. Other texts stay unchanged. */
function withoutSpace(text: string): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d) (\d\d:.*)$/.exec(text) ?? [];
  return day === undefined ? text : `${day}T${time?.replace(/[+-]\d\d$/, '$&:00')}`;
}

/** Returns a word in the spelling of the service. Case does not matter. @throws ValueError for an unknown word. */
export function toServiceWord(text: string, choices: readonly string[] | undefined): string {
  if (choices === undefined || choices.includes(text)) return text;
  const match = choices.find((word) => caseless(word) === caseless(text));
  if (match === undefined) throw new ValueError(`must be one of ${choices.join(', ')}`);
  return match;
}

/** Converts a date to the form of the service: a day, or a date-time. @throws ValueError for a time if the service has only days. */
export function toServiceDate(text: string, bounds: Bounds | undefined): string {
  if (bounds?.format !== 'date') return toDateTime(text);
  if (!isDay(text)) throw new ValueError('must be a day such as 2027-01-15: the service has no times');
  return text;
}

/** Parses `true` or `false` in any case, because spreadsheets write TRUE and FALSE. @throws ValueError. */
export function parseTruth(text: string): boolean {
  const word = text.toLowerCase();
  if (word !== 'true' && word !== 'false') throw new ValueError('must be true or false');
  return word === 'true';
}

/** Returns the text. @throws ValueError if it is blank, because it is most likely an unset variable of a script. */
export function parseText(text: string): string {
  if (text.trim() === '') throw new ValueError('must not be empty');
  return text;
}

/**
 * Parses a text as a value of the type in a description. The service checks the value.
 *
 * @throws ValueError if it is not JSON.
 */
export function parseTyped(text: string, type: Bounds['type']): JsonValue {
  if (type === undefined || type === 'string') return text;
  if (type === 'boolean') return parseTruth(text);
  const value = jsonIn(text);
  if (value === undefined || typeof value === 'string')
    throw new ValueError(`must be ${withArticle(type)} in JSON`);
  return value;
}
