import { readPattern } from '../api/pattern.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { mapSchemas } from './map-schemas.ts';

/** The patterns of a schema, each once: a service's own, so they may be anything. */
export function patternsOf(schema: JsonObject): string[] {
  const patterns = new Set<string>();
  mapSchemas(schema, (each) => {
    if (typeof each.pattern === 'string') patterns.add(each.pattern);
    if (isJsonObject(each.patternProperties))
      for (const pattern of Object.keys(each.patternProperties)) patterns.add(pattern);
    return each;
  });
  return [...patterns];
}

/** The schema with its patterns as the validator reads them, without those that are no expression. */
export function withReadablePatterns(schema: JsonObject): JsonObject {
  return mapSchemas(schema, (each) => keepPatterns(each, readPattern)) as JsonObject;
}

/** The schema without anything that is tried by an expression. */
export function withoutExpressions(schema: JsonObject): JsonObject {
  return mapSchemas(schema, (each) => {
    const { format, ...kept } = keepPatterns(each, () => undefined);
    return kept;
  }) as JsonObject;
}

/** What a pattern of names does not catch is forbidden only where all those patterns are tried. */
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
