import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import {
  Category,
  ErrorBody,
  InventoryItem,
  InventoryUpdate,
  NewCategory,
  NewOrder,
  NewPet,
  Pet,
  PetStatus,
} from './schemas.ts';

/** Every schema of the document by its name. */
export function toComponents(): JsonObject {
  return {
    PetStatus: convert(PetStatus),
    NewPet: convert(NewPet),
    Pet: { allOf: [reference('schemas', 'NewPet'), convert(v.pick(Pet, ['id']))] },
    Pets: { type: 'array', items: reference('schemas', 'Pet') },
    NewCategory: convert(NewCategory),
    Category: { allOf: [reference('schemas', 'NewCategory'), convert(v.pick(Category, ['id']))] },
    Order: convert(NewOrder),
    InventoryItem: convert(InventoryItem),
    InventoryUpdate: convert(InventoryUpdate),
    Error: convert(ErrorBody),
  };
}

/** A schema of the program in OpenAPI 3.0; inside another schema, PetStatus becomes a reference. */
export function convert(schema: v.GenericSchema): JsonObject {
  const converted = toJsonSchema(schema, {
    target: 'openapi-3.0',
    errorMode: 'ignore',
    ...(schema === PetStatus ? {} : { definitions: { PetStatus } }),
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  });
  const { $schema: _, definitions, $defs, required, ...rest } = converted;
  // OpenAPI 3.0 forbids an empty list of required fields.
  return preferOwn({ ...rest, ...(required?.length && { required }) } as JsonObject) as JsonObject;
}

/** Replaces the conversion of a pipe by the schema's own metadata `jsonSchema`, if it has that. */
function preferOwn(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(preferOwn);
  if (!isJsonObject(value)) return value;
  if (value.jsonSchema !== undefined) return value.jsonSchema;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, preferOwn(inner)]));
}

/** A pointer to another part of the document, by its kind and name. */
export function reference(kind: 'schemas' | 'headers' | 'responses', name: string): JsonObject {
  return { $ref: `#/components/${kind}/${name}` };
}
