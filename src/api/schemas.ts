import * as v from 'valibot';
import { idRequirement, int64Max, isDateTime, petStatuses, toId } from './values.ts';

// The shapes of the service's records: the single source of types, validation and the OpenAPI document. Ids
// and other int64 values are bigints, so that no arithmetic and no output rounds them.

const int64Min = -9223372036854775808n;

/** A function, because it checks every answer, and a union of schemas would be slower. */
const anyInteger = v.custom<number | bigint>(
  (value) => typeof value === 'bigint' || Number.isInteger(value),
  'must be an integer',
);
const integer = v.pipe(anyInteger, v.metadata({ jsonSchema: { type: 'integer' } }));

/** An identifier in JSON: any int64. */
export const Id = v.pipe(
  anyInteger,
  v.transform((value) => BigInt(value)),
  v.check((value) => value >= int64Min && value <= int64Max, 'must be an int64'),
  v.metadata({ jsonSchema: { type: 'integer', format: 'int64' } }),
);
export type Id = v.InferOutput<typeof Id>;

/** An identifier as text, in arguments, paths and queries: decimal digits, 0 to 9223372036854775807. */
export const IdText = v.pipe(
  v.string(),
  v.check((digits) => toId(digits) !== undefined, idRequirement),
  v.transform((digits) => BigInt(digits)),
  v.metadata({ jsonSchema: { type: 'integer', format: 'int64', minimum: 0 } }),
);

export const PetStatus = v.picklist(petStatuses, `must be one of ${petStatuses.join(', ')}`);
export type PetStatus = v.InferOutput<typeof PetStatus>;

/** A count in a request: 0 to 2^53 - 1. */
export const Quantity = v.pipe(
  v.number('must be an integer from 0 to 9007199254740991'),
  v.safeInteger('must be an integer from 0 to 9007199254740991'),
  v.minValue(0, 'must be an integer from 0 to 9007199254740991'),
  v.metadata({ jsonSchema: { type: 'integer', minimum: 0 } }),
);
export type Quantity = v.InferOutput<typeof Quantity>;

/** A count in an answer: any integer. An integer beyond 2^53 is a bigint. */
const AnyQuantity = integer;

/** A date-time of RFC 3339, 5.6. The month must have the day. */
const DateTime = v.pipe(
  v.string('must be a string'),
  v.check(isDateTime, 'must be an RFC 3339 date-time'),
  v.metadata({ jsonSchema: { type: 'string', format: 'date-time' } }),
);

const text = v.string('must be a string');
const flag = v.boolean('must be true or false');

export const NewPet = v.object({
  name: text,
  categoryId: Id,
  status: v.optional(PetStatus),
});
export type NewPet = v.InferOutput<typeof NewPet>;

export const NewCategory = v.object({
  name: text,
  description: v.optional(text),
});
export type NewCategory = v.InferOutput<typeof NewCategory>;

export const NewOrder = v.object({
  id: v.optional(Id),
  petId: v.optional(Id),
  quantity: v.optional(Quantity),
  shipDate: v.optional(DateTime),
  complete: v.optional(flag),
});
export type NewOrder = v.InferOutput<typeof NewOrder>;

const NewInventoryItem = v.object({
  petId: Id,
  quantity: Quantity,
  status: PetStatus,
});

export const InventoryUpdate = v.object({ quantity: Quantity });
export type InventoryUpdate = v.InferOutput<typeof InventoryUpdate>;

export const Pet = v.object({
  id: Id,
  name: text,
  categoryId: Id,
  status: v.nullish(PetStatus),
});
/**
 * A pet in an answer. A bound service may lack `categoryId`, and may send the category's name as `category`.
 */
export interface Pet extends Omit<v.InferOutput<typeof Pet>, 'categoryId'> {
  readonly categoryId?: Id | null | undefined;
  readonly category?: unknown;
}

export const Category = v.object({
  id: Id,
  name: text,
  description: v.nullish(text),
});
export type Category = v.InferOutput<typeof Category>;

export const Order = v.object({
  id: v.nullish(Id),
  petId: v.nullish(Id),
  quantity: v.nullish(AnyQuantity),
  shipDate: v.nullish(text),
  complete: v.nullish(flag),
});
export type Order = v.InferOutput<typeof Order>;

