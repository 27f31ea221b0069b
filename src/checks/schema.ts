import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { readPattern } from '../api/pattern.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { withinTime } from '../time-limit.ts';

/** The result of checking a body against its schema. */
interface BodyFinding {
  readonly fault: SchemaFault | undefined;
  /** The part of the schema that could not be checked, a clause. */
  readonly remark: string | undefined;
}

/**
 * Checks a body against a schema of the service's own description. A hostile pattern with a hostile text can keep a
 * regular expression busy for years, so after the time limit the body is checked again without patterns and formats.
 *
 * @throws Error if the schema itself is wrong.
 */
export function checkBody(schema: JsonObject, body: JsonValue, limitMs: number): BodyFinding {
  const { patterns, unread, whole, plain } = prepare(schema);
  const late = () => 'late' as const;
  const found = withinTime(limitMs, () => whole(body), late);
  if (found !== 'late')
    return { fault: found, remark: unread && `the pattern ${unread} is not an expression that can be tried` };
  const others = withinTime(limitMs, () => plain(body), late);
  const limit = `within ${limitMs / 1000} s`;
  if (others === 'late') return { fault: undefined, remark: `the body could not be checked ${limit}` };
  const subject = patterns.length === 1 ? `the pattern ${patterns[0]}` : 'the patterns';
  return { fault: others, remark: `${subject} could not be tried ${limit}` };
}

interface Prepared {
  readonly patterns: readonly string[];
  /** The first pattern that is not a valid expression. */
  readonly unread: string | undefined;
  readonly whole: SchemaCheck;
  /** Without patterns and formats. */
  readonly plain: SchemaCheck;
}

const known = new WeakMap<JsonObject, Prepared>();

