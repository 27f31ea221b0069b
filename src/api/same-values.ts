import { isJsonObject, isSameNumber, type JsonValue, printJson } from '../process/exact-json.ts';
import { fieldsOfKind } from './nouns.ts';
import {
  categoryName,
  type Fields,
  isFields,
  type RecordValue,
  toInstant,
  valueText,
} from './record-values.ts';

// When two values are the same. All of it is `differencesOf` with one of the comparisons of a field:
// - `isSameValue`: both have the same fields. All dates are compared as instants.
// - `isMetBy`: a record has each expected field, and may have further ones. Only our dates are compared as instants. A write is
//   decided by this.
// - `isShownBy`: an answer shows what was sent, perhaps in another form.

/** The fields that the records of a service need not have, by our names. */
export interface AbsentFields {
  /** The values that a field has if a record leaves it out. */
  readonly defaults: Fields;
  /** The fields that an answer need not have although they were sent. */
  readonly writeOnly?: ReadonlySet<string>;
}

/** Compares two values of a field. */
type IsSame = (expected: JsonValue | undefined, actual: JsonValue | undefined, name: string) => boolean;

/**
 * Returns true if a record has every field of a value, with the same value. Further fields do not matter.
 *
 * @param defaults the values of fields that a record may leave out.
 */
export function isMetBy(expected: RecordValue, actual: RecordValue, defaults: Fields): boolean {
  return hasAll(expected, actual, isSameField, { defaults });
}

/**
 * Returns true if two values are the same, with the same fields. Date-times are compared as instants.
 *
 * @param defaults the values of fields that a record may leave out.
 */
export function isSameValue(value: RecordValue, other: RecordValue, defaults: Fields): boolean {
  return hasAll(value, other, isAlike, { defaults }) && hasAll(other, value, isAlike, { defaults });
}

/**
 * Returns true if an answer or a reading shows a value that was sent. A service may print a date in another way, add members to an
 * object within a field, and leave out a default.
 */
export function isShownBy(sent: RecordValue, actual: RecordValue, absent: AbsentFields): boolean {
  return hasAll(sent, actual, isShown, absent);
}

function hasAll(expected: RecordValue, actual: RecordValue, compare: IsSame, absent: AbsentFields): boolean {
  if (isFields(expected) && isFields(actual))
    return differencesOf(expected, actual, compare, absent).length === 0;
  return !isFields(expected) && !isFields(actual) && isSame(expected, actual);
}

/** The expected and the actual value of a field. */
interface Comparison {
  readonly name: string;
  readonly expected: JsonValue | undefined;
  readonly actual: JsonValue | undefined;
}

/**
 * Returns the expected fields that the actual value does not have, or has with another value. A field that is left out counts as
 * its default.
 */
export function differencesOf(
  expected: Fields,
  actual: Fields,
  compare: IsSame = isSameField,
  { defaults, writeOnly }: AbsentFields = { defaults: {} },
): Comparison[] {
  // Somebody may have renamed a category. That is no change of its pets.
  const keyOf = (name: string) =>
    name === categoryName && (expected.categoryId ?? null) !== null ? 'categoryId' : name;
  const isSameAt = (name: string) =>
    compare(expected[name] ?? defaults[name], actual[name] ?? defaults[name], name);
  // A description may leave out a field that the service shows.
  const isNotShown = (name: string) => writeOnly?.has(name) === true && actual[name] === undefined;
  return Object.keys(expected)
    .filter((name) => !isNotShown(name) && !isSameAt(keyOf(name)))
    .map((name) => ({ name, expected: expected[name], actual: actual[name] }));
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

/** Returns the part of a value that differs from another value, as a text. */
export function differenceText(value: RecordValue, other: RecordValue): string {
  if (!isFields(value) || !isFields(other)) return valueText(value);
  const differences = [...differencesOf(value, other), ...differencesOf(other, value)];
  return valueText(Object.fromEntries(differences.map(({ name }) => [name, value[name]])));
}

const dateFields = fieldsOfKind('date');

/** Compares our dates as instants, a day as its first instant in UTC. */
const isSameField: IsSame = (value, other, name) =>
  isSame(value, other) || (dateFields.has(name) && isSameInstant(value, other));

/** Compares all dates as instants, those of the service too. */
const isAlike: IsSame = (value, other) => isSame(value, other) || isSameInstant(value, other);

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