export const InventoryItem = v.object({
  petId: Id,
  quantity: AnyQuantity,
  status: PetStatus,
});
/** An inventory entry in an answer. A bound service may lack `status`. */
export interface InventoryItem extends Omit<v.InferOutput<typeof InventoryItem>, 'status'> {
  readonly status?: PetStatus | null | undefined;
}

/** The body of every error of the service. */
export const ErrorBody = v.object({
  code: text,
  message: text,
  status: integer,
});
export type ErrorBody = v.InferOutput<typeof ErrorBody>;

/** Schemas of request bodies, by their names in the service's specification. */
export const bodySchemas = {
  NewPet,
  NewCategory,
  Order: NewOrder,
  InventoryItem: NewInventoryItem,
  InventoryUpdate,
} as const;
export type BodyName = keyof typeof bodySchemas;

/**
 * Schemas of the records in answers, by their names in the service's specification. Unknown fields are
 * allowed.
 */
export const resultSchemas = { Pet, Category, Order, InventoryItem } as const;
export type ResultName = keyof typeof resultSchemas;
export interface ResultTypes {
  Pet: Pet;
  Category: Category;
  Order: Order;
  InventoryItem: InventoryItem;
}

/**
 * Schemas of the records of operations without `hasFullSchema`. A record may lack fields, and its status may
 * be any text.
 */
export const looseResultSchemas = {
  Pet: v.object({
    ...Pet.entries,
    categoryId: v.nullish(Id),
    status: v.nullish(text),
  }),
  Category,
  Order,
  InventoryItem: v.object({ ...InventoryItem.entries, status: v.nullish(text) }),
} as const;

/** What a description says of a value, in the terms of JSON Schema. The service checks it, not this program. */
export interface Bounds {
  readonly type?: 'integer' | 'number' | 'string' | 'boolean' | 'object' | 'array' | undefined;
  /** Only for dates. */
  readonly format?: 'date' | 'date-time' | undefined;
  readonly enum?: readonly string[] | undefined;
  readonly minimum?: number | bigint | undefined;
  readonly maximum?: number | bigint | undefined;
  readonly maxLength?: number | undefined;
}

/** The schema of a field or a parameter in JSON Schema. */
interface FieldSchema extends Omit<Bounds, 'enum'> {
  readonly enum?: string[];
  readonly type: NonNullable<Bounds['type']>;
  readonly default?: number;
}

export function jsonSchemaOf(schema: v.GenericSchema): FieldSchema {
  const inner = 'wrapped' in schema ? (schema.wrapped as v.GenericSchema) : schema;
  const { jsonSchema } = 'pipe' in inner ? (v.getMetadata(inner) as { jsonSchema?: FieldSchema }) : {};
  if (jsonSchema) return jsonSchema;
  if (inner.type === 'picklist') return { enum: [...(inner as typeof PetStatus).options], type: 'string' };
  return { type: inner.type === 'boolean' ? 'boolean' : 'string' };
}

const flagText = v.pipe(
  v.picklist(['true', 'false'], 'must be true or false'),
  v.transform((text) => text === 'true'),
  v.metadata({ jsonSchema: { type: 'boolean' } }),
);
const pageSize = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,3}$/, 'must be an integer from 1 to 1000'),
  v.transform(Number),
  v.maxValue(1000, 'must be an integer from 1 to 1000'),
  v.metadata({
    jsonSchema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  }),
);

/** Schemas of the query parameters. They turn the text of a request into the value that the program uses. */
export const querySchemas = {
  status: PetStatus,
  categoryId: IdText,
  petId: IdText,
  complete: flagText,
  limit: pageSize,
  after: IdText,
} as const;
export type QueryName = keyof typeof querySchemas;

/** Explains in a clause why a field is not valid: `is required`, `must be an integer`. */
export function issueReason(issue: v.BaseIssue<unknown>): string {
  if (issue.expected === 'never') return 'is unknown';
  if (issue.type !== 'object') return issue.message;
  return issue.received === 'undefined' ? 'is required' : 'must be an object';
}
