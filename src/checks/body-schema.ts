import { int64Max, isDateTime, isDay } from '../api/record-values.ts';
import { CliError } from '../process/errors.ts';
import {
  ExactNumber,
  isJsonObject,
  isNumber,
  type JsonObject,
  type JsonValue,
  printJson,
  printPointer,
} from '../process/exact-json.ts';
import { withArticle } from '../process/text.ts';
import type { Finding } from './check.ts';

/** A value in a body that its schema does not allow. For a missing field, `got` is the object that lacks it. */
type Mismatch = Pick<Finding, 'reason' | 'pointer' | 'expected' | 'got'>;

/** The common inputs of all parts of a comparison. */
interface Comparison {
  /** The schemas to which others refer, by the references to them. */
  readonly definitions: JsonObject;
  /** How many values may still be compared: alternatives within alternatives can take years. */
  steps: number;
}

/**
 * Finds the first value in a body that a JSON Schema does not allow: a missing field, another type or word, an integer outside
 * its format, a text that is not a date. Other keywords, such as bounds, allow everything. Integers are compared exactly. Null is
 * allowed for a field that is not required. `@cfworker/json-schema` throws at a bigint, and refuses that null.
 *
 * @param definitions the schemas to which others refer, by the references to them.
 * @throws RangeError if a reference leads to itself, CliError if the comparison has too many steps.
 */
export function findMismatch(
  schema: JsonObject,
  body: JsonValue,
  definitions: JsonObject = {},
  steps = 100_000_000,
): Mismatch | undefined {
  return mismatchIn(schema, body, '', { definitions, steps });
}

/** @param pointer the place of the value in the body. */
function mismatchIn(
  schema: JsonValue,
  value: JsonValue,
  pointer: string,
  comparison: Comparison,
): Mismatch | undefined {
  comparison.steps -= 1;
  if (comparison.steps < 0) throw new CliError('failed', 'the schema has too many alternatives');
  // The upgrade from OpenAPI 3.0 leaves `nullable` beside a reference or a composition as it is.
  if (!isJsonObject(schema) || (value === null && schema.nullable === true)) return undefined;
  const expected = brokenRule(schema, value);
  if (expected !== undefined) return toMismatch(expected, value, pointer);
  const { $ref: reference, allOf, anyOf, oneOf, items = true } = schema;
  // A reference that leads nowhere allows everything.
  const target = typeof reference === 'string' ? (comparison.definitions[reference] ?? true) : true;
  for (const part of [target, ...(Array.isArray(allOf) ? allOf : [])]) {
    const mismatch = mismatchIn(part, value, pointer, comparison);
    if (mismatch) return mismatch;
  }
  const alternatives = anyOf ?? oneOf;
  // If a value fits none of its alternatives, the mismatch is with all of them, and no single one is named.
  if (
    Array.isArray(alternatives) &&
    alternatives.every((each) => mismatchIn(each, value, pointer, comparison))
  )
    return toMismatch(`one of ${alternatives.length} alternatives`, value, pointer);
  if (isJsonObject(value)) return mismatchOfFields(schema, value, pointer, comparison);
  if (!Array.isArray(value)) return undefined;
  for (const [index, item] of value.entries()) {
    const mismatch = mismatchIn(items, item, `${pointer}/${index}`, comparison);
    if (mismatch) return mismatch;
  }
  return undefined;
}

function mismatchOfFields(
  { properties, required }: JsonObject,
  value: JsonObject,
  pointer: string,
  comparison: Comparison,
): Mismatch | undefined {
  const schemas = isJsonObject(properties) ? properties : {};
  const names: readonly JsonValue[] = Array.isArray(required) ? required : [];
  for (const name of names.map(String)) {
    const schema = schemas[name];
    // No answer has a field that is only written.
    if (Object.hasOwn(value, name) || (isJsonObject(schema) && schema.writeOnly === true)) continue;
    const expected = `the field ${JSON.stringify(name)}`;
    const reason = `${pointer || 'the body'} lacks ${expected}`;
    return { reason, pointer: pointer + printPointer([name]), expected, got: printJson(value) };
  }
  for (const [name, member] of Object.entries(value)) {
    const isAbsent = member === null && !names.includes(name);
    if (isAbsent || !Object.hasOwn(schemas, name)) continue;
    const mismatch = mismatchIn(schemas[name] ?? true, member, pointer + printPointer([name]), comparison);
    if (mismatch) return mismatch;
  }
  return undefined;
}

function toMismatch(expected: string, got: JsonValue, pointer: string): Mismatch {
  return { reason: `${pointer || 'the body'} must be ${expected}`, pointer, expected, got: printJson(got) };
}

/** Returns the requirement of the first rule that a value itself breaks. Its members are compared elsewhere. */
function brokenRule(schema: JsonObject, value: JsonValue): string | undefined {
  const { type, format, enum: values } = schema;
  const isTyped = type === undefined || [type].flat().some((name) => isOfType(value, name));
  if (!isTyped || !isWithinFormat(value, format)) return typeText(schema);
  // In OpenAPI 3.0, null is allowed beside the values of an enum.
  if (!Array.isArray(values) || (value === null && type !== undefined)) return undefined;
  const texts = values.map((each) => printJson(each));
  return texts.includes(printJson(value)) ? undefined : `one of ${texts.join(', ')}`;
}

function isOfType(value: JsonValue, type: JsonValue): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isJsonObject(value);
  const isAnyNumber = isNumber(value) || value instanceof ExactNumber;
  if (type === 'integer')
    return typeof value === 'bigint' || (isAnyNumber && Number.isInteger(Number(value)));
  return type === 'number' ? isAnyNumber : typeof value === type;
}

/** Returns true unless a value breaks the format of integers or dates that its schema names. */
function isWithinFormat(value: JsonValue, format: JsonValue | undefined): boolean {
  if (typeof value === 'string') {
    // Many frameworks print times without an offset.
    if (format === 'date-time') return isDateTime(value) || isDateTime(`${value}Z`);
    return format !== 'date' || isDay(value);
  }
  const largest = format === 'int64' ? int64Max : format === 'int32' ? 2n ** 31n - 1n : undefined;
  const number = value instanceof ExactNumber ? Number(value) : value;
  return largest === undefined || !isNumber(number) || (number <= largest && number >= -largest - 1n);
}

/** Names the type that a schema requires, such as `an integer (int64)`. */
function typeText({ type = 'value', format }: JsonObject): string {
  const names = [type].flat().map((name) => (name === 'null' ? 'null' : withArticle(String(name))));
  return names.join(' or ') + (typeof format === 'string' ? ` (${format})` : '');
}
