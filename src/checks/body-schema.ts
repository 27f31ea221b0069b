import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { dataKeywords, int64Max, readPattern } from '../api/values.ts';
import { runWithinTime } from '../process/deadline.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import { memberOf, memberPointer, pointerSegments, toPointer, valueAt } from '../process/pointer.ts';
import { secondsText, shorten, withArticle } from '../process/text.ts';

/** The result of a comparison of a body with a schema. */
export interface BodyResult {
  readonly fault?: SchemaFault | undefined;
  /** What is worth a warning, a clause: what could not be checked, or a usual liberty. */
  readonly remark?: string | undefined;
}

/**
 * Checks a body against a JSON Schema of draft 2020-12. Integers of the format int64 are compared exactly.
 *
 * @param limitMs the time limit. A hostile pattern can keep a regular expression busy for years.
 * @param definitions the `$defs` of the schema, if the schema does not have them.
 * @throws Error if the schema itself is wrong.
 */
export function checkBody(
  schema: JsonObject,
  body: JsonValue,
  limitMs: number,
  definitions?: JsonObject,
): BodyResult {
  const known =
    validators.get(schema) ?? createValidator(definitions ? { ...schema, $defs: definitions } : schema);
  validators.set(schema, known);
  const { validator, root, badPattern } = known;
  const value = toDoubles(body);
  const faultOf = (candidate: JsonValue): SchemaFault | undefined => {
    const { valid, errors } = validator.validate(candidate);
    const leaf = valid ? undefined : errors.find((error) => isLeaf(error, errors));
    return leaf && toFault(leaf, root, body);
  };
  const compare = () => {
    const strict = faultOf(value);
    return { strict, fault: strict && faultOf(withoutLiberties(value)) };
  };
  const result = runWithinTime(limitMs, compare, () => undefined);
  if (!result) return { remark: `the body could not be checked within ${secondsText(limitMs)}` };
  const { strict, fault } = result;
  if (fault) return { fault };
  const pattern = badPattern && shorten(badPattern, 200);
  return {
    remark: strict?.reason ?? (pattern && `the pattern ${pattern} is not an expression that can be tried`),
  };
}

/**
 * Removes the liberties that frameworks take with their own descriptions: null for a field without a value, and times
 * without an offset.
 */
function withoutLiberties(value: JsonValue): JsonValue {
  if (typeof value === 'string')
    return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/.test(value) ? `${value}Z` : value;
  if (Array.isArray(value)) return value.map(withoutLiberties);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(entries.map(([name, member]) => [name, withoutLiberties(member)]));
}

/** The validators, by schema. A schema may be large, and is used many times. */
const validators = new WeakMap<JsonObject, ReturnType<typeof createValidator>>();

/** Makes the validator of a rewritten schema, and tells the first pattern that is not a valid expression. */
function createValidator(schema: JsonObject) {
  const badPatterns: string[] = [];
  const toExpression = (pattern: string) => {
    const expression = readPattern(pattern);
    if (expression === undefined) badPatterns.push(pattern);
    return expression;
  };
  const change = (part: JsonObject) => addIntegerBounds(rewritePatterns(part, toExpression));
  const root = mapSchemas(toDoubles(schema), change) as JsonObject;
  return { validator: new Validator(root as Schema, '2020-12', true), root, badPattern: badPatterns[0] };
}

/** A value in a body that breaks a rule of its schema. */
interface SchemaFault {
  /** The rule that the value breaks, a clause. */
  readonly reason: string;
  /** JSON pointer into the value (RFC 6901). */
  readonly pointer: string;
  readonly expected: string;
  /** The value at the pointer; for a missing field, the object that lacks it. */
  readonly got: JsonValue;
}

// The validator computes with doubles. 2 ** 63 - 1 is not a double.

/** The largest double within int64. */
const lastInside = 2 ** 63 - 1024;
/** A double beyond int64. */
const firstOutside = 2 ** 64;

/** Whether an error has no cause inside it. If all alternatives of a value fail, the cause is their keyword. */
function isLeaf(error: OutputUnit, errors: readonly OutputUnit[]): boolean {
  if (['anyOf', 'oneOf', 'false'].includes(error.keyword)) return true;
  return !errors.some((innerError) => isInside(innerError, error));
}

/** Whether an error is inside another one. An error of the schema `false` has only a location in the value. */
function isInside(inner: OutputUnit, outer: OutputUnit): boolean {
  const location = inner.keyword === 'false' ? 'instanceLocation' : 'keywordLocation';
  return inner[location].startsWith(`${outer[location]}/`);
}

function toFault(error: OutputUnit, root: JsonObject, body: JsonValue): SchemaFault {
  const pointer = toPointer(error.instanceLocation);
  const rule = ruleAt(root, error.keywordLocation);
  const got = valueAt(body, pointer) ?? null;
  const subject = pointer || 'the body';
  if (error.keyword !== 'required') {
    const toText = expectations[error.keyword] ?? (() => `valid: ${error.error.replace(/\.$/, '')}`);
    const expected = toText(rule);
    return { reason: `${subject} must be ${expected}`, pointer, expected, got };
  }
  const required = Array.isArray(rule.required) ? rule.required.map(String) : [];
  const fields = isJsonObject(got) ? got : {};
  const missingName =
    required.find((name) => !Object.hasOwn(fields, name)) ??
    required.find((name) => fields[name] === null) ??
    '';
  const expected = `the field ${JSON.stringify(missingName)}`;
  return {
    reason: `${subject} lacks ${expected}`,
    pointer: memberPointer(pointer, missingName),
    expected,
    got,
  };
}

