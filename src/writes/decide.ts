import { isFields, type RecordValue, valueText } from '../api/record-values.ts';
import { type AbsentFields, differenceText, isMetBy, isSameValue } from '../api/same-values.ts';
import type { ReasonCode } from './reasons.ts';
import type { Doubt, Intent, Outcome, PlannedWrite } from './row.ts';

// What the value of its record means for a row.

/** The next step of a row: write a value, or end with an outcome. */
type Decision = { readonly kind: 'write'; readonly planned: PlannedWrite } | Outcome;

const unchanged: Outcome = { kind: 'unchanged' };
/** The outcome of a row that was written, if there is nothing else to say. */
export const applied: Outcome = { kind: 'applied' };
const maxCount = BigInt(Number.MAX_SAFE_INTEGER);

/** What a row asks for, and what is known of its write. */
export interface WriteFacts {
  readonly intent: Intent;
  readonly planned?: PlannedWrite | undefined;
  /** Set if the row is uncertain. */
  readonly doubt?: Doubt | undefined;
}

/** What a write may do. */
export interface WriteAbilities extends Pick<AbsentFields, 'defaults'> {
  /** The method that creates a missing record, if there is one. A lost PUT can be sent again; a second POST would make another record. */
  readonly createsBy: 'POST' | 'PUT' | undefined;
  /** True if a row may create a missing record. */
  readonly mayCreate: boolean;
}

/** Decides the next step of a row from the current value of its record. It sends nothing, and reads no file and no clock. */
export function decide(
  { intent, planned, doubt }: WriteFacts,
  now: RecordValue,
  abilities: WriteAbilities,
): Decision {
  if (doubt && planned) return decideUncertain(intent, planned, doubt, now, abilities);
  const { defaults } = abilities;
  switch (intent.kind) {
    case 'create':
      return toWrite('create', now, intent.fields);
    case 'set': {
      const { value, expected } = intent;
      if (isMetBy(value, now, defaults)) return unchanged;
      if (expected !== undefined && !isMetBy(expected, now, defaults)) return failAsChanged(expected, now);
      if (now === null) return createMissing(value, abilities);
      return toWrite('set', now, value);
    }
    case 'add':
      return decideAdd(intent, now, abilities);
    case 'remove': {
      const { created, expected } = intent;
      if (now === null)
        return created === undefined ? toFailure('no_record', 'there is no such record') : unchanged;
      const wanted = expected === undefined ? (created ?? planned?.before ?? now) : expected;
      const isAsWanted = expected === undefined ? isMetBy : isSameValue;
      if (!isAsWanted(wanted, now, defaults)) return failAsChanged(wanted, now);
      return toWrite('remove', now, null);
    }
  }
}

/** Returns the value that a record must have so that a row is written. Undefined if any value will do. */
export function expectedValue(intent: Intent): RecordValue | undefined {
  if (intent.kind === 'create') return undefined;
  return intent.kind === 'remove' ? (intent.expected ?? intent.created) : intent.expected;
}

/** Returns true if a row replaces its value whatever the current value is. */
export function isPlainSet(intent: Intent): boolean {
  return intent.kind === 'set' && intent.expected === undefined;
}

function decideAdd(
  { change, expected, created }: Extract<Intent, { kind: 'add' }>,
  now: RecordValue,
  abilities: WriteAbilities,
): Decision {
  if (created !== undefined && now === null) return unchanged;
  const { defaults } = abilities;
  if (created !== undefined && isMetBy(created, now, defaults)) return toWrite('remove', now, null);
  if (expected !== undefined && !isMetBy(expected, now, defaults)) return failAsChanged(expected, now);
  if (now === null && !abilities.mayCreate) return createMissing(change, abilities);
  if (change === 0) return unchanged;
  const count = BigInt((now ?? 0) as number | bigint);
  const sum = count + BigInt(change);
  const text = `${count} ${change < 0 ? '-' : '+'} ${Math.abs(change)}`;
  if (sum < 0n) return toFailure('below_zero', `${text} is below 0`);
  if (sum > maxCount) return toFailure('too_large', `${text} is above ${maxCount}`);
  return now === null ? createMissing(Number(sum), abilities) : toWrite('set', now, Number(sum));
}

function decideUncertain(
  intent: Intent,
  planned: PlannedWrite,
  doubt: Doubt,
  now: RecordValue,
  { createsBy, defaults }: WriteAbilities,
): Decision {
  const { before, after } = planned;
  const writeAgain: Decision = { kind: 'write', planned };
  const unknown = (code: ReasonCode, message: string): Outcome => {
    return { kind: 'unknown', reason: { code, message }, doubt };
  };
  const mayBeMade = unknown('perhaps_made', perhapsMadeText);
  const changed = unknown('changed', changeText(planned, now));
  if (intent.kind === 'create') return mayBeMade;
  if (isMetBy(before, now, defaults)) return now !== null || createsBy === 'PUT' ? writeAgain : mayBeMade;
  // `+3` from 5 was refused, and the count is 8. Either a gateway sent it twice, or somebody else has set 8.
  const mayBeOthers = intent.kind === 'add' && after !== null && doubt === 'refused';
  if (isMetBy(after, now, defaults)) return mayBeOthers ? changed : applied;
  // The record was to be created, and somebody else has created it: an undo would not know which value to restore.
  return before !== null && now !== null && isPlainSet(intent) ? writeAgain : changed;
}

/** The message for a row whose record may have been created. */
export const perhapsMadeText = 'it may have been created: look for it before you create it again';

/** Says what a write sent: `5 was sent`, `a DELETE was sent`. */
export function sentText(after: RecordValue): string {
  return after === null ? 'a DELETE was sent' : `${valueText(after)} was sent`;
}

/** `it was 5 before, 8 was sent, and it is 7 now`. */
export function changeText({ before, after }: PlannedWrite, now: RecordValue): string {
  const current = now === null ? 'there is no record' : `it is ${valueText(now)}`;
  return `it was ${valueText(before)} before, ${sentText(after)}, and ${current} now`;
}

function failAsChanged(expected: RecordValue, now: RecordValue): Outcome {
  const message = `${differenceText(now, expected)} now, not ${differenceText(expected, now)} as expected`;
  return toFailure('changed', message);
}

function toWrite(action: PlannedWrite['action'], before: RecordValue, after: RecordValue): Decision {
  return { kind: 'write', planned: { action, before, after } };
}

/** Decides a row that sets or adds, and whose record does not exist. */
function createMissing(value: RecordValue, { mayCreate, createsBy }: WriteAbilities): Decision {
  if (mayCreate) return toWrite('create', null, value);
  if (isFields(value)) return toFailure('no_record', 'there is no such record');
  const ways = createsBy
    ? ': check the id, or apply with --create-missing'
    : ', and the service offers no way to create one: check the id';
  return toFailure('no_entry', `the pet has no inventory entry${ways}`);
}

function toFailure(code: ReasonCode, message: string): Outcome {
  return { kind: 'failed', reason: { code, message } };
}
