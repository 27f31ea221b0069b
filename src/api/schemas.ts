import * as v from 'valibot';
import type { JsonObject } from '../process/exact-json.ts';
import {
  type BodyName,
  bodiesOf,
  type Field,
  type FieldKind,
  type Noun,
  type NounName,
  nouns,
} from './nouns.ts';
import {
  countRequirement,
  idRequirement,
  int64Max,
  isDateTime,
  pageSizes,
  petStatuses,
  toId,
} from './record-values.ts';

// How bodies, records and parameters are checked, by the kinds of their fields. Ids and other int64 values are bigints, so that no
// arithmetic and no output rounds them.

const int64Min = -9223372036854775808n;

const int64 = { type: 'integer', format: 'int64' };
export const idInRequest = { ...int64, minimum: 0 };

/** Makes a reference to a component of the OpenAPI document. */
export function componentReference(kind: 'schemas' | 'responses', name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}

/** A custom check, because it checks every answer, and a union of schemas would be slower. */
const integer = v.custom<number | bigint>(
  (value) => typeof value === 'bigint' || Number.isInteger(value),
  'must be a whole number',
);

/** An identifier in JSON: any int64. */
export const idValue = v.pipe(
  integer,
  v.transform((value) => BigInt(value)),
  v.check((value) => value >= int64Min && value <= int64Max, 'must be an int64'),
);

/** An identifier as text, in arguments, paths and queries: decimal digits, 0 to 9223372036854775807. */
export const idParameterValue = v.pipe(
  v.string(),
  v.check((digits) => toId(digits) !== undefined, idRequirement),
  v.transform((digits) => BigInt(digits)),
);

export const petStatus = v.picklist(petStatuses, `must be one of ${petStatuses.join(', ')}`);
export type PetStatus = v.InferOutput<typeof petStatus>;

/** A count in a request: 0 to 2^53 - 1. */
export const quantity = v.pipe(
  v.number(countRequirement),
  v.safeInteger(countRequirement),
  v.minValue(0, countRequirement),
);

/** A date-time of RFC 3339, 5.6. The month must have the day. */
const dateTime = v.pipe(v.string('must be a string'), v.check(isDateTime, 'must be an RFC 3339 date-time'));

const text = v.string('must be a string');

/** How a value of each kind of field is checked in a request, and how the OpenAPI document describes it. */
export const fieldValues = {
  name: { check: text, schema: { type: 'string' } },
  text: { check: text, schema: { type: 'string' } },
  reference: { check: idValue, schema: int64 },
  status: { check: petStatus, schema: componentReference('schemas', 'PetStatus') },
  quantity: { check: quantity, schema: { type: 'integer', minimum: 0 } },
  date: { check: dateTime, schema: { type: 'string', format: 'date-time' } },
  truth: { check: v.boolean('must be true or false'), schema: { type: 'boolean' } },
} satisfies Readonly<Record<FieldKind, { readonly check: v.GenericSchema; readonly schema: JsonObject }>>;

/** The kinds of fields whose values are checked less strictly in answers: any count, and a date in any form. */
const answerChecks: Partial<Record<FieldKind, v.GenericSchema>> = { quantity: integer, date: text };
/** A bound service may also have a status of its own words. */
const boundChecks = { ...answerChecks, status: text };

type ObjectSchema = v.ObjectSchema<Record<string, v.GenericSchema>, undefined>;

function bodySchema(fields: readonly Field[]): ObjectSchema {
  const entries = fields.map(({ name, kind, isRequired }) => {
    const { check } = fieldValues[kind];
    return [name, isRequired ? check : v.optional<v.GenericSchema>(check)];
  });
  return v.object(Object.fromEntries(entries));
}

/** @param isBound a bound service may lack references and statuses. */
function recordSchema({ idField, idInBody, fields }: Noun, isBound: boolean): ObjectSchema {
  const entries = fields.map(({ name, kind, isRequired }) => {
    const check = (isBound ? boundChecks : answerChecks)[kind] ?? fieldValues[kind].check;
    const isCertain = isRequired && !(isBound && (kind === 'reference' || kind === 'status'));
    return [name, isCertain ? check : v.nullish<v.GenericSchema>(check)];
  });
  return v.object({
    [idField]: idInBody === 'optional' ? v.nullish(idValue) : idValue,
    ...Object.fromEntries(entries),
  });
}

const allNouns: readonly Noun[] = Object.values(nouns);

