import * as v from 'valibot';
import {
  describeDifference,
  describeValue,
  isFields,
  isMetBy,
  type RecordValue,
} from '../api/record-values.ts';
import { type ReasonCode, reasonSchema } from '../client/reasons.ts';
import { isNumber, type JsonValue } from '../process/exact-json.ts';

// A row, and what the value of its record means for it. The schemas of a row also parse the lines of a journal: reading drops a
// member that is not in its schema.

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
  v.object({ kind: v.literal('create'), fields: value }),
  v.object({ kind: v.literal('set'), value, expected: v.optional(value) }),
  v.object({
    kind: v.literal('add'),
    change: v.number(),
    /** The count that the input expects. If the record has another one, the row fails. */
    expected: v.optional(value),
    /** In an undo, the count with which the run created the entry: an entry that still has it is removed. */
    created: v.optional(value),
  }),
  v.object({
    kind: v.literal('remove'),
    /** The whole record that the user was shown. If it has changed or has a further field, the row fails. */
    expected: v.optional(value),
    /** The record as this program created it. Further fields do not keep it from being removed. If it is gone, nothing is sent. */
    created: v.optional(value),
  }),
]);

/** The write that a plan has chosen for a row. */
export const plannedSchema = v.object({
  action: v.picklist(['create', 'set', 'remove']),
  /** The value of the record at the last plan before the row became uncertain. */
  before: value,
  after: value,
});

/**
 * Why a row is uncertain. It stays so until the row is applied, unchanged or failed.
 *
 * - `sent`: an attempt may have been applied.
 * - `sent-twice`: the answer was 409 or 412, or 404 to a DELETE. A gateway may have sent it twice, and the first may be applied. If
 *   the next reading shows another value than the one sent, the row is certain again.
 * - `sent-twice-before`: an earlier session ended with `sent-twice`. Meanwhile somebody may have replaced the value, so no reading
 *   makes the row certain.
 */
export const doubtSchema = v.picklist(['sent', 'sent-twice', 'sent-twice-before']);

/** The end of a row. An unknown row may have been written. A failed row certainly was not. */
export const outcomeSchema = v.object({
  kind: v.picklist(['applied', 'unchanged', 'failed', 'unknown']),
  reason: v.optional(reasonSchema),
  /** The record that a row has created: its id, if it is known, and the values that the answer showed, else those that were sent. */
  made: v.optional(v.object({ id: v.optional(idSchema), value })),
});

/** The change that a row asks for. */
export type Intent = Readonly<v.InferOutput<typeof intentSchema>>;
export type Planned = Readonly<v.InferOutput<typeof plannedSchema>>;
export type Doubt = v.InferOutput<typeof doubtSchema>;
export type Outcome = Readonly<v.InferOutput<typeof outcomeSchema>>;

/** One record to write: the intent, and the state of the write. */
export interface Row {
  /** The id of the record. A row that creates a record has none. */
  readonly id?: bigint | undefined;
  readonly intent: Intent;
  /** The planned write, if a plan writes the row. An uncertain row keeps the values that were sent first. */
  planned?: Planned | undefined;
  /** Why the row is uncertain, if it may have been written and nothing shows whether it was. */
  doubt?: Doubt | undefined;
  outcome?: Outcome | undefined;
}

/** The next step of a row: write a value, or end with an outcome. */
type Decision = { readonly kind: 'write'; readonly planned: Planned } | Outcome;

const unchanged: Outcome = { kind: 'unchanged' };
/** The outcome of a row that was written, if there is nothing else to say. */
export const applied: Outcome = { kind: 'applied' };
const maxCount = BigInt(Number.MAX_SAFE_INTEGER);

/** What a write may do. */
export interface WriteAbilities {
  readonly canRemove: boolean;
  /** True if PUT creates a missing record, so that a second PUT changes nothing. */
  readonly createsByPut: boolean;
  /** True if a row that finds no record creates it. */
  readonly mayCreate: boolean;
}

/** Decides the next step of a row from the current value of its record. It sends nothing, and reads no file and no clock. */
export function decide(
  { intent, planned, doubt }: Pick<Row, 'intent' | 'planned' | 'doubt'>,
  now: RecordValue,
  abilities: WriteAbilities,
): Decision {
  if (doubt && planned) return decideUncertain(intent, planned, doubt, now, abilities.createsByPut);
  switch (intent.kind) {
    case 'create':
      return toWrite('create', now, intent.fields);
    case 'set': {
      const { value, expected } = intent;
      if (isMetBy(value, now)) return unchanged;
      if (now === null)
        return abilities.mayCreate && expected === undefined
          ? toWrite('create', now, value)
          : failWithoutEntry(value, expected);
      if (expected === undefined || isMetBy(expected, now)) return toWrite('set', now, value);
      return failAsChanged(expected, now);
    }
    case 'add':
      return decideAdd(intent, now, abilities);
    case 'remove': {
      const { created, expected } = intent;
      if (now === null)
        return created === undefined ? toFailure('no_record', 'there is no such record') : unchanged;
      const wanted = wantedValue(intent) ?? planned?.before;
      if (wanted !== undefined && !isMetBy(wanted, now)) return failAsChanged(wanted, now);
      if (expected !== undefined && !isMetBy(now, expected)) return failAsChanged(expected, now);
      return toRemoval(now, abilities.canRemove);
    }
  }
}

