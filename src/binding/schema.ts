import type { Bounds } from '../api/schemas.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';

/** The names that a document gives to its schemas: the name of a component, and the names in references to it. */
export class SchemaNames {
  private readonly namesBySchema = new Map<object, Set<string>>();

  add(schema: unknown, name: string): void {
    if (typeof schema !== 'object' || schema === null) return;
    this.namesBySchema.set(schema, (this.namesBySchema.get(schema) ?? new Set()).add(name));
  }

  of(schema: JsonValue | undefined): readonly string[] {
    return [...(this.namesBySchema.get(objectOf(schema)) ?? [])];
  }
}

const noNames = new SchemaNames();

/** The value that a schema describes, with the compositions of the schema merged. */
export interface Shape {
  /** `unknown` if the schema states no type, or several. */
  readonly kind: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'unknown';
  /** The names that the document gives to the schema, its own name first. */
  readonly names: readonly string[];
  /** The names of the schemas inside. */
  readonly schemaNames: SchemaNames;
  /** Schemas of an object's fields. */
  readonly fields: ReadonlyMap<string, JsonValue>;
  readonly required: ReadonlySet<string>;
  /** True if the object may have no other fields. */
  readonly isClosed: boolean;
  /** Schema of an array's items. */
  readonly items: JsonValue | undefined;
  /** Schema of the values of an object that is a map. */
  readonly values: JsonValue | undefined;
}

/**
 * Returns the value if it is an object, or else an empty object. A description may have any value anywhere.
 */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns the value if it is an array, or else an empty array. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

const kinds = ['object', 'array', 'string', 'integer', 'number', 'boolean'] as const;

/** Merges a schema with its `allOf`. A `oneOf` or `anyOf` counts if it has one alternative besides null. */
export function shapeOf(schema: JsonValue | undefined, schemaNames = noNames): Shape {
  const parts = partsOf(schema);
  return {
    kind: parts.map(statedKind).findLast((kind) => kind !== undefined) ?? 'unknown',
    names: namesOfWhole(schema, schemaNames),
    schemaNames,
    fields: new Map(parts.flatMap(({ properties }) => Object.entries(objectOf(properties)))),
    required: new Set(
      parts.flatMap(({ required }) => listOf(required).filter((name) => typeof name === 'string')),
    ),
    isClosed: parts.some(({ additionalProperties }) => additionalProperties === false),
    items: parts.findLast(({ items }) => items !== undefined)?.items,
    values: parts.findLast(({ additionalProperties }) => isJsonObject(additionalProperties))
      ?.additionalProperties,
  };
}

/** Lists the members of the compositions of a schema, and then the schema itself. Each occurs once. */
function partsOf(schema: JsonValue | undefined, visited = new Set<object>()): JsonObject[] {
  if (!isJsonObject(schema) || visited.has(schema)) return [];
  visited.add(schema);
  return [...compositionMembers(schema).flatMap((member) => partsOf(member, visited)), schema];
}

/** Lists the names of a schema. If the schema consists of a single member, the names of the member follow. */
function namesOfWhole(schema: JsonValue | undefined, names: SchemaNames, depth = 0): readonly string[] {
  const whole = objectOf(schema);
  const [member, ...others] = compositionMembers(whole);
  const isOnlyMember = member !== undefined && others.length === 0 && !isJsonObject(whole.properties);
  const memberNames = isOnlyMember && depth < maxDepth ? namesOfWhole(member, names, depth + 1) : [];
  return [...names.of(whole), ...memberNames];
}

/** A schema may contain itself. */
const maxDepth = 20;

/** Lists the schemas that a value must match in addition to the schema itself. */
function compositionMembers(schema: JsonObject): JsonValue[] {
  const choices = [schema.oneOf, schema.anyOf].map((alternatives) =>
    withoutTexts(listOf(alternatives).filter((alternative) => !isNull(alternative))),
  );
  return [...listOf(schema.allOf), ...choices.filter((alternatives) => alternatives.length === 1).flat()];
}

/** The formats of texts that stand for a value of another type, in alternatives such as those of Elysia. */
const formatsOfValues = /^(numeric|integer|number|boolean)$/;

/** Leaves out the texts that stand for a number or a boolean, if that is an alternative too. */
function withoutTexts(alternatives: readonly JsonValue[]): readonly JsonValue[] {
  const others = alternatives.filter((alternative) => {
    const { type, format } = objectOf(alternative);
    return !(type === 'string' && formatsOfValues.test(String(format)));
  });
  const isValue = others.every((other) => /^(integer|number|boolean)$/.test(String(objectOf(other).type)));
  return others.length > 0 && isValue ? others : alternatives;
}

/** Returns the type that a schema states, if the schema states a single type besides null. */
function statedKind(schema: JsonObject): Shape['kind'] | undefined {
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null');
  if (types.length > 0) return types.length === 1 ? kinds.find((kind) => kind === types[0]) : undefined;
  if (isJsonObject(schema.properties)) return 'object';
  if (schema.items !== undefined) return 'array';
  return undefined;
}

/** Returns true if null is a value of a schema. */
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

/** Collects what a schema and its compositions say of a value. Returns undefined if they say nothing. */
export function boundsOf(schema: JsonValue | undefined): Bounds | undefined {
  const bounds: Bounds = Object.assign({}, ...partsOf(schema).map(boundsOfPart));
  return Object.keys(bounds).length === 0 ? undefined : bounds;
}

function boundsOfPart(schema: JsonObject): Bounds {
  const kind = statedKind(schema);
  const { format } = schema;
  const bounds = {
    type: kind,
    format: format === 'date' || format === 'date-time' ? format : undefined,
    enum: texts(schema.enum ?? (schema.const === undefined ? undefined : [schema.const])),
    minimum: amount(schema.minimum),
    maximum: amount(schema.maximum),
    maxLength: length(schema.maxLength),
  };
  return Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== undefined));
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

/** Returns a value that a schema states: a choice, an example or the default. Undefined if it states none. */
function statedValue(schema: JsonObject): JsonValue | undefined {
  const [first] = listOf(schema.examples);
  const [choice] = listOf(schema.enum);
  return schema.const ?? schema.example ?? first ?? schema.default ?? choice;
}

/** Returns a text that a schema states. */
export function statedText(schema: JsonValue | undefined): string | undefined {
  const value = statedValue(objectOf(schema));
  return value === undefined || typeof value === 'object' ? undefined : String(value);
}

/** Returns the value that a schema states, or an empty list. Undefined if it states none, because a made-up one may mean something. */
export function exampleOf(schema: JsonValue | undefined): JsonValue | undefined {
  const value = statedValue(objectOf(schema));
  const { kind } = shapeOf(schema);
  // YAML reads `example: 007` as a number, so the text that was meant is lost.
  const isLost = kind === 'string' && typeof value !== 'string';
  if (value !== undefined && !isLost) return value;
  return kind === 'array' && Number(objectOf(schema).minItems ?? 0) === 0 ? [] : undefined;
}