/** Schemas of request bodies, by their names in the service's specification. */
export const bodySchemas = Object.fromEntries(
  allNouns
    .flatMap((noun) => Object.values(bodiesOf(noun)))
    .map(({ name, fields }) => [name, bodySchema(fields)]),
) as Readonly<Record<BodyName, ObjectSchema>>;

export type ResultName = Noun['schema'];
/** Schemas of the records in answers, by their names in the service's specification. Unknown fields are allowed. */
export const resultSchemas = toResultSchemas(false);
/** Schemas of the records of bound operations. */
export const boundResultSchemas = toResultSchemas(true);

function toResultSchemas(isBound: boolean) {
  const schemas = allNouns.map((noun) => [noun.schema, recordSchema(noun, isBound)]);
  return Object.fromEntries(schemas) as Readonly<Record<ResultName, ObjectSchema>>;
}

type RequestValue<Kind extends FieldKind> = v.InferOutput<(typeof fieldValues)[Kind]['check']>;

type FieldOf<N extends NounName> = (typeof nouns)[N]['fields'][number];
type RequiredField<N extends NounName> = Extract<FieldOf<N>, { isRequired: true }>;

/** A new record of a noun, without its id. */
export type NewRecord<N extends NounName> = {
  readonly [F in RequiredField<N> as F['name']]: RequestValue<F['kind']>;
} & {
  readonly [F in Exclude<FieldOf<N>, RequiredField<N>> as F['name']]?: RequestValue<F['kind']> | undefined;
};

/** The fields that every record in an answer has. A bound service may lack the others. */
type CertainField<N extends NounName> = Exclude<RequiredField<N>, { kind: 'reference' | 'status' }>;
type AnswerValue<Kind extends FieldKind> = Kind extends 'quantity' ? number | bigint : RequestValue<Kind>;

/** A record of a noun in an answer. */
export type RecordOf<N extends NounName> = {
  readonly [F in CertainField<N> as F['name']]: AnswerValue<F['kind']>;
} & {
  readonly [F in Exclude<FieldOf<N>, CertainField<N>> as F['name']]?:
    | AnswerValue<F['kind']>
    | null
    | undefined;
} & {
  readonly [F in (typeof nouns)[N]['idField']]: N extends 'orders' ? bigint | null | undefined : bigint;
};

/** What a description says of a value, in the terms of JSON Schema. The service checks it, not this program. */
export interface Bounds {
  readonly type?: 'integer' | 'number' | 'string' | 'boolean' | 'object' | 'array' | undefined;
  /** Only for dates. */
  readonly format?: 'date' | 'date-time' | undefined;
  readonly enum?: readonly string[] | undefined;
  /** The value of a field that a record leaves out. */
  readonly default?: string | undefined;
  readonly minimum?: number | bigint | undefined;
  readonly maximum?: number | bigint | undefined;
  readonly maxLength?: number | bigint | undefined;
}

const truthValue = v.pipe(
  v.picklist(['true', 'false'], 'must be true or false'),
  v.transform((text) => text === 'true'),
);
const pageSizeRule = `must be a whole number from 1 to ${pageSizes.most}`;
const pageSize = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,3}$/, pageSizeRule),
  v.transform(Number),
  v.maxValue(pageSizes.most, pageSizeRule),
);

/**
 * The parameters of queries. A check turns the text of a request into the value that the program uses; the other two
 * members are for the OpenAPI document.
 */
export const queryParameters = {
  status: {
    check: petStatus,
    schema: fieldValues.status.schema,
    description: 'Only records of this pet status',
  },
  categoryId: { check: idParameterValue, schema: idInRequest, description: 'Only pets of this category' },
  petId: { check: idParameterValue, schema: idInRequest, description: 'Only orders of this pet' },
  complete: {
    check: truthValue,
    schema: { type: 'boolean' },
    description: 'Only orders that are complete, or that are not',
  },
  limit: {
    check: pageSize,
    schema: { type: 'integer', minimum: 1, maximum: pageSizes.most, default: pageSizes.default },
    description: 'The largest number of records in one page',
  },
  after: {
    check: idParameterValue,
    schema: idInRequest,
    description: 'The id of the last record of the previous page',
  },
} as const;
export type QueryName = keyof typeof queryParameters;

/** Explains in a clause why a field is not valid: `is required`, `must be a whole number`. */
export function issueReason(issue: v.BaseIssue<unknown>): string {
  if (issue.expected === 'never') return 'is unknown';
  if (issue.type !== 'object') return issue.message;
  return issue.received === 'undefined' ? 'is required' : 'must be an object';
}
