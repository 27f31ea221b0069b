import { withoutParameters } from '../api/http.ts';
import type { DocumentedResponse } from '../api/operations.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import { jsonContent } from './document.ts';
import { objectOf, type SchemaNames, shapeOf } from './schema.ts';

/** Reads the documented responses of all operations. Their schemas share the definitions of named schemas. */
export interface ResponseReader {
  /** Returns the documented answers of an operation by status, `4XX` or `default`. */
  read(responses: JsonObject): Record<string, DocumentedResponse>;
  /** The named schemas, by label, that the answers refer to. Each call of `read` may add some. */
  readonly definitions: JsonObject;
}

/**
 * Creates a reader of answers. A schema of OpenAPI 3.1 is a JSON Schema of draft 2020-12, so only its cycles
 * must become references again.
 */
export function createResponseReader(schemaNames: SchemaNames): ResponseReader {
  const labels = new Map<object, string>();
  const definitions: JsonObject = {};
  const isNamed = (part: JsonValue) => schemaNames.of(part).length > 0;
  // Only a named schema can contain itself, so references to names end all cycles.
  const refer = (part: JsonValue): JsonValue => {
    const [name] = schemaNames.of(part);
    if (name === undefined || !isJsonObject(part)) return copy(part, refer, isNamed);
    let label = labels.get(part);
    if (label === undefined) {
      label = unusedLabel(name, definitions);
      labels.set(part, label);
      definitions[label] = true;
      definitions[label] = copy(part, refer, isNamed);
    }
    return { $ref: `#/$defs/${label}` };
  };
  const read = (responses: JsonObject) => {
    const documentedResponses: Record<string, DocumentedResponse> = {};
    for (const [status, response] of Object.entries(responses)) {
      if (!/^([1-5](\d\d|XX)|default)$/i.test(status) || !isJsonObject(response)) continue;
      const { content } = response;
      const schema = jsonContent(content)?.schema;
      documentedResponses[status.replace('xx', 'XX')] = {
        mediaTypes: Object.keys(objectOf(content)).map((type) => withoutParameters(type).toLowerCase()),
        schema: schema === undefined ? undefined : objectOf(refer(schema)),
      };
    }
    return documentedResponses;
  };
  return { read, definitions };
}

/** Finds an unused label that needs no escape in a JSON pointer. */
function unusedLabel(name: string, definitions: JsonObject): string {
  const safe = name.replace(/[^\w.-]/g, '_') || 'schema';
  let label = safe;
  for (let number = 2; label in definitions; number += 1) label = `${safe}_${number}`;
  return label;
}

/**
 * Copies a part of a schema without its descriptions and identifiers. An identifier would change what
 * references are relative to. A field that is only written is not required of an answer.
 */
function copy(
  part: JsonValue,
  refer: (part: JsonValue) => JsonValue,
  isNamed: (part: JsonValue) => boolean,
): JsonValue {
  if (Array.isArray(part)) return part.map(refer);
  if (!isJsonObject(part)) return part;
  const { type, enum: values, nullable } = part;
  const isOmitted = ([key, value]: [string, JsonValue]) =>
    typeof value === 'string' && /^(\$.*|description)$/.test(key);
  const fields = Object.entries(withoutWriteOnly(part, isNamed)).filter((entry) => !isOmitted(entry));
  const copied = Object.fromEntries(fields.map(([key, value]) => [key, refer(value)]));
  // The upgrade from OpenAPI 3.0 leaves `nullable` beside a reference or a composition as it is.
  if (nullable === true) return { anyOf: [copied, { type: 'null' }] };
  // In OpenAPI 3.0, `nullable: true` allows null beside the values of an enum.
  const isNullable = Array.isArray(type) && type.includes('null') && Array.isArray(values);
  return isNullable ? { ...copied, enum: [...new Set([...values, null])] } : copied;
}

/** Removes the fields that are only written from what a schema requires, also in the members of its `allOf`. */
function withoutWriteOnly(whole: JsonObject, isNamed: (part: JsonValue) => boolean): JsonObject {
  const { fields } = shapeOf(whole);
  const isReadable = (name: JsonValue) => objectOf(fields.get(String(name))).writeOnly !== true;
  const strip = (part: JsonValue): JsonValue => {
    // A named schema is shared with other wholes.
    if (!isJsonObject(part) || (part !== whole && isNamed(part))) return part;
    const { required, allOf } = part;
    return {
      ...part,
      ...(Array.isArray(required) && { required: required.filter(isReadable) }),
      ...(Array.isArray(allOf) && { allOf: allOf.map(strip) }),
    };
  };
  return strip(whole) as JsonObject;
}
