import type { Bounds } from '../api/schemas.ts';
import { readPattern } from '../api/values.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';

const namesBySchema = new WeakMap<object, Set<string>>();

/** Lists the names that a document gives to a schema: those of its component and of the references to it. */
export function namesOf(schema: JsonValue | undefined): readonly string[] {
  return [...(namesBySchema.get(objectOf(schema)) ?? [])];
}

export function addName(schema: unknown, name: string): void {
  if (typeof schema !== 'object' || schema === null) return;
  namesBySchema.set(schema, (namesBySchema.get(schema) ?? new Set()).add(name));
}

/** What a schema says about a value, with its compositions merged. */
export interface Shape {
  /** `unknown` if the schema states no type, or several. */
  readonly kind: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'unknown';
  /** Names that the document gives to it, its own first. */
  readonly names: readonly string[];
  /** Schemas of an object's fields. */
  readonly fields: ReadonlyMap<string, JsonValue>;
  readonly required: ReadonlySet<string>;
  /** Whether the object may have no other fields. */
  readonly isClosed: boolean;
  /** Schema of an array's items. */
  readonly items: JsonValue | undefined;
}

/** Returns the value if it is an object, else an empty one: a description may have anything anywhere. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns the value if it is an array, else an empty one. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

const kinds = ['object', 'array', 'string', 'integer', 'number', 'boolean'] as const;

/** Merges a schema with its `allOf`, and with a `oneOf` or `anyOf` of one alternative besides null. */
export function shapeOf(schema: JsonValue | undefined): Shape {
  const parts = partsOf(schema);
  return {
    kind: parts.map(statedKind).findLast((kind) => kind !== undefined) ?? 'unknown',
    names: namesOfWhole(schema),
    fields: new Map(parts.flatMap(({ properties }) => Object.entries(objectOf(properties)))),
    required: new Set(
      parts.flatMap(({ required }) => listOf(required).filter((name) => typeof name === 'string')),
    ),
    isClosed: parts.some(({ additionalProperties }) => additionalProperties === false),
    items: parts.findLast(({ items }) => items !== undefined)?.items,
  };
}

/** Lists the members of a schema's compositions and then the schema itself, each once. */
function partsOf(schema: JsonValue | undefined, visited = new Set<object>()): JsonObject[] {
  if (!isJsonObject(schema) || visited.has(schema)) return [];
  visited.add(schema);
  return [...compositionMembers(schema).flatMap((member) => partsOf(member, visited)), schema];
}

/** Lists the names of a schema, and those of its only member if it consists of nothing else. */
function namesOfWhole(schema: JsonValue | undefined, depth = 0): readonly string[] {
  const whole = objectOf(schema);
  const [member, ...others] = compositionMembers(whole);
  const isAll = member !== undefined && others.length === 0 && !isJsonObject(whole.properties);
  return [...namesOf(whole), ...(isAll && depth < maxDepth ? namesOfWhole(member, depth + 1) : [])];
}

/** A schema may contain itself. */
const maxDepth = 20;

/** The schemas that a value must match in addition to the schema itself. */
function compositionMembers(schema: JsonObject): JsonValue[] {
  const choices = [schema.oneOf, schema.anyOf].map((ways) => listOf(ways).filter((way) => !isNull(way)));
  return [...listOf(schema.allOf), ...choices.filter((ways) => ways.length === 1).flat()];
}

/** The type that a schema states, if it states only one besides null. */
function statedKind(schema: JsonObject): Shape['kind'] | undefined {
  const stated = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => type !== 'null');
  if (stated.length === 1) return kinds.find((kind) => kind === stated[0]);
  if (isJsonObject(schema.properties)) return 'object';
  if (schema.items !== undefined) return 'array';
  return undefined;
}

/** Whether null is a value of a schema. */
export function takesNull(schema: JsonValue | undefined): boolean {
  const { type, enum: choices, oneOf, anyOf } = objectOf(schema);
  return (
    [type, choices].some((list) => listOf(list).some((value) => value === 'null' || value === null)) ||
    [...listOf(oneOf), ...listOf(anyOf)].some(isNull)
  );
}

