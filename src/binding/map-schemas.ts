import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';

/** The members whose value is a map: its names are not keywords, and its values are schemas or have schemas. */
const maps =
  /^(properties|patternProperties|dependentSchemas|\$defs|definitions|schemas|paths|callbacks|parameters|requestBodies|responses|headers|content|links)$/;

/** The members whose value is data and contains no keywords. */
const data = /^(enum|const|default|examples?|x-.*)$/;

/**
 * Copies a schema, or a description. `change` gets every object inside it that is no map and no data, the inner ones first,
 * and the whole last.
 */
export function mapSchemas(value: JsonValue, change: (schema: JsonObject) => JsonObject): JsonValue {
  const mapPart = (part: JsonValue): JsonValue => mapSchemas(part, change);
  if (Array.isArray(value)) return value.map(mapPart);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([key, member]): [string, JsonValue] => {
    if (data.test(key)) return [key, member];
    return [key, maps.test(key) && isJsonObject(member) ? mapValues(member, mapPart) : mapPart(member)];
  });
  return change(Object.fromEntries(members));
}

/** Copies an object with other values. */
export function mapValues(value: JsonObject, change: (member: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member)]));
}
