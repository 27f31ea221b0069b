import { readPattern } from '../api/pattern.ts';
import type { Bounds } from '../api/schemas.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';

const namesBySchema = new WeakMap<object, Set<string>>();

/** The names that a document gives to a schema: those of its component and of the references to it. */
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
  kind: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'unknown';
  /** Names that the document gives to it, its own first. */
  readonly names: string[];
  /** Schemas of an object's fields. */
  readonly fields: Map<string, JsonValue>;
  readonly required: Set<string>;
  /** Whether the object may have no other fields. */
  isClosed: boolean;
  /** Schema of an array's items. */
  items: JsonValue | undefined;
}

/** The value if it is an object, or an object without fields: a description may have anything anywhere. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The value if it is an array, or an empty one. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

const kinds = ['object', 'array', 'string', 'integer', 'number', 'boolean'] as const;

/** Merges a schema with its `allOf`, and with a `oneOf` or `anyOf` of one alternative besides null. */
export function shapeOf(schema: JsonValue | undefined): Shape {
  const shape: Shape = {
    kind: 'unknown',
    names: [],
    fields: new Map(),
    required: new Set(),
    isClosed: false,
    items: undefined,
  };
  walk(schema, (part, isWhole) => {
    if (isWhole) shape.names.unshift(...namesOf(part));
    for (const [field, inner] of Object.entries(objectOf(part.properties))) shape.fields.set(field, inner);
    for (const field of listOf(part.required)) if (typeof field === 'string') shape.required.add(field);
    if (part.additionalProperties === false) shape.isClosed = true;
    shape.items = part.items ?? shape.items;
    shape.kind = statedKind(part) ?? shape.kind;
  });
  return shape;
}

/**
 * Visits the members of a schema's compositions and then the schema itself, each once.
 *
 * @param visit its `isWhole` is true for the schema, and for a member that is all that the schema consists of.
 */
function walk(schema: JsonValue | undefined, visit: (part: JsonObject, isWhole: boolean) => void): void {
  const visited = new Set<object>();
  const enter = (part: JsonValue | undefined, isWhole: boolean): void => {
    if (!isJsonObject(part) || visited.has(part)) return;
    visited.add(part);
    const members = compositionMembers(part);
    const isAll = isWhole && members.length === 1 && !isJsonObject(part.properties);
    for (const member of members) enter(member, isAll);
    visit(part, isWhole);
  };
  enter(schema, true);
}

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
    [type, choices].some((list) => listOf(list).some((each) => each === 'null' || each === null)) ||
    [...listOf(oneOf), ...listOf(anyOf)].some(isNull)
  );
}

function isNull(schema: JsonValue): boolean {
  return objectOf(schema).type === 'null';
}

type Amount = number | bigint;

/** The bounds that a schema puts on a value, those of its compositions included; undefined if it puts none. */
export function boundsOf(schema: JsonValue | undefined): Bounds | undefined {
  const bounds: Bounds = {};
  walk(schema, (part) => Object.assign(bounds, boundsOfPart(part)));
  return Object.keys(bounds).length === 0 ? undefined : bounds;
}

function boundsOfPart(schema: JsonObject): Bounds {
  const kind = statedKind(schema);
  const isScalar = kind === 'integer' || kind === 'number' || kind === 'string' || kind === 'boolean';
  const bounds = {
    type: isScalar ? kind : undefined,
    enum: texts(schema.enum ?? (schema.const === undefined ? undefined : [schema.const])),
    minimum: lowest(schema),
    maximum: highest(schema),
    minLength: length(schema.minLength),
    maxLength: length(schema.maxLength),
    // A pattern that is not an ECMAScript expression is ignored.
    pattern: typeof schema.pattern === 'string' ? readPattern(schema.pattern) : undefined,
  };
  return Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== undefined));
}

function lowest({ minimum, exclusiveMinimum, type, format }: JsonObject): Amount | undefined {
  const above = amount(exclusiveMinimum);
  if (above !== undefined && type === 'integer')
    return typeof above === 'bigint' ? above + 1n : Math.floor(above) + 1;
  return amount(minimum) ?? above ?? (format === 'int32' ? -(2 ** 31) : undefined);
}

function highest({ maximum, exclusiveMaximum, type, format }: JsonObject): Amount | undefined {
  const below = amount(exclusiveMaximum);
  if (below !== undefined && type === 'integer')
    return typeof below === 'bigint' ? below - 1n : Math.ceil(below) - 1;
  return amount(maximum) ?? below ?? (format === 'int32' ? 2 ** 31 - 1 : undefined);
}

function amount(value: JsonValue | undefined): Amount | undefined {
  return typeof value === 'number' || typeof value === 'bigint' ? value : undefined;
}

function length(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function texts(values: JsonValue | undefined): string[] | undefined {
  const kept = listOf(values).filter((value) => typeof value !== 'object');
  return kept.length > 0 ? kept.map(String) : undefined;
}

const exampleTexts: Readonly<Record<string, string>> = {
  'date-time': '2027-01-15T09:00:00Z',
  date: '2027-01-15',
  uri: 'https://example.com/',
  email: 'somebody@example.com',
  uuid: '123e4567-e89b-12d3-a456-426614174000',
};
const longestExample = 200;

/** An example for messages and questions, made from the examples, choices, types and lower bounds of a schema. */
export function exampleOf(schema: JsonValue | undefined, depth = 0): JsonValue {
  if (!isJsonObject(schema)) return 'text';
  const [first] = listOf(schema.examples);
  const [choice] = listOf(schema.enum);
  const stated = schema.const ?? schema.example ?? first ?? schema.default ?? choice;
  if (stated !== undefined && (typeof stated !== 'object' || printJson(stated).length <= longestExample))
    return stated;
  const shape = shapeOf(schema);
  if (shape.kind === 'integer' || shape.kind === 'number') return lowest(schema) ?? 1;
  if (shape.kind === 'boolean') return true;
  if (shape.kind === 'array')
    return Number(schema.minItems ?? 0) > 0 && depth < 3 ? [exampleOf(shape.items, depth + 1)] : [];
  if (shape.kind !== 'object') return exampleTexts[String(schema.format)] ?? 'text';
  const needed = depth < 3 ? [...shape.fields].filter(([field]) => shape.required.has(field)) : [];
  return Object.fromEntries(needed.map(([field, inner]) => [field, exampleOf(inner, depth + 1)]));
}
