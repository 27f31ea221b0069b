import type { DocumentedAnswer } from '../api/operations.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import { jsonContent } from './document.ts';
import { namesOf, objectOf } from './schema.ts';

/** Keywords that OpenAPI and JSON Schema share and whose values are not schemas. */
const plainKeywords = (
  'type enum title const format pattern multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength ' +
  'maxLength minItems maxItems uniqueItems minProperties maxProperties required'
).split(' ');

/**
 * Converts a schema of OpenAPI 3.1 into a self-contained one of JSON Schema draft 2020-12. Named schemas go to `$defs`,
 * which all converted schemas share.
 */
export type ConvertSchema = (schema: JsonValue) => JsonObject;

export function createSchemaConverter(): ConvertSchema {
  const labels = new Map<object, string>();
  const definitions: JsonObject = {};
  // Only a named schema can contain itself, so references to names end all cycles.
  const refer = (part: JsonValue): JsonValue => {
    const [name] = namesOf(part);
    if (name === undefined || !isJsonObject(part)) return convert(part, refer);
    const existing = labels.get(part);
    if (existing !== undefined) return { $ref: `#/$defs/${existing}` };
    const label = unusedLabel(name, definitions);
    labels.set(part, label);
    definitions[label] = true;
    definitions[label] = convert(part, refer);
    return { $ref: `#/$defs/${label}` };
  };
  return (schema) => ({ ...objectOf(refer(schema)), $defs: definitions });
}

/** The documented answers of an operation, by status, `4XX` or `default`. */
export function toAnswers(responses: JsonObject, toSchema: ConvertSchema): Record<string, DocumentedAnswer> {
  const answers: Record<string, DocumentedAnswer> = {};
  for (const [status, response] of Object.entries(responses)) {
    if (!/^([1-5](\d\d|XX)|default)$/i.test(status) || !isJsonObject(response)) continue;
    const { content, headers } = response;
    const types = Object.keys(objectOf(content));
    const schema = jsonContent(content)?.schema;
    const hasLocation = Object.keys(objectOf(headers)).some((name) => name.toLowerCase() === 'location');
    answers[status.replace('xx', 'XX')] = {
      mediaTypes: types.map((type) => (type.split(';')[0] ?? '').trim().toLowerCase()),
      schema: schema === undefined ? undefined : toSchema(schema),
      ...(hasLocation && { hasLocation }),
    };
  }
  return answers;
}

/** A label that needs no escape in a pointer. */
function unusedLabel(name: string, taken: JsonObject): string {
  const safe = name.replace(/[^\w.-]/g, '_') || 'schema';
  let label = safe;
  for (let number = 2; label in taken; number += 1) label = `${safe}_${number}`;
  return label;
}

function convert(schema: JsonValue, refer: (part: JsonValue) => JsonValue): JsonValue {
  if (!isJsonObject(schema)) return typeof schema === 'boolean' ? schema : true;
  const { type, enum: values } = schema;
  const converted: JsonObject = {};
  for (const keyword of plainKeywords) {
    const value = schema[keyword];
    if (value !== undefined) converted[keyword] = value;
  }
  // In OpenAPI 3.0, `nullable: true` allows null beside the values of an enum.
  if (Array.isArray(type) && type.includes('null') && Array.isArray(values) && !values.includes(null))
    converted.enum = [...values, null];
  for (const keyword of ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const) {
    const list = schema[keyword];
    if (Array.isArray(list)) converted[keyword] = list.map(refer);
  }
  for (const keyword of ['items', 'not', 'additionalProperties', 'propertyNames', 'contains'] as const)
    if (schema[keyword] !== undefined) converted[keyword] = refer(schema[keyword]);
  for (const keyword of ['properties', 'patternProperties'] as const) {
    const fields = schema[keyword];
    if (isJsonObject(fields))
      converted[keyword] = Object.fromEntries(
        Object.entries(fields).map(([key, part]) => [key, refer(part)]),
      );
  }
  return converted;
}
