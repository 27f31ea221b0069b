import { idRequirement, isDateTime, toChange, toId, toQuantity } from '../api/values.ts';
import { FieldError, UsageError } from '../process/errors.ts';
import { type JsonValue, parseJson } from '../process/exact-json.ts';

/** The id of a record, or a name that is looked up. */
export type IdOrName = bigint | string;

/**
 * @param what the argument or flag that holds it, for the error.
 * @throws UsageError for anything but an integer from 0 to 9223372036854775807.
 */
export function parseId(text: string, what: string): bigint {
  const id = toId(text);
  if (id === undefined) throw badValue(what, text, idRequirement);
  return id;
}

/** Whether a text is an id and not a name. One without a letter, such as `-5` or `1.0`, is a mistyped id. */
export function isIdText(text: string): boolean {
  return /^[\d\s.,+-]*$/.test(text);
}

/**
 * An id, or any other text as a name.
 *
 * @throws UsageError for a text that is neither.
 */
export function parseIdOrName(text: string, what: string): IdOrName {
  if (text === '' && what.startsWith('--')) throw new UsageError(`${what}: must not be empty`);
  return isIdText(text) ? parseId(text, what) : text;
}

/** @throws UsageError unless either ids or a file of them are given. */
export function checkIdsOrFile(what: string, ids: readonly IdOrName[], from: string | undefined): void {
  if (from === undefined && ids.length === 0)
    throw new UsageError(`${what}: no id is given`, 'give one or more, or --from <file or ->');
  if (from !== undefined && ids.length > 0)
    throw new UsageError(`${what}: give ids or --from, not both`, 'the file of --from has the ids');
}

/** A count from 0 to 2^53 - 1, decimal digits only: `12.0`, `1e3` and an empty text are rejected, not rounded. */
export function parseQuantity(text: string, what = 'quantity', least = 0): number {
  const value = toQuantity(text);
  if (value !== undefined && value >= least) return value;
  throw badValue(what, text, `must be an integer from ${least} to 9007199254740991`);
}

/** A signed difference: `+5`, `-3`. */
export function parseChange(text: string): bigint {
  const change = toChange(text);
  if (change === undefined) throw badValue('change', text, 'must be an integer such as +5 or -5');
  return BigInt(change);
}

/**
 * A date-time of RFC 3339; or a day (`YYYY-MM-DD`, `today`, `tomorrow`, `+3d`, `+1w`), which means its first moment in
 * UTC.
 */
export function parseDate(text: string, what: string, now = new Date()): string {
  const [, count, unit] = /^\+(\d{1,4})([dw])$/.exec(text) ?? [];
  const days =
    count === undefined ? ['today', 'tomorrow'].indexOf(text) : Number(count) * (unit === 'w' ? 7 : 1);
  if (days >= 0) {
    const day = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + days);
    return new Date(day).toISOString().replace('.000Z', 'Z');
  }
  const moment = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
  if (!isDateTime(moment))
    throw badValue(what, text, 'must be a date such as 2027-01-15, 2027-01-15T09:00:00Z, today, +3d or +1w');
  return moment;
}

/** Spreadsheets write TRUE and FALSE. */
export function parseTruth(text: string, what: string): boolean {
  const word = text.toLowerCase();
  if (word !== 'true' && word !== 'false') throw badValue(what, text, 'must be true or false');
  return word === 'true';
}

/** A condition on a field, as text. */
export interface FieldCondition {
  readonly field: string;
  readonly value: string;
}

/** @throws UsageError if the text is not `<field>=<value>`. */
export function parseFieldCondition(text: string): FieldCondition {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--until '${text}': must be <field>=<value>`);
  return { field: text.slice(0, at), value: text.slice(at + 1) };
}

/** Text that is not empty: an empty one most often comes from an unset variable. */
export function parseText(text: string, what: string): string {
  if (text.trim() === '') throw new UsageError(`${what}: must not be empty`);
  return text;
}

/** The value of a JSON text, or the text itself. */
export function jsonOrText(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function badValue(what: string, text: string, why: string): FieldError {
  return new FieldError(`${what} '${text}': ${why}`, what, `${what} ${why}`);
}
