import { isDateTime, isFields, type RecordValue, valueText } from '../api/record-values.ts';
import { differenceText, type HiddenFields, isMetBy, isSameValue } from '../api/same-values.ts';
import type { ReasonCode } from './reasons.ts';
import type { Doubt, Intent, Outcome, Planned } from './row.ts';

// What the value of its record means for a row.

/** The next step of a row: write a value, or end with an outcome. */
type Decision = { readonly kind: 'write'; readonly planned: Planned } | Outcome;

const unchanged: Outcome = { kind: 'unchanged' };
/** The outcome of a row that was written, if there is nothing else to say. */
export const applied: Outcome = { kind: 'applied' };
const maxCount = BigInt(Number.MAX_SAFE_INTEGER);

/** What a row asks for, and what is known of its write. */
export interface WriteFacts {
  readonly intent: Intent;
  readonly planned?: Planned | undefined;
  /** Set if the row is uncertain. */
  readonly doubt?: Doubt | undefined;
}

/** What a write may do. */
export interface WriteAbilities extends Pick<HiddenFields, 'defaults'> {
  readonly canRemove: boolean;
  /** False if an update takes only changes, so that each field stays in the record. */
  readonly canRemoveFields: boolean;
  /** The method that creates a missing record, if there is one. A second PUT changes nothing. */
  readonly createsBy: 'POST' | 'PUT' | undefined;
  /** True if a row may create a missing record. */
  readonly mayCreate: boolean;
  /** The fields that only the service sets, by its description. */
  readonly readOnly: ReadonlySet<string>;
}

/** Decides the next step of a row from the current value of its record. It sends nothing, and reads no file and no clock. */
export function decide(
  { intent, planned, doubt }: WriteFacts,
  now: RecordValue,
  abilities: WriteAbilities,
): Decision {
  if (doubt && planned) return decideUncertain(intent, planned, doubt, now, abilities);
  switch (intent.kind) {
    case 'create':
      return toWrite('create', now, intent.fields);
    case 'set': {
      const { value, expected } = intent;
      const { defaults } = abilities;
      if (isMetBy(value, now, defaults)) return unchanged;
      if (now === null)
        return abilities.mayCreate && expected === undefined
          ? toWrite('create', now, value)
          : failWithoutEntry(value, abilities, expected);
      if (expected !== undefined && !isMetBy(expected, now, defaults)) return failAsChanged(expected, now);
      const unremovable = abilities.canRemoveFields ? undefined : removedField(value, now);
      if (unremovable === undefined) return toWrite('set', now, value);
      return toFailure('no_removal', `${unremovable} cannot be removed: the service takes only changes`);
    }
    case 'add':
      return decideAdd(intent, now, abilities);
    case 'remove': {
      const { created, expected } = intent;
      if (now === null)
        return created === undefined ? toFailure('no_record', 'there is no such record') : unchanged;
      const wanted = expected === undefined ? (created ?? planned?.before ?? now) : expected;
      // The service itself moves its date-times, such as `updatedAt`.
      const isMoved = (name: string) => isDateOf(name, created ?? null) && isDateOf(name, now);
      const ignored = created === undefined ? undefined : new Set([...abilities.readOnly].filter(isMoved));
      const isAsWanted =
        expected === undefined
          ? isMetBy(wanted, now)
          : isSameValue(expected, now, abilities.defaults, ignored);
      if (!isAsWanted) return failAsChanged(wanted, now);
      return toRemoval(now, abilities.canRemove);
    }
  }
}

/** Returns true if a field is a date-time, or if the value does not have it. */
function isDateOf(name: string, value: RecordValue): boolean {
  const field = isFields(value) ? (value[name] ?? null) : null;
  return field === null || (typeof field === 'string' && isDateTime(field));
}

/** Returns the value that a record must have so that a row is written. Undefined if any value will do. */
export function requiredValue(intent: Intent): RecordValue | undefined {
  if (intent.kind === 'create') return undefined;
  return intent.kind === 'remove' ? (intent.expected ?? intent.created) : intent.expected;
}

