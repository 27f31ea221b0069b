import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import type { Bounds } from '../contract.ts';
import { readPattern } from '../pattern.ts';
import type { SchemaNames } from './description.ts';
import { kindOf, membersOf, shapeOf } from './schema-shape.ts';

type Amount = number | bigint;
type Writable = { -readonly [Key in keyof Bounds]: Bounds[Key] };

/** The bounds that a schema puts on a value, those of its compositions included; undefined where it puts none. */
export function boundsOf(schema: JsonValue | undefined): Bounds | undefined {
  const bounds: Writable = {};
  const seen = new Set<object>();
  const gather = (part: JsonValue | undefined): void => {
    if (!isJsonObject(part) || seen.has(part)) return;
    seen.add(part);
    for (const member of membersOf(part)) gather(member);
    Object.assign(bounds, ownBounds(part));
  };
  gather(schema);
  return Object.keys(bounds).length === 0 ? undefined : bounds;
}

/** The bounds of an object's fields, by field. */
export function fieldBounds(schema: JsonValue | undefined, names: SchemaNames): Record<string, Bounds> {
  const fields: Record<string, Bounds> = {};
  for (const [field, inner] of shapeOf(schema, names).fields) {
    const bounds = boundsOf(inner);
    if (bounds) fields[field] = bounds;
  }
  return fields;
}

function ownBounds(schema: JsonObject): Bounds {
  const kind = kindOf(schema);
  const isScalar = kind === 'integer' || kind === 'number' || kind === 'string' || kind === 'boolean';
  const bounds = {
    type: isScalar ? kind : undefined,
    enum: texts(schema.enum ?? (schema.const === undefined ? undefined : [schema.const])),
    minimum: lowest(schema),
    maximum: highest(schema),
    minLength: length(schema.minLength),
    maxLength: length(schema.maxLength),
    pattern: pattern(schema.pattern),
  };
  return Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== undefined));
}

/** OpenAPI 3.0 has `exclusiveMinimum: true` beside `minimum`, 3.1 has the number itself. */
function lowest({ minimum, exclusiveMinimum, type }: JsonObject): Amount | undefined {
  const above = exclusiveMinimum === true ? amount(minimum) : amount(exclusiveMinimum);
  if (above !== undefined && type === 'integer')
    return typeof above === 'bigint' ? above + 1n : Math.floor(above) + 1;
  return amount(minimum) ?? above;
}

function highest({ maximum, exclusiveMaximum, type }: JsonObject): Amount | undefined {
  const below = exclusiveMaximum === true ? amount(maximum) : amount(exclusiveMaximum);
  if (below !== undefined && type === 'integer')
    return typeof below === 'bigint' ? below - 1n : Math.ceil(below) - 1;
  return amount(maximum) ?? below;
}

function amount(value: JsonValue | undefined): Amount | undefined {
  return typeof value === 'number' || typeof value === 'bigint' ? value : undefined;
}

function length(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function texts(values: JsonValue | undefined): string[] | undefined {
  if (!Array.isArray(values)) return undefined;
  const kept = values.filter((value) => value !== null && typeof value !== 'object');
  return kept.length > 0 ? kept.map(String) : undefined;
}

/** One that this program's expressions cannot read bounds nothing. */
function pattern(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? readPattern(value) : undefined;
}
