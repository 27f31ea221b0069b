import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { mapSchemas, mapValues } from './map-schemas.ts';

/** The first thing in a value that breaks its schema. */
export interface SchemaFault {
  /** What is wrong, a clause. */
  readonly reason: string;
  /** JSON pointer into the value (RFC 6901). */
  readonly pointer: string;
  readonly expected: string;
  /** What stands there; for a field that is missing, what it is missing from. */
  readonly got: JsonValue;
}

const int64Max = 9223372036854775807n;
const int64Min = -9223372036854775808n;
/** The doubles next to the ends of int64, inside and outside: the validator computes with doubles. */
const lastInside = 2 ** 63 - 1024;
const firstOutside = 2 ** 64;

/**
 * Checks values against a JSON Schema of draft 2020-12; integers of the format int64 are judged by every digit.
 *
 * @param schema what it refers to must lie in itself.
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

export type SchemaCheck = (value: JsonValue) => SchemaFault | undefined;

/** Whether an error is the reason and not a wrapper around one; of alternatives none is the reason. */
function isLeaf(error: OutputUnit, errors: readonly OutputUnit[]): boolean {
  if (['anyOf', 'oneOf', 'false'].includes(error.keyword)) return true;
  return !errors.some((other) => isWithin(other, error));
}

/** What the schema `false` forbids is told without its place in the schema, only in the value. */
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

/** The validator knows doubles only: a bigint becomes one that lies on the same side of the ends of int64. */
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

/** JSON Schema lets a format say nothing of a number: what int32 and int64 mean is added as bounds. */
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
