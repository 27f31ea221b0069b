import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** Keywords whose value is no schema but a map of them. */
const maps: readonly string[] = [
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
  'schemas',
];
/** Keywords whose value is data, in which nothing is a keyword. */
const data: readonly string[] = ['enum', 'const', 'default', 'example', 'examples'];

/** A schema in which each schema within, and at last itself, is what `change` makes of it. */
export function mapSchemas(value: JsonValue, change: (schema: JsonObject) => JsonObject): JsonValue {
  const inner = (each: JsonValue): JsonValue => mapSchemas(each, change);
  if (Array.isArray(value)) return value.map(inner);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([key, member]): [string, JsonValue] => {
    if (data.includes(key)) return [key, member];
    return [key, maps.includes(key) && isJsonObject(member) ? mapValues(member, inner) : inner(member)];
  });
  return change(Object.fromEntries(members));
}

export function mapValues(value: JsonObject, change: (member: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member)]));
}
