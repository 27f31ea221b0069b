import * as v from 'valibot';
import { isFields, type RecordValue } from '../api/record-values.ts';
import { reasonSchema } from '../client/reasons.ts';
import { isNumber, type JsonValue } from '../process/exact-json.ts';

// A row, its input and the facts that are known about it. The same schemas read a journal, so it keeps a member that is added here.

const { literal, number, object, optional, picklist } = v;

/** An id in JSON. */
export const idSchema = v.pipe(
  v.custom<number | bigint>(isNumber),
  v.transform((json) => BigInt(json)),
);

/** Returns the form of a value in a journal. Fields are entries, because JSON has no undefined: `[["name", "Rex"], ["status"]]`. */
export function toJournalValue(value: RecordValue): JsonValue {
  if (!isFields(value)) return value;
  return Object.entries(value).map(([name, field]) => (field === undefined ? [name] : [name, field]));
}

/** Reads a value of a journal. A count becomes a number if a number can hold it. */
function fromJournalValue(json: JsonValue): RecordValue {
  if (Array.isArray(json)) return Object.fromEntries(json as [string, JsonValue?][]);
  if (typeof json === 'bigint') return json <= Number.MAX_SAFE_INTEGER ? Number(json) : json;
  return json as number | null;
}

const isEntry = (json: JsonValue) => Array.isArray(json) && typeof json[0] === 'string';
const value = v.pipe(
  v.custom<JsonValue>(
    (json) => json === null || isNumber(json) || (Array.isArray(json) && json.every(isEntry)),
  ),
  v.transform(fromJournalValue),
);

export const intentSchema = v.variant('kind', [
  object({ kind: literal('create'), fields: value }),
  object({ kind: literal('set'), value, expected: optional(value) }),
  object({
    kind: literal('add'),
    change: number(),
    /** The count that the input expects. A row that finds another fails. */
    expected: optional(value),
    /** In an undo, the count with which the run created the entry: an entry that still has it is removed. */
    created: optional(value),
  }),
  object({
    kind: literal('remove'),
    /** The whole record that the user was shown. A row that finds another, or a further field, fails. */
    expected: optional(value),
    /** The record as this program created it. It is also removed if it has further fields, and if it is gone, nothing is sent. */
    created: optional(value),
  }),
]);

/** The write that a plan has chosen for a row. */
export const plannedSchema = object({
  action: picklist(['create', 'set', 'remove']),
  /** The value of the record when the row was last planned while it was certain. */
  before: value,
  after: value,
});

/**
 * Why a row is uncertain. It stays so until the row is applied, unchanged or failed.
 *
 * - `sent`: an attempt may have been applied.
 * - `sent-twice`: the answer was 409 or 412, or 404 to a DELETE. A gateway may have sent it twice, and the first may be applied. The
 *   doubt ends if the next reading shows another value than the one sent.
 * - `sent-twice-before`: an earlier session ended with that doubt. Meanwhile somebody may have replaced the value, so a reading does
 *   not end it.
 */
export const doubtSchema = picklist(['sent', 'sent-twice', 'sent-twice-before']);

/** What became of a row. An unknown row may have been written. A failed row certainly was not. */
export const outcomeSchema = object({
  kind: picklist(['applied', 'unchanged', 'failed', 'unknown']),
  reason: optional(reasonSchema),
  /** The record that a row has created: its id, if it is known, and the values that the answer showed, else those that were sent. */
  made: optional(object({ id: optional(idSchema), value })),
});

/** What a row asks for. */
export type Intent = Readonly<v.InferOutput<typeof intentSchema>>;
export type Planned = Readonly<v.InferOutput<typeof plannedSchema>>;
export type Doubt = v.InferOutput<typeof doubtSchema>;
export type Outcome = Readonly<v.InferOutput<typeof outcomeSchema>>;

/** One record to write: what is asked for, and what is known about it. */
export interface Row {
  /** It is undefined if the row creates a record. */
  readonly id?: bigint | undefined;
  readonly intent: Intent;
  /** The planned write, or undefined if no plan writes the row. An uncertain row keeps the write that was first sent. */
  planned?: Planned | undefined;
  /** It is undefined if the row was certainly not written, or its outcome is certain. */
  doubt?: Doubt | undefined;
  outcome?: Outcome | undefined;
}
