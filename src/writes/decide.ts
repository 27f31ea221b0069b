import type { Reason, ReasonCode } from './reasons.ts';
import { describeValue, isFields, isSame, type Value } from './value.ts';

// Every command that changes a record goes through this folder, but for `api request`:
//
//   value.ts        what a record has: a count, fields, or nothing
//   decide.ts       what a row says and what is known of it -> write, or an outcome
//   reasons.ts      why a row is not as it was asked to be: one table
//   next.ts         one row: what is known of it and what has happened -> the next step
//   port.ts         a noun of a service: a reading, a write as data, one attempt of a write with its verdict
//   settle.ts       one row: does what `next` says, until it has an outcome
//   settle-all.ts   many rows, several at a time
//
// A plan, a preview and a dry run are the same, without the step that sends.

/** What a row asks for. */
export type Intent =
  | { readonly kind: 'create'; readonly fields: Value }
  | { readonly kind: 'set'; readonly value: Value; readonly expected?: Value | undefined }
  | {
      readonly kind: 'add';
      readonly change: number;
      /** The count that the input expects. A row that finds another fails. */
      readonly expected?: Value | undefined;
      /** In an undo, the count with which the run created the entry: an entry that still has it is removed. */
      readonly created?: Value | undefined;
    }
  | {
      readonly kind: 'remove';
      readonly expected?: Value | undefined;
    };

export type WriteAction = 'create' | 'set' | 'remove';

/** What a row is to be written as. */
export interface Planned {
  readonly action: WriteAction;
  /** What the last plan that found the row certain has read. */
  readonly before: Value;
  readonly after: Value;
}

/** A row that may have been written. It stays so until it is settled as applied, unchanged or failed. */
interface Uncertain extends Planned {
  /** True if an attempt may have been applied. False if only a refusal that is in doubt came, such as a 412. */
  readonly mayBeApplied: boolean;
}

export type RowState =
  | { readonly at: 'new' }
  | ({ readonly at: 'planned' } & Planned)
  | ({ readonly at: 'uncertain' } & Uncertain)
  | { readonly at: 'settled'; readonly outcome: Outcome; readonly planned?: Planned | undefined };

/** The state of a row that no plan has seen. It is one object, because a million rows share it. */
export const newState: RowState = { at: 'new' };

/** What is to be done with one record. */
export interface Row {
  /** The line of the input, from 1; 0 in a command with ids. */
  readonly line: number;
  /** Undefined if the row creates a record. */
  readonly id?: bigint | undefined;
  readonly intent: Intent;
  state: RowState;
}

/** The fate of a row. An unknown row was perhaps written, a failed row certainly not. */
export interface Outcome {
  readonly state: 'unchanged' | 'applied' | 'failed' | 'unknown';
  readonly reason?: Reason | undefined;
  /** Of an unknown row that was sent: see `Uncertain`. Undefined for a row that another run holds up. */
  readonly mayBeApplied?: boolean | undefined;
  /** The record that a row has created, as the service showed it. */
  readonly made?: MadeRecord | undefined;
}

interface MadeRecord {
  readonly id?: bigint | undefined;
  /** The values that the answer showed, else those that were sent. */
  readonly value: Value;
}

/** What the command and the service allow. */
export interface Rules {
  /** True if a row that finds no record creates it. */
  readonly mayCreate: boolean;
  readonly isUndo: boolean;
  /** True if a missing record is created by PUT, so that sending it twice is once. */
  readonly createsByPut: boolean;
}

/** The next step of a row: a value is written, or the row has its outcome. */
export type Decision =
  | { readonly state: 'write'; readonly action: WriteAction; readonly after: Value }
  | Outcome;

const unchanged: Outcome = { state: 'unchanged' };
/** The outcome of a row that was written and about which nothing else is to be said. */
export const applied: Outcome = { state: 'applied' };
const maxCount = BigInt(Number.MAX_SAFE_INTEGER);

/** Decides the next step of a row by the value that its record has now. Knows nothing of HTTP, files or time. */
export function decide(row: Row, now: Value, rules: Rules): Decision {
  const uncertain = uncertaintyOf(row);
  return uncertain ? decideUncertain(row.intent, uncertain, now, rules) : decideCertain(row, now, rules);
}

/** What a row may have been written as. Undefined if it was certainly not written, or its fate is certain. */
export function uncertaintyOf({ state }: Pick<Row, 'state'>): Uncertain | undefined {
  if (state.at === 'uncertain') return state;
  if (state.at !== 'settled' || !state.planned) return undefined;
  const { state: fate, mayBeApplied } = state.outcome;
  return fate === 'unknown' && mayBeApplied !== undefined ? { ...state.planned, mayBeApplied } : undefined;
}

/** What the last plan wants to write. Undefined if no plan has the row to write. */
export function plannedOf({ state }: Pick<Row, 'state'>): Planned | undefined {
  if (state.at === 'new') return undefined;
  return state.at === 'settled' ? state.planned : state;
}

