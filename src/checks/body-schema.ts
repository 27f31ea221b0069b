import { int64Max, isDateTime, isDay } from '../api/record-values.ts';
import { monotonicMs } from '../process/deadline.ts';
import {
  ExactNumber,
  isJsonObject,
  isNumber,
  type JsonObject,
  type JsonValue,
  printJson,
  printPointer,
} from '../process/exact-json.ts';
import { durationText, withArticle } from '../process/text.ts';
import type { Finding } from './check.ts';

/** The result of a comparison of a body with a schema. */
export interface BodyResult {
  readonly mismatch?: Mismatch | undefined;
  /** A reason for a warning, a clause: the comparison took too long. */
  readonly remark?: string | undefined;
}

/** A value in a body that breaks a rule of its schema. For a missing field, `got` is the object that lacks it. */
type Mismatch = Pick<Finding, 'reason' | 'pointer' | 'expected' | 'got'>;

/** The arguments that all parts of a comparison need. */
interface Comparison {
  /** The schemas to which others refer, by the references to them. */
  readonly definitions: JsonObject;
  /** The moment when the comparison is abandoned: alternatives within alternatives can take years. */
  readonly endsAt: number;
}

/** The time of a comparison is over. */
class LateError extends Error {}

/**
 * Compares a body with a JSON Schema of draft 2020-12, by the keywords that descriptions of answers use. A keyword that is
 * not known here allows everything. Integers are compared exactly. Null is allowed for a field that is not required. No library
 * does this: `@cfworker/json-schema` throws at a bigint, refuses that null and has no time limit.
 *
 * @param definitions the schemas to which others refer, by the references to them.
 * @param limitMs the time for the comparison.
 * @throws Error if a reference leads nowhere or only to itself.
 */
export function compareBody(
  schema: JsonObject,
  body: JsonValue,
  definitions: JsonObject = {},
  limitMs = 10_000,
): BodyResult {
  const endsAt = monotonicMs() + limitMs;
  try {
    const [mismatch] = mismatchesIn(schema, body, '', { definitions, endsAt });
    return { mismatch };
  } catch (error) {
    if (!(error instanceof LateError)) throw error;
    return { remark: `the body could not be checked within ${durationText(limitMs)}` };
  }
}

/**
 * Finds the values that break a rule of a schema.
 *
 * @param pointer the place of the value in the body.
 * @param whole the whole schema of the value. `schema` may be a part of it.
 */
function* mismatchesIn(
  schema: JsonValue,
  value: JsonValue,
  pointer: string,
  comparison: Comparison,
  whole = schema,
): Generator<Mismatch> {
  if (monotonicMs() > comparison.endsAt) throw new LateError();
  if (schema === false) yield toMismatch('absent', value, pointer);
  // The upgrade from OpenAPI 3.0 leaves `nullable` beside a reference or a composition as it is.
  if (!isJsonObject(schema) || (value === null && schema.nullable === true)) return;
  const expected = brokenRule(schema, value);
  if (expected !== undefined) yield toMismatch(expected, value, pointer);
  const { anyOf, oneOf } = schema;
  for (const part of conjoinedSchemas(schema, comparison))
    yield* mismatchesIn(part, value, pointer, comparison, whole);
  const isValid = (part: JsonValue) => mismatchesIn(part, value, pointer, comparison).next().done === true;
  // If a value fits none of its alternatives, the mismatch is with all of them, and no single one is named.
  for (const alternatives of [anyOf, oneOf])
    if (Array.isArray(alternatives) && !alternatives.some(isValid))
      yield toMismatch(alternativesText(alternatives), value, pointer);
  yield* mismatchesOfMembers(schema, value, pointer, comparison, whole);
}

/** Lists the schemas that a value must also fit: the target of a reference, and the schemas of `allOf`. */
function conjoinedSchemas(
  { $ref: reference, allOf }: JsonObject,
  comparison: Comparison,
): readonly JsonValue[] {
  const definition = typeof reference === 'string' ? [schemaAt(reference, comparison)] : [];
  return Array.isArray(allOf) ? [...definition, ...allOf] : definition;
}

/** Returns true if any part of a schema says that a field is only written, so that no answer has it. */
function isWriteOnly(schema: JsonValue, name: string, comparison: Comparison): boolean {
  if (!isJsonObject(schema)) return false;
  const field = isJsonObject(schema.properties) ? schema.properties[name] : undefined;
  return (
    (isJsonObject(field) && field.writeOnly === true) ||
    conjoinedSchemas(schema, comparison).some((part) => isWriteOnly(part, name, comparison))
  );
}

function toMismatch(expected: string, got: JsonValue, pointer: string): Mismatch {
  return { reason: `${pointer || 'the body'} must be ${expected}`, pointer, expected, got: printJson(got) };
}

