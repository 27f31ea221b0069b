import {
  isJsonObject,
  isSameNumber,
  type JsonObject,
  type JsonValue,
  printJson,
} from '../process/exact-json.ts';
import { comparedCategories, isCategoryField } from './category.ts';
import { fieldsOfKind } from './nouns.ts';
import {
  defaultStatus,
  describeValue,
  type Fields,
  isFields,
  type RecordValue,
  toInstant,
} from './record-values.ts';

// When two values are the same. From strict to loose:
// - `isSameValue`: both have the same fields.
// - `isMetBy`: a record has each expected field. It may have further ones. A write is decided by this.
// - `isShownBy`: an answer shows what was sent, perhaps in another form.
// `isAsBefore` is the exception to `isShownBy`: a field that is exactly as before was not written.

/** The values of fields that a record may leave out. */
const omittedValues: JsonObject = { status: defaultStatus, complete: false };

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
 * Returns true if a field that was to be changed is exactly as before. It finds a removal within a field that was ignored: `{a: 1}` was
 * sent to replace `{a: 1, b: 2}`, and the answer still has both members. `isShownBy` takes `b` for an addition of the service.
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

/** Describes the part of a value that differs from another value. */
export function describeDifference(value: RecordValue, other: RecordValue): string {
  if (!isFields(value) || !isFields(other)) return describeValue(value);
  const differences = [...differencesOf(value, other), ...differencesOf(other, value)];
  return describeValue(Object.fromEntries(differences.map(({ name }) => [name, value[name]])));
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
