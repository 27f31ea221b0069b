import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { readPattern } from '../api/pattern.ts';
import { int64Max } from '../api/values.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import { shorten, withArticle } from '../process/text.ts';
import { withinTime } from '../process/within-time.ts';
import { memberOf, memberPointer, segmentsOf, toPointer, valueAt } from './pointer.ts';

/** The result of checking a body against its schema. */
export interface BodyResult {
  readonly fault?: SchemaFault | undefined;
  /** The part that could not be checked, a clause. */
  readonly unchecked?: string | undefined;
}

/**
 * Checks a body against a JSON Schema of draft 2020-12, which must contain everything that it refers to. Integers of
 * the format int64 are compared exactly.
 *
 * @param limitMs a hostile pattern with a hostile text can keep a regular expression busy for years.
 * @throws Error if the schema itself is wrong.
 */
export function checkBody(schema: JsonObject, body: JsonValue, limitMs: number): BodyResult {
  const { validator, prepared, unread } = prepare(schema);
  const value = toDoubles(body);
  const result = withinTime(
    limitMs,
    () => validator.validate(value),
    () => undefined,
  );
  if (!result) return { unchecked: `the body could not be checked within ${limitMs / 1000} s` };
  const leaf = result.errors.find((error) => isLeaf(error, result.errors));
  if (!result.valid && leaf) return { fault: describe(leaf, prepared, body) };
  return {
    unchecked: unread && `the pattern ${shorten(unread, 200)} is not an expression that can be tried`,
  };
}

interface Prepared {
  readonly validator: Validator;
  /** The schema as the validator has it. */
  readonly prepared: JsonObject;
  /** The first pattern that is not a valid expression. */
  readonly unread: string | undefined;
}

const cache = new WeakMap<JsonObject, Prepared>();

/** Kept, because a description's schemas may be large and each is used many times in a run. */
function prepare(schema: JsonObject): Prepared {
  const cached = cache.get(schema);
  if (cached) return cached;
  const unread: string[] = [];
  const read = (pattern: string) => {
    const readable = readPattern(pattern);
    if (readable === undefined) unread.push(pattern);
    return readable;
  };
  const change = (part: JsonObject) => withIntegerBounds(withPatterns(part, read));
  const prepared = mapSchemas(toDoubles(schema), change) as JsonObject;
  const validation = {
    validator: new Validator(prepared as Schema, '2020-12', true),
    prepared,
    unread: unread[0],
  };
  cache.set(schema, validation);
  return validation;
}

/** The first fault of a value. */
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
  return !errors.some((other) => isWithin(other, error));
}

/** An error of the schema `false` has its location in the value, but not that in the schema. */
function isWithin(inner: OutputUnit, outer: OutputUnit): boolean {
  const place = inner.keyword === 'false' ? 'instanceLocation' : 'keywordLocation';
  return inner[place].startsWith(`${outer[place]}/`);
}

function describe(error: OutputUnit, schema: JsonObject, body: JsonValue): SchemaFault {
  const pointer = toPointer(error.instanceLocation);
  const rule = ruleAt(schema, error.keywordLocation);
  const got = valueAt(body, pointer) ?? null;
  const where = pointer || 'the body';
  if (error.keyword !== 'required') {
    const expected = expectation(error, rule);
    return { reason: `${where} must be ${expected}`, pointer, expected, got };
  }
  const required = Array.isArray(rule.required) ? rule.required.map(String) : [];
  const missing = required.find((name) => !isJsonObject(got) || !Object.hasOwn(got, name)) ?? '';
  const expected = `the field ${JSON.stringify(missing)}`;
  const place = memberPointer(pointer, missing);
  return { reason: `${where} lacks ${expected}`, pointer: place, expected, got };
}

function expectation({ keyword, error }: OutputUnit, rule: JsonObject): string {
  if (keyword === 'type') return typeText(rule);
  if (keyword === 'enum' && Array.isArray(rule.enum))
    return `one of ${rule.enum.map((each) => JSON.stringify(each)).join(', ')}`;
  if (keyword === 'const') return JSON.stringify(rule.const);
  if (keyword === 'format') return `a string of the format ${rule.format}`;
  if (keyword === 'pattern') return `a string that matches ${rule.pattern}`;
  if (isIntegerFormat(rule.format) && keyword.endsWith('imum')) return typeText(rule);
  if (keyword === 'minimum') return `a number of at least ${rule.minimum}`;
  if (keyword === 'maximum') return `a number of at most ${rule.maximum}`;
  if (keyword === 'minLength') return `a string of at least ${rule.minLength} characters`;
  if (keyword === 'maxLength') return `a string of at most ${rule.maxLength} characters`;
  if (keyword === 'false') return 'absent';
  return `valid: ${error.replace(/\.$/, '')}`;
}

/** @param rule its type may be missing if it has the format of an integer. */
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
function withIntegerBounds(schema: JsonObject): JsonObject {
  const { format, minimum, maximum } = schema;
  const [least, most] = (isIntegerFormat(format) && integerBounds[format]) || [];
  if (least === undefined || most === undefined) return schema;
  const low = typeof minimum === 'number' ? Math.max(minimum, least) : least;
  const high = typeof maximum === 'number' ? Math.min(maximum, most) : most;
  return { ...schema, minimum: low, maximum: high };
}

/** The schema with the keyword at this location, which leads through references. */
function ruleAt(root: JsonObject, location: string): JsonObject {
  let at: JsonValue | undefined = root;
  for (const segment of segmentsOf(toPointer(location)).slice(0, -1)) {
    at = memberOf(at, segment);
    if (segment === '$ref' && typeof at === 'string') at = valueAt(root, toPointer(at));
  }
  return isJsonObject(at) ? at : {};
}

/** Rewrites patterns, or removes one that cannot be read: names that match none can then not be forbidden. */
function withPatterns(schema: JsonObject, read: (pattern: string) => string | undefined): JsonObject {
  const { pattern, patternProperties, ...rest } = schema;
  const readable = typeof pattern === 'string' ? read(pattern) : undefined;
  const kept = readable === undefined ? rest : { ...rest, pattern: readable };
  if (!isJsonObject(patternProperties)) return kept;
  const named = Object.entries(patternProperties).map(([name, member]) => [read(name), member] as const);
  if (named.every(([name]) => name !== undefined))
    return { ...kept, patternProperties: Object.fromEntries(named) };
  const { additionalProperties, unevaluatedProperties, ...open } = kept;
  return open;
}

/** Keywords that hold a map of schemas. */
const maps = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions', 'schemas'];
/** Keywords that hold data, in which nothing is a keyword. */
const data = ['enum', 'const', 'default', 'example', 'examples'];

/** A copy of a schema; `change` is applied to every schema inside it, and last to itself. */
function mapSchemas(value: JsonValue, change: (schema: JsonObject) => JsonObject): JsonValue {
  const inner = (part: JsonValue): JsonValue => mapSchemas(part, change);
  if (Array.isArray(value)) return value.map(inner);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([key, member]): [string, JsonValue] => {
    if (data.includes(key)) return [key, member];
    return [key, maps.includes(key) && isJsonObject(member) ? mapValues(member, inner) : inner(member)];
  });
  return change(Object.fromEntries(members));
}

function mapValues(value: JsonObject, change: (member: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member)]));
}