function schemaAt(reference: string, { definitions }: Comparison): JsonValue {
  const definition = definitions[reference];
  if (definition === undefined) throw new Error(`${reference} leads nowhere`);
  return definition;
}

/** Returns the requirement of the first rule that a value itself breaks. Its members are compared elsewhere. */
function brokenRule(schema: JsonObject, value: JsonValue): string | undefined {
  const { type, enum: values, const: constant, format } = schema;
  if (type !== undefined && ![type].flat().some((name) => isOfType(value, name))) return typeText(schema);
  // In OpenAPI 3.0, null is allowed beside the values of an enum.
  const isNull = value === null && type !== undefined;
  if (Array.isArray(values) && !isNull && !values.some((each) => hasSameJson(each, value)))
    return `one of ${values.map((each) => printJson(each)).join(', ')}`;
  if (constant !== undefined && !hasSameJson(constant, value)) return printJson(constant);
  if (typeof value === 'string') {
    // Many frameworks print times without an offset.
    const isInstant = isDateTime(value) || isDateTime(`${value}Z`);
    const isBroken = (format === 'date-time' && !isInstant) || (format === 'date' && !isDay(value));
    return isBroken ? `a string of the format ${format}` : undefined;
  }
  const number = value instanceof ExactNumber ? Number(value) : value;
  if (!isNumber(number)) return undefined;
  const [least, most] = (typeof format === 'string' && integerBounds.get(format)) || [];
  if (least !== undefined && most !== undefined && (number < least || number > most)) return typeText(schema);
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  if (isNumber(above) && number <= above) return `a number above ${above}`;
  if (isNumber(below) && number >= below) return `a number below ${below}`;
  if (isNumber(minimum) && number < minimum) return `a number of at least ${minimum}`;
  return isNumber(maximum) && number > maximum ? `a number of at most ${maximum}` : undefined;
}

/** The limits of the formats of integers, which JSON Schema itself ignores. */
const integerBounds: ReadonlyMap<string, readonly [least: bigint, most: bigint]> = new Map([
  ['int32', [-(2n ** 31n), 2n ** 31n - 1n]],
  ['int64', [-int64Max - 1n, int64Max]],
]);

function isOfType(value: JsonValue, type: JsonValue): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isJsonObject(value);
  const isAnyNumber = isNumber(value) || value instanceof ExactNumber;
  if (type === 'integer')
    return typeof value === 'bigint' || (isAnyNumber && Number.isInteger(Number(value)));
  return type === 'number' ? isAnyNumber : typeof value === type;
}

/** Names the type that a schema requires, such as `an integer (int64)`. Without a type, the format is one of integers. */
function typeText({ type = 'integer', format }: JsonObject): string {
  const names = [type].flat().map((name) => (name === 'null' ? 'null' : withArticle(String(name))));
  return names.join(' or ') + (typeof format === 'string' ? ` (${format})` : '');
}

/** Returns true if two values have the same JSON, such as a number and a bigint. */
function hasSameJson(value: JsonValue, other: JsonValue): boolean {
  return printJson(value) === printJson(other);
}

function alternativesText(alternatives: readonly JsonValue[]): string {
  const types = alternatives.map((each) => isJsonObject(each) && each.type !== undefined && typeText(each));
  return types.every(Boolean) ? types.join(' or ') : `one of ${types.length} alternatives`;
}

/** Finds the mismatches of the items of an array or the fields of an object. */
function* mismatchesOfMembers(
  { items = true, required, properties = {}, additionalProperties = true, patternProperties }: JsonObject,
  value: JsonValue,
  pointer: string,
  comparison: Comparison,
  whole: JsonValue,
): Generator<Mismatch> {
  const isObject = isJsonObject(value) && isJsonObject(properties);
  const names = isObject && Array.isArray(required) ? required.map(String) : [];
  for (const name of names) {
    if (Object.hasOwn(Object(value), name) || isWriteOnly(whole, name, comparison)) continue;
    const expected = `the field ${JSON.stringify(name)}`;
    const reason = `${pointer || 'the body'} lacks ${expected}`;
    yield { reason, pointer: pointer + printPointer([name]), expected, got: printJson(value) };
  }
  // A pattern of names is not compared, so every further name may match it.
  const further = patternProperties === undefined ? additionalProperties : true;
  const schemaOf = (name: string, member: JsonValue): JsonValue => {
    if (!isObject) return items;
    if (!Object.hasOwn(properties, name)) return further;
    const isAbsent = member === null && !names.includes(name);
    return isAbsent ? true : (properties[name] ?? true);
  };
  const members = isObject || Array.isArray(value) ? Object.entries(value) : [];
  for (const [name, member] of members)
    yield* mismatchesIn(schemaOf(name, member), member, pointer + printPointer([name]), comparison);
}
