import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { int64Max, readPattern } from '../api/values.ts';
import { processorMs } from '../process/deadline.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import { shorten, withArticle } from '../process/text.ts';
import { withinTime } from '../process/within-time.ts';
import { memberOf, memberPointer, pointerSegments, toPointer, valueAt } from './pointer.ts';

/** The result of the check of a body. */
export interface BodyResult {
  readonly fault?: SchemaFault | undefined;
  /** What could not be checked, a clause. */
  readonly unchecked?: string | undefined;
}

/**
 * Checks a body against a JSON Schema of draft 2020-12. Integers of the format int64 are compared exactly.
 *
 * @param limitMs the most processor time, because a hostile pattern can keep a regular expression busy for years.
 * @param definitions the `$defs` of the schema, if it does not have them itself.
 * @throws Error if the schema itself is wrong.
 */
export function checkBody(
  schema: JsonObject,
  body: JsonValue,
  limitMs: number,
  definitions?: JsonObject,
): BodyResult {
  const { validator, root, unreadable } = prepare(schema, definitions);
  const value = toDoubles(body);
  const result = withinProcessorTime(limitMs, () => validator.validate(value));
  if (!result) return { unchecked: `the body could not be checked within ${limitMs / 1000} s` };
  const leaf = result.errors.find((error) => isLeaf(error, result.errors));
  if (!result.valid && leaf) return { fault: toFault(leaf, root, body) };
  return {
    unchecked: unreadable && `the pattern ${shorten(unreadable, 200)} is not an expression that can be tried`,
  };
}

/**
 * The value of synchronous work; undefined if it takes more processor time than the limit. If other processes use the
 * processor meanwhile, the work begins again with more time by the clock.
 */
function withinProcessorTime<Value>(limitMs: number, work: () => Value): Value | undefined {
  for (let clockMs = limitMs; ; clockMs *= 2) {
    const startedMs = processorMs();
    const value = withinTime(clockMs, work, () => undefined);
    // The clock also runs while the processor switches between processes.
    const isSpent = processorMs() - startedMs >= 0.8 * limitMs;
    if (value !== undefined || isSpent) return value;
  }
}

interface SchemaValidator {
  readonly validator: Validator;
  /** The schema as the validator has it. */
  readonly root: JsonObject;
  /** The first pattern that is not a valid expression. */
  readonly unreadable: string | undefined;
}

/** The validator of each schema: a schema may be large, and is used many times in a run. */
const validators = new WeakMap<JsonObject, SchemaValidator>();

function prepare(schema: JsonObject, definitions: JsonObject | undefined): SchemaValidator {
  const prepared =
    validators.get(schema) ?? createValidator(definitions ? { ...schema, $defs: definitions } : schema);
  validators.set(schema, prepared);
  return prepared;
}

function createValidator(schema: JsonObject): SchemaValidator {
  const unreadable: string[] = [];
  const toExpression = (pattern: string) => {
    const expression = readPattern(pattern);
    if (expression === undefined) unreadable.push(pattern);
    return expression;
  };
  const change = (part: JsonObject) => addIntegerBounds(rewritePatterns(part, toExpression));
  const root = mapSchemas(toDoubles(schema), change) as JsonObject;
  return { validator: new Validator(root as Schema, '2020-12', true), root, unreadable: unreadable[0] };
}

/** The place of a body that breaks a rule of its schema. */
interface SchemaFault {
  /** The rule that it breaks, a clause. */
  readonly reason: string;
  /** JSON pointer into the value (RFC 6901). */
  readonly pointer: string;
  readonly expected: string;
  /** The value at the pointer; for a missing field, the object that lacks it. */
  readonly got: JsonValue;
}

/** The doubles next to the limits of int64, inside and outside: the validator computes with doubles. */
const lastInside = 2 ** 63 - 1024;
const firstOutside = 2 ** 64;

/** Whether an error is a cause and not a wrapper around one. If all alternatives fail, none of them is the cause. */
function isLeaf(error: OutputUnit, errors: readonly OutputUnit[]): boolean {
  if (['anyOf', 'oneOf', 'false'].includes(error.keyword)) return true;
  return !errors.some((other) => isInside(other, error));
}

/** Whether an error lies inside another. An error of the schema `false` has a location in the value only. */
function isInside(inner: OutputUnit, outer: OutputUnit): boolean {
  const location = inner.keyword === 'false' ? 'instanceLocation' : 'keywordLocation';
  return inner[location].startsWith(`${outer[location]}/`);
}