/** Returns the value that a record must have so that a row is written. By default any value will do. */
export function wantedValue(intent: Intent): RecordValue | undefined {
  if (intent.kind === 'create') return undefined;
  return intent.kind === 'remove' ? (intent.created ?? intent.expected) : intent.expected;
}

/** Returns true if a row replaces its value whatever that is. */
export function isPlainSet(intent: Intent): boolean {
  return intent.kind === 'set' && intent.expected === undefined;
}

function decideAdd(
  { change, expected, created }: Extract<Intent, { kind: 'add' }>,
  now: RecordValue,
  { mayCreate, canRemove }: WriteAbilities,
): Decision {
  if (created !== undefined && now === null) return unchanged;
  if (created !== undefined && isMetBy(created, now)) return toRemoval(now, canRemove);
  if (expected !== undefined && !isMetBy(expected, now)) return failAsChanged(expected, now);
  if (change === 0) return unchanged;
  if (now === null && !mayCreate) return failWithoutEntry(0);
  const count = BigInt((now ?? 0) as number | bigint);
  const sum = count + BigInt(change);
  const text = `${count} ${change < 0 ? '-' : '+'} ${Math.abs(change)}`;
  if (sum < 0n) return toFailure('below_zero', `${text} is below 0`);
  if (sum > maxCount) return toFailure('too_large', `${text} is above ${maxCount}`);
  return toWrite(now === null ? 'create' : 'set', now, Number(sum));
}

function decideUncertain(
  intent: Intent,
  planned: Planned,
  doubt: Doubt,
  now: RecordValue,
  createsByPut: boolean,
): Decision {
  const { action, before, after } = planned;
  const writeAgain: Decision = { kind: 'write', planned };
  if (intent.kind === 'create') return leaveUnknown('perhaps_made', perhapsMade);
  if (action === 'remove') {
    if (now === null) return applied;
    return isMetBy(before, now) ? writeAgain : leaveAsChanged(planned, now);
  }
  // `+3` from 5 was refused, and the count is 8. Either a gateway sent it twice, or somebody else has set 8.
  if (isMetBy(after, now))
    return intent.kind === 'add' && doubt !== 'sent' ? leaveAsChanged(planned, now) : applied;
  if (isMetBy(before, now))
    return now !== null || createsByPut ? writeAgain : leaveUnknown('perhaps_made', perhapsMade);
  if (now === null) return leaveAsChanged(planned, now);
  return isPlainSet(intent) ? toWrite('set', before, after) : leaveAsChanged(planned, now);
}

/** The message for a row whose record may have been created. */
export const perhapsMade = 'it may have been made: look for it before you send it again';

function leaveUnknown(code: ReasonCode, message: string): Outcome {
  return { kind: 'unknown', reason: { code, message } };
}

/** `it was 5 before, 8 was sent, and it is 7 now`. */
function leaveAsChanged({ before, after }: Planned, now: RecordValue): Outcome {
  const current = now === null ? 'there is no record' : `it is ${describeValue(now)}`;
  const message = `it was ${describeValue(before)} before, ${describeValue(after)} was sent, and ${current} now`;
  return leaveUnknown('changed', message);
}

function failAsChanged(expected: RecordValue, now: RecordValue): Outcome {
  const message = `${describeDifference(now, expected)} now, not ${describeDifference(expected, now)} as expected`;
  return toFailure('changed', message);
}

function toWrite(action: Planned['action'], before: RecordValue, after: RecordValue): Decision {
  return { kind: 'write', planned: { action, before, after } };
}

function toRemoval(now: RecordValue, canRemove: boolean): Decision {
  if (!canRemove) return toFailure('no_delete', 'the service offers no way to delete it');
  return toWrite('remove', now, null);
}

function failWithoutEntry(value: RecordValue, expected?: RecordValue): Outcome {
  if (isFields(value)) return toFailure('no_entry', 'there is no such record');
  // A row that expects a count creates no entry.
  const clause =
    expected === undefined
      ? ': check the id, create the entry with `inventory create`, or apply with --create-missing'
      : ` now, and ${describeValue(expected)} was expected`;
  return toFailure('no_entry', `the pet has no inventory entry${clause}`);
}

function toFailure(code: ReasonCode, message: string): Outcome {
  return { kind: 'failed', reason: { code, message } };
}
