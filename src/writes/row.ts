import * as v from 'valibot';
import { isFields, type RecordValue } from '../api/record-values.ts';
import { isNumber, type JsonValue } from '../process/exact-json.ts';
import { type Reason, reasonSchema } from './reasons.ts';

// The types of a row. Their schemas also parse the lines of a journal, and drop a member that they do not have.

/** An id in JSON. */
export const idSchema = v.pipe(
  v.custom<number | bigint>((json) => typeof json === 'bigint' || Number.isSafeInteger(json)),
  v.transform((json) => BigInt(json)),
);

/** Returns the form of a value in a journal. Fields are entries, because JSON has no undefined: `[["name", "Rex"], ["status"]]`. */
export function toJournalValue(value: RecordValue): JsonValue {
  if (!isFields(value)) return value;
  return Object.entries(value).map(([name, field]) => (field === undefined ? [name] : [name, field]));
}

const isEntry = (json: JsonValue) => Array.isArray(json) && typeof json[0] === 'string';
const value = v.pipe(
  v.custom<JsonValue>(
    (json) => json === null || isNumber(json) || (Array.isArray(json) && json.every(isEntry)),
  ),
  v.transform((json): RecordValue => {
    return Array.isArray(json) ? Object.fromEntries(json as [string, JsonValue?][]) : (json as RecordValue);
  }),
);

export const intentSchema = v.variant('kind', [
  v.object({ kind: v.literal('create'), fields: value }),
  v.object({ kind: v.literal('set'), value, expected: v.optional(value) }),
  v.object({
    kind: v.literal('add'),
    change: v.pipe(v.number(), v.safeInteger()),
    /** The count that the input expects. If the record has another one, the row fails. */
    expected: v.optional(value),
    /** In an undo, the count with which the run created the entry: an entry that still has it is removed. */
    created: v.optional(value),
  }),
  v.object({
    kind: v.literal('remove'),
    /** The whole record that was shown, or null if there was none. If it has changed or has a further field, the row fails. */
    expected: v.optional(value),
    /** The values with which this program created the record. If it is gone, nothing is sent. Without `expected` it may have further fields. */
    created: v.optional(value),
  }),
]);

/** The write that a plan has chosen for a row. */
export const plannedSchema = v.object({
  action: v.picklist(['create', 'set', 'remove']),
  /** The value that the record had before. An uncertain row keeps the value from before its first attempt. */
  before: value,
  after: value,
});

/**
 * Why a row is uncertain: it may have been written, and nothing shows whether it was. It stays so until the row is applied, unchanged
 * or failed.
 *
 * - `sent`: an attempt may have been applied.
 * - `refused`: the answer was 409 or 412, or 404 to a DELETE, and then the record had the value that was sent, or no reading came. A
 *   gateway may have sent the write twice.
 */
const doubtSchema = v.picklist(['sent', 'refused']);

/** The state of a row: an outcome, or none yet. */
const rowState = v.variant('kind', [
  /** It was certainly not sent. */
  v.object({ kind: v.literal('unprocessed') }),
  /** An earlier session may have sent it. */
  v.object({ kind: v.literal('unsettled'), doubt: doubtSchema }),
  v.object({
    kind: v.literal('applied'),
    /** Only a row that a person has settled has it. */
    reason: v.optional(reasonSchema),
    /** The record that a row has created: its id, and its fields if an answer or a reading showed them. */
    made: v.optional(v.object({ id: idSchema, value: v.optional(value) })),
  }),
  /** The record is as the row asks, and nothing was sent. */
  v.object({ kind: v.literal('unchanged') }),
  /** Another run of the delivery has booked the record. */
  v.object({ kind: v.literal('booked'), reason: reasonSchema }),
  /** It was certainly not written. */
  v.object({ kind: v.literal('failed'), reason: reasonSchema }),
  /** It may have been written. */
  v.object({ kind: v.literal('unknown'), reason: reasonSchema, doubt: doubtSchema }),
]);

/** The change that a row asks for. */
export type Intent = Readonly<v.InferOutput<typeof intentSchema>>;
export type PlannedWrite = Readonly<v.InferOutput<typeof plannedSchema>>;
export type Doubt = v.InferOutput<typeof doubtSchema>;
export type RowState = Readonly<v.InferOutput<typeof rowState>>;
export type Outcome = Exclude<RowState, { kind: 'unprocessed' | 'unsettled' }>;

// With its full type it is too deep for TypeScript within the schema of a journal.
export const rowStateSchema: v.GenericSchema<unknown, RowState> = rowState;

/** One record to write. */
export interface Row {
  /** The id of the record. A row that creates a record has none, unless that is an inventory entry. */
  readonly id?: bigint | undefined;
  readonly intent: Intent;
  /** The planned write, if a plan writes the row. An uncertain row keeps the values that were sent first. */
  planned?: PlannedWrite | undefined;
  /** A row of a command without a journal has none. */
  state?: RowState;
}

export const unprocessed: RowState = { kind: 'unprocessed' };

/** Returns the doubt of an uncertain row: it may have been written, and nothing shows whether it was. */
export function doubtOf({ state }: Pick<Row, 'state'>): Doubt | undefined {
  return state && 'doubt' in state ? state.doubt : undefined;
}

export function outcomeOf({ state }: { readonly state: RowState }): Outcome | undefined {
  return state.kind === 'unprocessed' || state.kind === 'unsettled' ? undefined : state;
}

export function reasonOf(state: RowState): Reason | undefined {
  return 'reason' in state ? state.reason : undefined;
}