/** The texts for the expected value, by the broken keyword. */
const expectations: Readonly<Record<string, (rule: JsonObject) => string>> = {
  type: typeText,
  enum: ({ enum: values }) =>
    `one of ${[values]
      .flat()
      .map((value) => JSON.stringify(value))
      .join(', ')}`,
  const: (rule) => JSON.stringify(rule.const),
  format: ({ format }) => `a string of the format ${format}`,
  pattern: ({ pattern }) => `a string that matches ${pattern}`,
  minimum: (rule) => (isIntegerFormat(rule.format) ? typeText(rule) : `a number of at least ${rule.minimum}`),
  maximum: (rule) => (isIntegerFormat(rule.format) ? typeText(rule) : `a number of at most ${rule.maximum}`),
  minLength: ({ minLength }) => `a string of at least ${minLength} characters`,
  maxLength: ({ maxLength }) => `a string of at most ${maxLength} characters`,
  false: () => 'absent',
};

/** Names the type that a rule requires, such as `an integer (int64)`. Without a type, the format is one of integers. */
function typeText({ type = 'integer', format }: JsonObject): string {
  const names = [type].flat().map((name) => (name === 'null' ? 'null' : withArticle(String(name))));
  return names.join(' or ') + (typeof format === 'string' ? ` (${format})` : '');
}

/** Converts the numbers of a value to doubles. A bigint becomes a double on the same side of the limits of int64. */
function toDoubles(value: JsonValue): JsonValue {
  if (typeof value === 'bigint') return toDouble(value);
  if (Array.isArray(value)) return value.map(toDoubles);
  if (isJsonObject(value)) return mapValues(value, toDoubles);
  return typeof value === 'object' && value !== null ? Number(value) : value;
}

function toDouble(value: bigint): number {
  if (value > int64Max) return Math.max(Number(value), firstOutside);
  if (value < -int64Max - 1n) return Math.min(Number(value), -firstOutside);
  return Math.min(Number(value), lastInside);
}

const integerBounds: Readonly<Record<string, readonly [minimum: number, maximum: number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), lastInside],
};

function isIntegerFormat(format: JsonValue | undefined): format is string {
  return typeof format === 'string' && Object.hasOwn(integerBounds, format);
}

/** Adds the bounds of the formats int32 and int64, because JSON Schema ignores the format of a number. */
function addIntegerBounds(schema: JsonObject): JsonObject {
  const { format, minimum, maximum } = schema;
  const [least, most] = (isIntegerFormat(format) && integerBounds[format]) || [];
  if (least === undefined || most === undefined) return schema;
  const low = typeof minimum === 'number' ? Math.max(minimum, least) : least;
  const high = typeof maximum === 'number' ? Math.min(maximum, most) : most;
  return { ...schema, minimum: low, maximum: high };
}

/** Returns the schema that has the keyword at a location. The location leads through references. */
function ruleAt(root: JsonObject, location: string): JsonObject {
  let schema: JsonValue | undefined = root;
  for (const segment of pointerSegments(toPointer(location)).slice(0, -1)) {
    schema = memberOf(schema, segment);
    if (segment === '$ref' && typeof schema === 'string') schema = valueAt(root, toPointer(schema));
  }
  return isJsonObject(schema) ? schema : {};
}

/**
 * Rewrites the patterns of a schema as expressions of JavaScript, and removes a pattern that is not valid. If a pattern for
 * names is removed, every further name is allowed, because it might match.
 */
function rewritePatterns(
  schema: JsonObject,
  toExpression: (pattern: string) => string | undefined,
): JsonObject {
  const { pattern, patternProperties, ...rest } = schema;
  const expression = typeof pattern === 'string' ? toExpression(pattern) : undefined;
  const result = expression === undefined ? rest : { ...rest, pattern: expression };
  if (!isJsonObject(patternProperties)) return result;
  const members = Object.entries(patternProperties).map(
    ([name, member]) => [toExpression(name), member] as const,
  );
  if (members.every(([name]) => name !== undefined))
    return { ...result, patternProperties: Object.fromEntries(members) };
  const { additionalProperties, unevaluatedProperties, ...openSchema } = result;
  return openSchema;
}

/** The members whose value is a map: its names are not keywords, and its values are schemas. */
const maps = /^(properties|patternProperties|dependentSchemas|\$defs|definitions)$/;

/** Copies a schema. `change` gets each schema inside it, the inner ones first, and the whole last. */
function mapSchemas(value: JsonValue, change: (schema: JsonObject) => JsonObject): JsonValue {
  const mapPart = (part: JsonValue): JsonValue => mapSchemas(part, change);
  if (Array.isArray(value)) return value.map(mapPart);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([key, member]): [string, JsonValue] => {
    if (dataKeywords.test(key)) return [key, member];
    return [key, maps.test(key) && isJsonObject(member) ? mapValues(member, mapPart) : mapPart(member)];
  });
  return change(Object.fromEntries(members));
}

/** Copies an object with other values. */
function mapValues(value: JsonObject, change: (member: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member)]));
}