function isNull(schema: JsonValue): boolean {
  return objectOf(schema).type === 'null';
}

/** Collects the bounds of a schema and of its compositions; undefined if it has none. */
export function boundsOf(schema: JsonValue | undefined): Bounds | undefined {
  const bounds: Bounds = Object.assign({}, ...partsOf(schema).map(boundsOfPart));
  return Object.keys(bounds).length === 0 ? undefined : bounds;
}

function boundsOfPart(schema: JsonObject): Bounds {
  const kind = statedKind(schema);
  const isScalar = kind === 'integer' || kind === 'number' || kind === 'string' || kind === 'boolean';
  const bounds = {
    type: isScalar ? kind : undefined,
    enum: texts(schema.enum ?? (schema.const === undefined ? undefined : [schema.const])),
    minimum: limitOf(schema, 1),
    maximum: limitOf(schema, -1),
    minLength: length(schema.minLength),
    maxLength: length(schema.maxLength),
    // A pattern that is not an ECMAScript expression is ignored.
    pattern: typeof schema.pattern === 'string' ? readPattern(schema.pattern) : undefined,
  };
  return Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== undefined));
}

/**
 * Returns the lowest value of a number, or the highest.
 *
 * @param inwards 1 for the lowest, -1 for the highest.
 */
function limitOf(schema: JsonObject, inwards: 1 | -1): number | bigint | undefined {
  const [stated, outside] =
    inwards === 1
      ? [amount(schema.minimum), amount(schema.exclusiveMinimum)]
      : [amount(schema.maximum), amount(schema.exclusiveMaximum)];
  if (outside !== undefined && schema.type === 'integer')
    return typeof outside === 'bigint'
      ? outside + BigInt(inwards)
      : (inwards === 1 ? Math.floor(outside) : Math.ceil(outside)) + inwards;
  const ofFormat = inwards === 1 ? -(2 ** 31) : 2 ** 31 - 1;
  return stated ?? outside ?? (schema.format === 'int32' ? ofFormat : undefined);
}

function amount(value: JsonValue | undefined): number | bigint | undefined {
  return typeof value === 'number' || typeof value === 'bigint' ? value : undefined;
}

function length(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function texts(values: JsonValue | undefined): string[] | undefined {
  const scalars = listOf(values).filter((value) => typeof value !== 'object');
  return scalars.length > 0 ? scalars.map(String) : undefined;
}

const exampleTexts: Readonly<Record<string, string>> = {
  'date-time': '2027-01-15T09:00:00Z',
  date: '2027-01-15',
  uri: 'https://example.com/',
  email: 'somebody@example.com',
  uuid: '123e4567-e89b-12d3-a456-426614174000',
};
const longestExample = 200;

/**
 * Makes an example for messages and questions from the examples, choices, types and lower bounds of a schema.
 */
export function exampleOf(schema: JsonValue | undefined, depth = 0): JsonValue {
  if (!isJsonObject(schema)) return 'text';
  const [first] = listOf(schema.examples);
  const [choice] = listOf(schema.enum);
  const stated = schema.const ?? schema.example ?? first ?? schema.default ?? choice;
  if (stated !== undefined && (typeof stated !== 'object' || printJson(stated).length <= longestExample))
    return stated;
  const shape = shapeOf(schema);
  if (shape.kind === 'integer' || shape.kind === 'number') return limitOf(schema, 1) ?? 1;
  if (shape.kind === 'boolean') return true;
  if (shape.kind === 'array')
    return Number(schema.minItems ?? 0) > 0 && depth < 3 ? [exampleOf(shape.items, depth + 1)] : [];
  if (shape.kind !== 'object') return exampleTexts[String(schema.format)] ?? 'text';
  const needed = depth < 3 ? [...shape.fields].filter(([field]) => shape.required.has(field)) : [];
  return Object.fromEntries(needed.map(([field, inner]) => [field, exampleOf(inner, depth + 1)]));
}
