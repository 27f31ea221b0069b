import {
  describeDifference,
  describeValue,
  isFields,
  isMetBy,
  type RecordValue,
} from '../api/record-values.ts';
import type { ReasonCode } from '../client/reasons.ts';
import type { Doubt, Intent, Outcome, Planned, Row } from './rows.ts';

/** What a service can do with the records of a noun, and how. */
export interface Abilities {
  /** True if all records can be listed. */
  readonly canList: boolean;
  /** True if one record can be read by itself or found in the list. */
  readonly canRead: boolean;
  /** True if a record can be read for each row. A run does not read the list of counts once more for each of its rows. */
  readonly canReadEach: boolean;
  readonly canRemove: boolean;
  /** True if a record must be read right before it is written, because its other fields are sent with it. */
  readonly readsFirst: boolean;
  /** True if PUT creates a missing record, so that a second PUT changes nothing. */
  readonly createsByPut: boolean;
  /** The fields that no answer shows. */
  readonly writeOnly: ReadonlySet<string>;
}

/** The next step of a row: write a value, or end with an outcome. */
type Decision = { readonly kind: 'write'; readonly planned: Planned } | Outcome;

const unchanged: Outcome = { kind: 'unchanged' };
/** The outcome of a row that was written, if there is nothing else to say. */
export const applied: Outcome = { kind: 'applied' };
const maxCount = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Decides the next step of a row from the current value of its record. It sends nothing, and reads no file and no clock.
 *
 * @param mayCreate true if a row that finds no record creates it.
 */
export function decide(
  row: Pick<Row, 'intent' | 'planned' | 'doubt'>,
  now: RecordValue,
  mayCreate: boolean,
  abilities: Pick<Abilities, 'canRemove' | 'createsByPut'>,
): Decision {
  const { intent, planned, doubt } = row;
  if (doubt && planned) return decideUncertain(intent, planned, doubt, now, abilities.createsByPut);
  switch (intent.kind) {
    case 'create':
      return writeOf('create', now, intent.fields);
    case 'set': {
      const { value, expected } = intent;
      if (isMetBy(value, now)) return unchanged;
      if (now === null)
        return mayCreate && expected === undefined ? writeOf('create', now, value) : noEntry(value);
      if (expected === undefined || isMetBy(expected, now)) return writeOf('set', now, value);
      return otherThanExpected(expected, now);
    }
    case 'add':
      return decideAdd(intent, now, mayCreate, abilities.canRemove);
    case 'remove': {
      const { created, expected } = intent;
      if (now === null)
        return created === undefined ? toFailure('no_record', 'there is no such record') : unchanged;
      const wanted = wantedValue(intent) ?? planned?.before;
      if (wanted !== undefined && !isMetBy(wanted, now)) return otherThanExpected(wanted, now);
      if (expected !== undefined && !isMetBy(now, expected)) return otherThanExpected(expected, now);
      return removalOf(now, abilities.canRemove);
    }
  }
}

/** Returns the value that a record must have so that a row is written, or undefined if any value will do. */
export function wantedValue(intent: Intent): RecordValue | undefined {
  if (intent.kind === 'create') return undefined;
  return intent.kind === 'remove' ? (intent.created ?? intent.expected) : intent.expected;
}

function decideAdd(
  { change, expected, created }: Extract<Intent, { kind: 'add' }>,
  now: RecordValue,
  mayCreate: boolean,
  canRemove: boolean,
): Decision {
  if (created !== undefined && now === null) return unchanged;
  if (created !== undefined && isMetBy(created, now)) return removalOf(now, canRemove);
  if (expected !== undefined && !isMetBy(expected, now)) return otherThanExpected(expected, now);
  if (change === 0) return unchanged;
  if (now === null && !mayCreate) return noEntry(0);
  const count = BigInt((now ?? 0) as number | bigint);
  const sum = count + BigInt(change);
  const text = `${count} ${change < 0 ? '-' : '+'} ${Math.abs(change)}`;
  if (sum < 0n) return toFailure('below_zero', `${text} is below 0`);
  if (sum > maxCount) return toFailure('too_large', `${text} is above ${maxCount}`);
  return writeOf(now === null ? 'create' : 'set', now, Number(sum));
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
    return isMetBy(before, now) ? writeAgain : changed(planned, now);
  }
  // `+3` from 5 was refused, and the count is 8. Either a gateway sent it twice, or somebody else has counted 8.
  if (isMetBy(after, now)) return intent.kind === 'add' && doubt !== 'sent' ? changed(planned, now) : applied;
  if (isMetBy(before, now))
    return now !== null || createsByPut ? writeAgain : leaveUnknown('perhaps_made', perhapsMade);
  if (now === null) return changed(planned, now);
  const isPlainSet = intent.kind === 'set' && intent.expected === undefined;
  return isPlainSet ? writeOf('set', before, after) : changed(planned, now);
}

/** The message for a row whose record may have been created. */
export const perhapsMade = 'it may have been made: look for it before you send it again';

function leaveUnknown(code: ReasonCode, message: string): Outcome {
  return { kind: 'unknown', reason: { code, message } };
}

/** `it was 5 before, 8 was sent, and it is 7 now`. */
function changed({ before, after }: Planned, now: RecordValue): Outcome {
  const [was, sent] = [before, after].map(describeValue);
  const is = now === null ? 'there is no record' : `it is ${describeValue(now)}`;
  return leaveUnknown('changed', `it was ${was} before, ${sent} was sent, and ${is} now`);
}

function otherThanExpected(expected: RecordValue, now: RecordValue): Outcome {
  const [is, wanted] = [describeDifference(now, expected), describeDifference(expected, now)];
  return toFailure('changed', `${is} now, not ${wanted} as expected`);
}

function writeOf(action: Planned['action'], before: RecordValue, after: RecordValue): Decision {
  return { kind: 'write', planned: { action, before, after } };
}

function removalOf(now: RecordValue, canRemove: boolean): Decision {
  if (!canRemove) return toFailure('no_delete', 'the service offers no way to delete it');
  return writeOf('remove', now, null);
}

function noEntry(value: RecordValue): Outcome {
  if (isFields(value)) return toFailure('no_entry', 'there is no such record');
  const message = 'the pet has no inventory entry: check the id, or create the entry with --create-missing';
  return toFailure('no_entry', message);
}

function toFailure(code: ReasonCode, message: string): Outcome {
  return { kind: 'failed', reason: { code, message } };
}