function toFault(error: OutputUnit, root: JsonObject, body: JsonValue): SchemaFault {
  const pointer = toPointer(error.instanceLocation);
  const rule = ruleAt(root, error.keywordLocation);
  const got = valueAt(body, pointer) ?? null;
  const place = pointer || 'the body';
  if (error.keyword !== 'required') {
    const toText = expectations[error.keyword] ?? (() => `valid: ${error.error.replace(/\.$/, '')}`);
    const expected = toText(rule);
    return { reason: `${place} must be ${expected}`, pointer, expected, got };
  }
  const required = Array.isArray(rule.required) ? rule.required.map(String) : [];
  const missing = required.find((name) => !isJsonObject(got) || !Object.hasOwn(got, name)) ?? '';
  const expected = `the field ${JSON.stringify(missing)}`;
  return { reason: `${place} lacks ${expected}`, pointer: memberPointer(pointer, missing), expected, got };
}

/** The value that a schema expects, by the keyword that is broken. */
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

/** The type that a rule demands, such as `an integer (int64)`; without a type it has the format of an integer. */
function typeText({ type = 'integer', format }: JsonObject): string {
  const names = [type].flat().map((name) => (name === 'null' ? 'null' : withArticle(String(name))));
  return names.join(' or ') + (typeof format === 'string' ? ` (${format})` : '');
}

/** The validator knows only doubles: a bigint becomes one on the same side of the limits of int64. */
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

/** JSON Schema ignores the format of a number, so int32 and int64 are added as bounds. */
function addIntegerBounds(schema: JsonObject): JsonObject {
  const { format, minimum, maximum } = schema;
  const [least, most] = (isIntegerFormat(format) && integerBounds[format]) || [];
  if (least === undefined || most === undefined) return schema;
  const low = typeof minimum === 'number' ? Math.max(minimum, least) : least;
  const high = typeof maximum === 'number' ? Math.min(maximum, most) : most;
  return { ...schema, minimum: low, maximum: high };
}

/** The schema with the keyword at this location, which leads through references. */
function ruleAt(root: JsonObject, location: string): JsonObject {
  let schema: JsonValue | undefined = root;
  for (const segment of pointerSegments(toPointer(location)).slice(0, -1)) {
    schema = memberOf(schema, segment);
    if (segment === '$ref' && typeof schema === 'string') schema = valueAt(root, toPointer(schema));
  }
  return isJsonObject(schema) ? schema : {};
}

/**
 * Rewrites the patterns of a schema as expressions of JavaScript, and removes those that cannot be read. If a pattern for
 * names is removed, no further name is forbidden, because it might match.
 */
function rewritePatterns(
  schema: JsonObject,
  toExpression: (pattern: string) => string | undefined,
): JsonObject {
  const { pattern, patternProperties, ...rest } = schema;
  const expression = typeof pattern === 'string' ? toExpression(pattern) : undefined;
  const rewritten = expression === undefined ? rest : { ...rest, pattern: expression };
  if (!isJsonObject(patternProperties)) return rewritten;
  const members = Object.entries(patternProperties).map(
    ([name, member]) => [toExpression(name), member] as const,
  );
  if (members.every(([name]) => name !== undefined))
    return { ...rewritten, patternProperties: Object.fromEntries(members) };
  const { additionalProperties, unevaluatedProperties, ...openSchema } = rewritten;
  return openSchema;
}

/** Keywords that hold a map of schemas. */
const mapKeywords = [
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
  'schemas',
];
/** Keywords that hold data, in which nothing is a keyword. */
const dataKeywords = ['enum', 'const', 'default', 'example', 'examples'];

/** A copy of a schema; `change` is applied to every schema inside it, and last to itself. */
function mapSchemas(value: JsonValue, change: (schema: JsonObject) => JsonObject): JsonValue {
  const mapPart = (part: JsonValue): JsonValue => mapSchemas(part, change);
  if (Array.isArray(value)) return value.map(mapPart);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([key, member]): [string, JsonValue] => {
    if (dataKeywords.includes(key)) return [key, member];
    return [
      key,
      mapKeywords.includes(key) && isJsonObject(member) ? mapValues(member, mapPart) : mapPart(member),
    ];
  });
  return change(Object.fromEntries(members));
}

function mapValues(value: JsonObject, change: (member: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member)]));
}