/** Returns true if a row replaces its value whatever the current value is. */
export function isPlainSet(intent: Intent): boolean {
  return intent.kind === 'set' && intent.expected === undefined;
}

/** Returns the name of a field that a value removes from a record. */
function removedField(value: RecordValue, now: RecordValue): string | undefined {
  if (!isFields(value) || !isFields(now)) return undefined;
  return Object.keys(value).find((name) => value[name] === undefined && (now[name] ?? null) !== null);
}

function decideAdd(
  { change, expected, created }: Extract<Intent, { kind: 'add' }>,
  now: RecordValue,
  abilities: WriteAbilities,
): Decision {
  if (created !== undefined && now === null) return unchanged;
  if (created !== undefined && isMetBy(created, now)) return toRemoval(now, abilities.canRemove);
  if (expected !== undefined && !isMetBy(expected, now)) return failAsChanged(expected, now);
  if (change === 0) return unchanged;
  if (now === null && !abilities.mayCreate) return failWithoutEntry(0, abilities);
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
  { createsBy, defaults }: WriteAbilities,
): Decision {
  const { action, before, after } = planned;
  const writeAgain: Decision = { kind: 'write', planned };
  const unknown = (code: ReasonCode, message: string): Outcome => {
    return { kind: 'unknown', reason: { code, message }, doubt };
  };
  const mayBeMade = unknown('perhaps_made', perhapsMadeText);
  const changed = unknown('changed', changeText(planned, now));
  if (intent.kind === 'create') return mayBeMade;
  if (action === 'remove') {
    if (now === null) return applied;
    return isMetBy(before, now, defaults) ? writeAgain : changed;
  }
  if (isMetBy(before, now, defaults)) return now !== null || createsBy === 'PUT' ? writeAgain : mayBeMade;
  // `+3` from 5 was refused, and the count is 8. Either a gateway sent it twice, or somebody else has set 8.
  if (isMetBy(after, now, defaults)) return intent.kind === 'add' && doubt !== 'sent' ? changed : applied;
  return now !== null && isPlainSet(intent) ? toWrite('set', before, after) : changed;
}

/** The message for a row whose record may have been created. */
export const perhapsMadeText = 'it may have been created: look for it before you create it again';

/** Says what a write sent: `5 was sent`, `a DELETE was sent`. */
export function sentText(after: RecordValue): string {
  return after === null ? 'a DELETE was sent' : `${valueText(after)} was sent`;
}

/** `it was 5 before, 8 was sent, and it is 7 now`. */
function changeText({ before, after }: Planned, now: RecordValue): string {
  const current = now === null ? 'there is no record' : `it is ${valueText(now)}`;
  return `it was ${valueText(before)} before, ${sentText(after)}, and ${current} now`;
}

function failAsChanged(expected: RecordValue, now: RecordValue): Outcome {
  const message = `${differenceText(now, expected)} now, not ${differenceText(expected, now)} as expected`;
  return toFailure('changed', message);
}

function toWrite(action: Planned['action'], before: RecordValue, after: RecordValue): Decision {
  return { kind: 'write', planned: { action, before, after } };
}

function toRemoval(now: RecordValue, canRemove: boolean): Decision {
  if (!canRemove) return toFailure('no_delete', 'the service offers no way to delete it');
  return toWrite('remove', now, null);
}

function failWithoutEntry(
  value: RecordValue,
  { createsBy }: WriteAbilities,
  expected?: RecordValue,
): Outcome {
  if (isFields(value)) return toFailure('no_entry', 'there is no such record');
  const fail = (clause: string) => toFailure('no_entry', `the pet has no inventory entry${clause}`);
  // A row that expects a count creates no entry.
  if (expected !== undefined) return fail(` now, and ${valueText(expected)} was expected`);
  if (createsBy === undefined) return fail(', and the service offers no way to create one: check the id');
  const byHand = createsBy === 'POST' ? 'create the entry with `petstore inventory create`, ' : '';
  return fail(`: check the id, ${byHand}or apply with --create-missing`);
}

function toFailure(code: ReasonCode, message: string): Outcome {
  return { kind: 'failed', reason: { code, message } };
}