/** Kept, because a description's schemas may be large and each is used many times in a run. */
function prepare(schema: JsonObject): Prepared {
  const before = known.get(schema);
  if (before) return before;
  const patterns = patternsOf(schema);
  const prepared = {
    patterns,
    unread: patterns.find((pattern) => readPattern(pattern) === undefined),
    whole: createSchemaCheck(withReadablePatterns(schema)),
    plain: createSchemaCheck(withoutExpressions(schema)),
  };
  known.set(schema, prepared);
  return prepared;
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

const int64Max = 9223372036854775807n;
const int64Min = -9223372036854775808n;
/** The doubles next to the limits of int64, inside and outside: the validator computes with doubles. */
const lastInside = 2 ** 63 - 1024;
const firstOutside = 2 ** 64;

/**
 * Checks values against a JSON Schema of draft 2020-12; integers of the format int64 are compared exactly.
 *
 * @param schema must contain everything that it refers to.
 */
export function createSchemaCheck(schema: JsonObject): SchemaCheck {
  const prepared = mapSchemas(toDoubles(schema), withIntegerBounds) as Schema;
  const validator = new Validator(prepared, '2020-12', true);
  return (value) => {
    const { valid, errors } = validator.validate(toDoubles(value));
    const leaf = valid ? undefined : errors.find((error) => isLeaf(error, errors));
    return leaf && describe(leaf, prepared as JsonObject, value);
  };
}

type SchemaCheck = (value: JsonValue) => SchemaFault | undefined;

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

function describe(error: OutputUnit, schema: JsonObject, value: JsonValue): SchemaFault {
  const at = segmentsOf(error.instanceLocation);
  const place = segmentsOf(error.keywordLocation).slice(0, -1);
  const rule = resolve(schema, place, schema) ?? {};
  const got = at.reduce<JsonValue>(member, value);
  const pointer = pointerOf(at);
  const where = pointer || 'the body';
  if (error.keyword !== 'required') {
    const expected = expectation(error, rule);
    return { reason: `${where} must be ${expected}`, pointer, expected, got: got ?? null };
  }
  const required = Array.isArray(rule.required) ? rule.required.map(String) : [];
  const missing = required.find((name) => !isJsonObject(got) || !Object.hasOwn(got, name)) ?? '';
  const expected = `the field ${JSON.stringify(missing)}`;
  return { reason: `${where} lacks ${expected}`, pointer: pointerOf([...at, missing]), expected, got };
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

function typeText({ type, format }: JsonObject): string {
  const names = (Array.isArray(type) ? type : [type]).map((name) =>
    name === 'null' ? 'null' : `${/^[aio]/.test(String(name)) ? 'an' : 'a'} ${name}`,
  );
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
  if (value < int64Min) return Math.min(Number(value), -firstOutside);
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

function resolve(schema: JsonObject, path: readonly string[], root: JsonObject): JsonObject | undefined {
  let at: JsonValue | undefined = schema;
  for (const segment of path) {
    if (!isJsonObject(at) && !Array.isArray(at)) return undefined;
    const next: JsonValue | undefined = member(at, segment);
    const reference = segment === '$ref' && typeof next === 'string' ? next : undefined;
    at = reference ? segmentsOf(reference).reduce<JsonValue>(member, root) : next;
  }
  return isJsonObject(at) ? at : undefined;
}

function member(value: JsonValue, key: string): JsonValue {
  return (Array.isArray(value) ? value[Number(key)] : isJsonObject(value) ? value[key] : undefined) ?? null;
}

/** Segments of a JSON pointer in its URI fragment form. */
function segmentsOf(fragment: string): string[] {
  return fragment
    .replace(/^#/, '')
    .split('/')
    .slice(1)
    .map((segment) => decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~'));
}

function pointerOf(segments: readonly string[]): string {
  return segments.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The patterns of a schema, each once. They come from the service and may be anything. */
function patternsOf(schema: JsonObject): string[] {
  const patterns = new Set<string>();
  mapSchemas(schema, (each) => {
    if (typeof each.pattern === 'string') patterns.add(each.pattern);
    if (isJsonObject(each.patternProperties))
      for (const pattern of Object.keys(each.patternProperties)) patterns.add(pattern);
    return each;
  });
  return [...patterns];
}

/** The schema with its patterns in the validator's syntax, without those that are not valid expressions. */
function withReadablePatterns(schema: JsonObject): JsonObject {
  return mapSchemas(schema, (each) => keepPatterns(each, readPattern)) as JsonObject;
}

/** The schema without patterns and formats, which the validator checks with regular expressions. */
function withoutExpressions(schema: JsonObject): JsonObject {
  return mapSchemas(schema, (each) => {
    const { format, ...kept } = keepPatterns(each, () => undefined);
    return kept;
  }) as JsonObject;
}

/** Removes or rewrites patterns. If one is removed, names that match no pattern can no longer be forbidden. */
function keepPatterns(schema: JsonObject, read: (pattern: string) => string | undefined): JsonObject {
  const { pattern, patternProperties, ...rest } = schema;
  const own = typeof pattern === 'string' ? read(pattern) : undefined;
  const kept = own === undefined ? rest : { ...rest, pattern: own };
  if (!isJsonObject(patternProperties)) return kept;
  const named = Object.entries(patternProperties).map(([name, member]) => [read(name), member] as const);
  const readable: JsonObject = {
    ...kept,
    patternProperties: Object.fromEntries(named.filter(([name]) => name !== undefined)),
  };
  if (named.every(([name]) => name !== undefined)) return readable;
  const { additionalProperties, unevaluatedProperties, ...open } = readable;
  return open;
}

/** Keywords that hold a map of schemas. */
const maps: readonly string[] = [
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
  'schemas',
];
/** Keywords that hold data, in which nothing is a keyword. */
const data: readonly string[] = ['enum', 'const', 'default', 'example', 'examples'];

/** A copy of a schema; `change` is applied to every schema inside it, and last to itself. */
function mapSchemas(value: JsonValue, change: (schema: JsonObject) => JsonObject): JsonValue {
  const inner = (each: JsonValue): JsonValue => mapSchemas(each, change);
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
