import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import type { SchemaNames } from './description.ts';

/** What a schema says of a value, its compositions taken together. */
export interface SchemaShape {
  /** `unknown` where the schema leaves the type open, or offers several. */
  readonly kind: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'unknown';
  /** Names that the document gives to it. */
  readonly names: ReadonlySet<string>;
  /** Schemas of an object's fields. */
  readonly fields: ReadonlyMap<string, JsonValue>;
  readonly required: ReadonlySet<string>;
  /** Schema of an array's items. */
  readonly items: JsonValue | undefined;
}

const kinds = ['object', 'array', 'string', 'integer', 'number', 'boolean'] as const;

interface Gathered {
  kind: SchemaShape['kind'];
  readonly names: Set<string>;
  readonly fields: Map<string, JsonValue>;
  readonly required: Set<string>;
  items: JsonValue | undefined;
}

/** Reads a schema through `allOf`, through a choice that leaves one way but null, and through its cycles. */
export function shapeOf(schema: JsonValue | undefined, names: SchemaNames): SchemaShape {
  const shape: Gathered = {
    kind: 'unknown',
    names: new Set(),
    fields: new Map(),
    required: new Set(),
    items: undefined,
  };
  const seen = new Set<object>();
  const gather = (part: JsonValue | undefined, isWhole: boolean): void => {
    if (!isJsonObject(part) || seen.has(part)) return;
    seen.add(part);
    if (isWhole) for (const name of names.get(part) ?? []) shape.names.add(name);
    const members = membersOf(part);
    for (const member of members)
      gather(member, isWhole && members.length === 1 && !isJsonObject(part.properties));
    if (isJsonObject(part.properties))
      for (const [field, inner] of Object.entries(part.properties)) shape.fields.set(field, inner);
    if (Array.isArray(part.required))
      for (const field of part.required) if (typeof field === 'string') shape.required.add(field);
    shape.items = part.items ?? shape.items;
    shape.kind = kindOf(part) ?? shape.kind;
  };
  gather(schema, true);
  return shape;
}

/** The schemas that a value must match beside the schema itself. */
export function membersOf(schema: JsonObject): JsonValue[] {
  const all = Array.isArray(schema.allOf) ? schema.allOf : [];
  const choices = [schema.oneOf, schema.anyOf]
    .filter((choice) => Array.isArray(choice))
    .map((choice) => choice.filter((way) => !isNull(way)));
  return [...all, ...choices.flatMap((choice) => (choice.length === 1 ? choice : []))];
}

/** The one type that a schema states, null aside. */
export function kindOf(schema: JsonObject): SchemaShape['kind'] | undefined {
  const stated = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => type !== 'null');
  if (stated.length === 1) return kinds.find((kind) => kind === stated[0]);
  if (isJsonObject(schema.properties)) return 'object';
  if (schema.items !== undefined) return 'array';
  return undefined;
}

function isNull(schema: JsonValue): boolean {
  return isJsonObject(schema) && schema.type === 'null';
}
