import * as v from 'valibot';
import { type FieldKind, type Noun, nouns } from './nouns.ts';
import { idRequirement, int64Max, isDateTime, petStatuses, toId } from './values.ts';

// How bodies, records and parameters are checked, by the kinds of their fields. Ids and other int64 values are bigints, so that no
// arithmetic and no output rounds them.

const int64Min = -9223372036854775808n;

/** A function, because it checks every answer, and a union of schemas would be slower. */
const integer = v.custom<number | bigint>(
  (value) => typeof value === 'bigint' || Number.isInteger(value),
  'must be an integer',
);

/** An identifier in JSON: any int64. */
export const Id = v.pipe(
  integer,
  v.transform((value) => BigInt(value)),
  v.check((value) => value >= int64Min && value <= int64Max, 'must be an int64'),
);

/** An identifier as text, in arguments, paths and queries: decimal digits, 0 to 9223372036854775807. */
export const IdText = v.pipe(
  v.string(),
  v.check((digits) => toId(digits) !== undefined, idRequirement),
  v.transform((digits) => BigInt(digits)),
);

export const PetStatus = v.picklist(petStatuses, `must be one of ${petStatuses.join(', ')}`);
export type PetStatus = v.InferOutput<typeof PetStatus>;

/** A count in a request: 0 to 2^53 - 1. */
export const Quantity = v.pipe(
  v.number('must be an integer from 0 to 9007199254740991'),
  v.safeInteger('must be an integer from 0 to 9007199254740991'),
  v.minValue(0, 'must be an integer from 0 to 9007199254740991'),
);

/** A date-time of RFC 3339, 5.6. The month must have the day. */
const DateTime = v.pipe(v.string('must be a string'), v.check(isDateTime, 'must be an RFC 3339 date-time'));

const text = v.string('must be a string');

/** Schemas of the values in bodies, by the kinds of fields. */
const bodyValues: Readonly<Record<FieldKind, v.GenericSchema>> = {
  name: text,
  text,
  reference: Id,
  status: PetStatus,
  quantity: Quantity,
  date: DateTime,
  truth: v.boolean('must be true or false'),
};
/** Answers may have any count, and a date in any form. */
const answerValues = { ...bodyValues, quantity: integer, date: text };
/** What a bound service may have: a status of its own words. */
const boundValues = { ...answerValues, status: text };

type ObjectSchema = v.ObjectSchema<Record<string, v.GenericSchema>, undefined>;

function bodySchema({ idField, idInBody, fields }: Noun, names?: readonly string[]): ObjectSchema {
  const id = { none: {}, optional: { [idField]: v.optional(Id) }, required: { [idField]: Id } };
  const entries = fields
    .filter(({ name }) => names?.includes(name) ?? true)
    .map(({ name, kind, isRequired }) => [
      name,
      isRequired ? bodyValues[kind] : v.optional(bodyValues[kind]),
    ]);
  return v.object({ ...(names ? {} : id[idInBody]), ...Object.fromEntries(entries) });
}

/** @param isBound a bound service may lack references and statuses. */
function recordSchema({ idField, idInBody, fields }: Noun, isBound: boolean): ObjectSchema {
  const entries = fields.map(({ name, kind, isRequired }) => {
    const schema = (isBound ? boundValues : answerValues)[kind];
    const isCertain = isRequired && !(isBound && (kind === 'reference' || kind === 'status'));
    return [name, isCertain ? schema : v.nullish(schema)];
  });
  return v.object({
    [idField]: idInBody === 'optional' ? v.nullish(Id) : Id,
    ...Object.fromEntries(entries),
  });
}

const { pets, categories, orders, inventory } = nouns;

/** Schemas of request bodies, by their names in the service's specification. */
export const bodySchemas = {
  NewPet: bodySchema(pets),
  NewCategory: bodySchema(categories),
  Order: bodySchema(orders),
  InventoryItem: bodySchema(inventory),
  InventoryUpdate: bodySchema(inventory, inventory.update.fields),
} as const;
export type BodyName = keyof typeof bodySchemas;

/**
 * Schemas of the records in answers, by their names in the service's specification. Unknown fields are
 * allowed.
 */
export const resultSchemas = toResultSchemas(false);
export type ResultName = Noun['schema'];

/** Schemas of the records of bound operations. */
export const looseResultSchemas = toResultSchemas(true);

function toResultSchemas(isBound: boolean): Readonly<Record<ResultName, ObjectSchema>> {
  return {
    Pet: recordSchema(pets, isBound),
    Category: recordSchema(categories, isBound),
    Order: recordSchema(orders, isBound),
    InventoryItem: recordSchema(inventory, isBound),
  };
}

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

const flagText = v.pipe(
  v.picklist(['true', 'false'], 'must be true or false'),
  v.transform((text) => text === 'true'),
);
const pageSize = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,3}$/, 'must be an integer from 1 to 1000'),
  v.transform(Number),
  v.maxValue(1000, 'must be an integer from 1 to 1000'),
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