function decideCertain({ intent, state }: Row, now: Value, rules: Rules): Decision {
  switch (intent.kind) {
    case 'create':
      return { state: 'write', action: 'create', after: intent.fields };
    case 'set': {
      const { value, expected } = intent;
      if (isSame(value, now)) return unchanged;
      if (now === null)
        return rules.mayCreate && expected === undefined
          ? { state: 'write', action: 'create', after: value }
          : noEntry(value);
      if (expected === undefined || isSame(expected, now))
        return { state: 'write', action: 'set', after: value };
      return otherThanExpected(expected, now);
    }
    case 'add':
      return decideCertainAdd(intent, now, rules);
    case 'remove': {
      if (now === null) return rules.isUndo ? unchanged : fail('no_record', 'there is no such record');
      const expected = intent.expected ?? (state.at === 'planned' ? state.before : undefined);
      // A person was shown the whole record, so a field that it has got since is a change too.
      const wasShown = intent.expected !== undefined && !rules.isUndo;
      if (expected === undefined || (isSame(expected, now) && (!wasShown || isSame(now, expected))))
        return { state: 'write', action: 'remove', after: null };
      return otherThanExpected(expected, now);
    }
  }
}

function decideCertainAdd(
  { change, expected, created }: Extract<Intent, { kind: 'add' }>,
  now: Value,
  { mayCreate }: Rules,
): Decision {
  if (created !== undefined && now === null) return unchanged;
  if (created !== undefined && isSame(created, now)) return { state: 'write', action: 'remove', after: null };
  if (expected !== undefined && !isSame(expected, now)) return otherThanExpected(expected, now);
  if (change === 0) return unchanged;
  if (now === null && !mayCreate) return noEntry(0);
  const count = BigInt((now ?? 0) as number | bigint);
  const sum = count + BigInt(change);
  const text = `${count} ${change < 0 ? '-' : '+'} ${Math.abs(change)}`;
  if (sum < 0n) return fail('below_zero', `${text} is below 0`);
  if (sum > maxCount) return fail('too_large', `${text} is above ${maxCount}`);
  return { state: 'write', action: now === null ? 'create' : 'set', after: Number(sum) };
}

function decideUncertain(intent: Intent, uncertain: Uncertain, now: Value, rules: Rules): Decision {
  const { action, before, after, mayBeApplied } = uncertain;
  const writeAgain: Decision = { state: 'write', action, after };
  if (intent.kind === 'create') return leaveUnknown('perhaps_made', perhapsMade, mayBeApplied);
  if (action === 'remove') {
    if (now === null) return applied;
    return isSame(before, now) ? writeAgain : changed(uncertain, now);
  }
  // After refusals alone somebody else may have made the same sum.
  if (isSame(after, now)) return intent.kind === 'add' && !mayBeApplied ? changed(uncertain, now) : applied;
  if (isSame(before, now))
    return now !== null || rules.createsByPut
      ? writeAgain
      : leaveUnknown('perhaps_made', perhapsMade, mayBeApplied);
  if (now === null) return changed(uncertain, now);
  const isPlainSet = intent.kind === 'set' && intent.expected === undefined;
  return isPlainSet ? { ...writeAgain, action: 'set' } : changed(uncertain, now);
}

/** What is said of a row whose record may have been made. */
export const perhapsMade = 'it may have been made: look for it before you send it again';

function leaveUnknown(code: ReasonCode, message: string, mayBeApplied: boolean): Outcome {
  return { state: 'unknown', reason: { code, message }, mayBeApplied };
}

/** `it was 5 before, 8 was sent, and it is 7 now`. */
function changed({ before, after, mayBeApplied }: Uncertain, now: Value): Outcome {
  const [was, sent, is] = [before, after, now].map(describeValue);
  return leaveUnknown('changed', `it was ${was} before, ${sent} was sent, and it is ${is} now`, mayBeApplied);
}

function otherThanExpected(expected: Value, now: Value): Outcome {
  return fail(
    'changed',
    `${describeDifference(now, expected)} now, not ${describeDifference(expected, now)} as expected`,
  );
}

/** Describes the fields of a value that differ from another value. */
function describeDifference(value: Value, other: Value): string {
  if (value === null || !isFields(value) || other === null || !isFields(other)) return describeValue(value);
  const names = [...new Set([...Object.keys(value), ...Object.keys(other)])];
  const different = names.filter((name) => !isSame({ [name]: value[name] }, { [name]: other[name] }));
  return describeValue(Object.fromEntries(different.map((name) => [name, value[name]])));
}

function noEntry(value: Value): Outcome {
  if (isFields(value)) return fail('no_entry', 'there is no such record');
  const message = 'the pet has no inventory entry: check the id, or create the entry with --create-missing';
  return { state: 'failed', reason: { status: 404, code: 'no_entry', message } };
}

function fail(code: ReasonCode, message: string): Outcome {
  return { state: 'failed', reason: { code, message } };
}
