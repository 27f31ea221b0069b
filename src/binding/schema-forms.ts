import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import { mapSchemas } from './map-schemas.ts';

// This file gives schemas the forms that the rest of the program and its libraries read alike. The converter from 3.0 to 3.1
// that we know takes a field `example` for an example and overlooks most nullable references (findings/README.md).

/**
 * Gives the schemas of a document the forms of OpenAPI 3.1.
 *
 * @param root the document whose version counts: a document that it refers to has none.
 */
export function toCurrentForms(document: JsonObject, { openapi, swagger }: JsonObject): JsonObject {
  const isOld = swagger !== undefined || String(openapi).startsWith('3.0');
  return separateReferences(isOld ? convertSchemas(document) : document);
}

/** The keywords that say which values a schema takes, besides a reference. */
const assertions =
  /^(type|properties|required|additionalProperties|items|enum|const|allOf|anyOf|oneOf|not|minimum|maximum|pattern|format)$/;

/**
 * Makes every keyword next to a reference count as well, as JSON Schema 2020-12 says (8.2.3.1): the library that resolves
 * references would put the keyword in the place of the one of the target.
 */
function separateReferences(document: JsonObject): JsonObject {
  return mapSchemas(document, (part) => {
    const { $ref, allOf, ...rest } = part;
    const isSchema = typeof $ref === 'string' && Object.keys(part).some((key) => isAssertion(key, part[key]));
    return isSchema ? { ...rest, allOf: [{ $ref }, ...(Array.isArray(allOf) ? allOf : [])] } : part;
  }) as JsonObject;
}

/** Whether a member is an assertion of a schema. A parameter may be `required: true`. */
function isAssertion(key: string, value: JsonValue | undefined): boolean {
  return assertions.test(key) && typeof value !== 'boolean';
}

/** Converts the schemas of OpenAPI 3.0 to those of 3.1. In 3.0 no keyword counts next to a reference, but people write it. */
function convertSchemas(document: JsonObject): JsonObject {
  return mapSchemas(document, (part) => withNull(withBounds(withoutAssertions(part)))) as JsonObject;
}

function withoutAssertions(part: JsonObject): JsonObject {
  if (typeof part.$ref !== 'string') return part;
  return Object.fromEntries(Object.entries(part).filter(([key, value]) => !isAssertion(key, value)));
}

/** Says in the way of 3.1 that null is allowed. Without a type next to it, 3.0.3 gives `nullable` no meaning, but people do. */
function withNull(part: JsonObject): JsonObject {
  const { nullable, 'x-nullable': extension, ...rest } = part;
  if (nullable !== true && extension !== true) return part;
  const isWhole = ['$ref', 'allOf', 'anyOf', 'oneOf'].every((key) => !(key in rest));
  if (!isWhole) return { anyOf: [rest, { type: 'null' }] };
  return typeof rest.type === 'string' ? { ...rest, type: [rest.type, 'null'] } : rest;
}

/** `exclusiveMinimum: true` beside a minimum becomes that number. */
function withBounds(part: JsonObject): JsonObject {
  const result = { ...part };
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    const { [bound]: limit, [exclusive]: isExclusive } = part;
    if (typeof isExclusive !== 'boolean') continue;
    delete result[exclusive];
    if (!isExclusive || limit === undefined) continue;
    result[exclusive] = limit;
    delete result[bound];
  }
  return result;
}
