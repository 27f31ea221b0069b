import type { RecordValue } from '../api/record-values.ts';
import { isMetBy, isSameValue, isShownBy } from '../api/same-values.ts';
import type { JudgedWrite } from '../client/judge-write.ts';
import { type CallLimits, permittedDelayMs } from '../client/retry.ts';
import { CliError } from '../process/errors.ts';
import { changeText, decide, expectedValue, isPlainSet } from './decide.ts';
import type { Abilities, Reading } from './port.ts';
import type { PlannedWrite } from './row.ts';
import {
  endApplied,
  endAsAnswered,
  endDecided,
  endStopped,
  endUnread,
  endWithoutSuccess,
  type State,
  type Transition,
  withClause,
} from './state.ts';

// The rules for one row, as a pure function. `next` takes the state of the row and an event, and returns the next state and the
// next step. `settle` does the steps: it reads, waits and sends. `decide` compares a reading with the row.

export type Event =
  | { readonly kind: 'begin' }
  | { readonly kind: 'read'; readonly reading: Reading; readonly now: RecordValue }
  /** The record, or something that its write needs, could not be read. */
  | { readonly kind: 'not-read'; readonly error: CliError }
  | { readonly kind: 'sent'; readonly write: JudgedWrite }
  | { readonly kind: 'stopped' };
type ReadEvent = Extract<Event, { kind: 'read' }>;

/** What the rules need to know besides the row. */
export interface Situation {
  readonly abilities: Abilities;
  readonly limits: CallLimits;
  /** True if a success without a record is believed: the list has confirmed one, and to read each back would take the whole list. */
  readonly believesEmpty: boolean;
  /** The time until the deadline of a command, in milliseconds. */
  readonly remainingMs: number;
  /** A random number from 0 to 1, for the delay before another attempt. */
  readonly random: number;
}

/** The most times that a row that adds is planned again. */
const maxReplans = 10;
const unboundError = new CliError('unavailable', 'the service offers no way to read one record', {
  code: 'unbound',
});

/** Returns the next state of a row, and the next step, after an event. It sends nothing and reads no clock. */
export function next(state: State, event: Event, situation: Situation): Transition {
  switch (event.kind) {
    case 'begin':
      return begin(state, situation);
    case 'read':
      return (state.aim === 'confirm' ? confirm : afterReading)(state, event, situation);
    case 'not-read':
      return afterNoReading(state, event.error, situation);
    case 'sent':
      return afterAttempt(state, event.write, situation);
    case 'stopped':
      return endStopped(state);
  }
}

function begin(state: State, situation: Situation): Transition {
  const { intent, planned, doubt } = state;
  const { canReadEach, canRead, readsFirst } = situation.abilities;
  // Without an id nothing can be read.
  if (intent.kind === 'create')
    return afterReading(state, { kind: 'read', reading: { record: undefined }, now: null }, situation);
  // The reading of the plan is enough.
  if (planned && !doubt && (!canReadEach || (isPlainSet(intent) && !readsFirst)))
    return thenWrite(state, planned);
  const hasCondition = intent.kind === 'add' || expectedValue(intent) !== undefined;
  if (planned || canRead || hasCondition) return thenRead(state, situation);
  // The service offers no reading. Here `before: null` stands for a value that is not known.
  const after = intent.kind === 'remove' ? null : intent.value;
  return thenWrite(state, { action: intent.kind, before: null, after });
}

function thenRead(state: State, { abilities }: Situation, waitMs = 0): Transition {
  const id = state.id ?? state.lastAttempt?.id;
  // A success may be confirmed by the list. A run does that until it believes a success without a record.
  const canRead = state.aim === 'confirm' ? abilities.canRead : abilities.canReadEach;
  return id === undefined || !canRead
    ? endUnread(state, unboundError, 'unbound')
    : [state, { kind: 'read', id, waitMs }];
}

function thenWrite(old: State, planned: PlannedWrite, waitMs = 0): Transition {
  const state = old.planned === planned ? old : { ...old, planned };
  return [state, { kind: 'write', planned, waitMs }];
}

/** Goes back to a reading or to the same attempt after an error, unless the row must end. */
function tryAgain(
  state: State,
  to: 'read' | 'write',
  situation: Situation,
  error: CliError | undefined,
): Transition | undefined {
  const { abilities, limits, remainingMs, random } = situation;
  const retries = state.retries + 1;
  const { retryAfterMs, status } = error?.details ?? {};
  const delayMs = permittedDelayMs(retries, { error, retryAfterMs, status }, limits, random);
  if (delayMs === undefined || delayMs >= remainingMs) return undefined;
  const { intent, planned, doubt, aim } = state;
  const again = { ...state, retries };
  // An uncertain row is read before each attempt, and so is one whose record may have changed during the delay. A create has no record to read.
  const mayBeStale = abilities.canReadEach && (abilities.readsFirst || !isPlainSet(intent));
  const isRead = intent.kind === 'create' ? aim === 'confirm' : to === 'read' || doubt || mayBeStale;
  return isRead || !planned ? thenRead(again, situation, delayMs) : thenWrite(again, planned, delayMs);
}

function afterReading(old: State, { reading, now }: ReadEvent, situation: Situation): Transition {
  const { abilities } = situation;
  const { defaults } = abilities;
  const showsSent = old.isPerhapsSentTwice && isShownBy(old.planned?.after ?? null, now, abilities);
  const doubt = old.doubt ?? (showsSent ? 'refused' : undefined);
  const state = { ...old, doubt, isPerhapsSentTwice: false, reading };
  const decision = decide(state, now, abilities);
  if (decision.kind !== 'write') return endDecided(state, decision);
  const { intent, planned: earlier } = state;
  const isAsBefore = earlier !== undefined && isSameValue(earlier.before, now, defaults);
  if (intent.kind === 'add' && earlier && !doubt && !isAsBefore) {
    // Somebody else has changed the count meanwhile, as a sale does. That is progress, so the row has all its retries again.
    const again: State = { ...state, aim: 'decide', retries: 0, replans: state.replans + 1 };
    return again.replans > maxReplans ? endAsAnswered(again) : thenWrite(again, decision.planned);
  }
  // A 409 to an unchanged record is not about its value: it may be in use, and the same write would get the same answer.
  const isUnchanged = isAsBefore && reading.record?.etag === old.reading?.record?.etag;
  if (old.aim === 'find-out' || (old.lastAttempt?.verdict === 'conflict' && isUnchanged))
    return endAsAnswered(state);
  // The new plan has the record as it was read last, so that an undo restores that.
  return thenWrite(state, isAsBefore ? earlier : decision.planned);
}

function afterNoReading(old: State, error: CliError, situation: Situation): Transition {
  const state = { ...old, attempts: old.attempts + (error.details.attempts ?? 0) };
  const isRepeated = state.aim !== 'find-out' && error.details.retryable === true;
  return (isRepeated ? tryAgain(state, 'read', situation, error) : undefined) ?? endUnread(state, error);
}

/** What follows an attempt: a retry from a reading or from the write, else a reading with an aim, else the end of the row. */
interface AttemptRule {
  readonly leaves?: 'doubt' | 'refusal';
  readonly retriesFrom?: 'read' | 'write';
  readonly aim?: 'find-out' | 'confirm';
}

const attemptRules: Readonly<Record<JudgedWrite['verdict'], AttemptRule>> = {
  shown: {},
  empty: { leaves: 'doubt', aim: 'confirm' },
  unclear: { leaves: 'doubt', aim: 'confirm' },
  pending: { leaves: 'doubt' },
  lost: { leaves: 'doubt', retriesFrom: 'read', aim: 'find-out' },
  unrepeatable: { leaves: 'doubt', aim: 'find-out' },
  conflict: { leaves: 'refusal', retriesFrom: 'read', aim: 'find-out' },
  'condition-failed': { leaves: 'refusal', retriesFrom: 'read', aim: 'find-out' },
  missing: { leaves: 'refusal', aim: 'find-out' },
  busy: { retriesFrom: 'write' },
  rejected: {},
};

function afterAttempt(old: State, attempt: JudgedWrite, situation: Situation): Transition {
  const { verdict, record, error } = attempt;
  const { leaves, retriesFrom, aim } = attemptRules[verdict];
  const isCreate = old.intent.kind === 'create';
  const doubt = leaves === 'doubt' ? 'sent' : old.doubt;
  const isPerhapsSentTwice = leaves === 'refusal' && !isCreate && !situation.abilities.isEmbedded;
  const state = { ...old, doubt, isPerhapsSentTwice, lastAttempt: attempt, attempts: old.attempts + 1 };
  // Every create is read back: an undo removes only a record that is as it was made.
  const isBelieved = verdict === 'empty' && situation.believesEmpty && !isCreate;
  // An earlier deletion of the row may have been applied. Then the record is missing because of it.
  const wasDeleted = verdict === 'missing' && old.doubt !== undefined && old.planned?.action === 'remove';
  if (verdict === 'shown' || isBelieved || wasDeleted) return endApplied(state, record);
  // No reading can find a create without its id. So its refusal is believed, and in doubt it is never sent again.
  if (isCreate && aim === 'find-out') return endAsAnswered(state);
  const retry = retriesFrom && tryAgain(state, retriesFrom, situation, error);
  if (retry) return retry;
  const canFollow = aim === 'confirm' ? (state.id ?? attempt.id) !== undefined : situation.remainingMs > 0;
  return aim && canFollow ? thenRead({ ...state, aim }, situation) : endAsAnswered(state);
}

/** Judges a success by the reading after it. */
function confirm(state: State, { reading, now }: ReadEvent, { abilities }: Situation): Transition {
  const planned = state.planned as PlannedWrite;
  const { before, after } = planned;
  if (isShownBy(after, now, abilities)) return endApplied(state, reading.record);
  const text = changeText(planned, now);
  const areCounts = typeof before === 'number' && typeof after === 'number';
  // A count that stays although 0 was sent may not have been written at all.
  const isAdded = areCounts && after !== 0 && isMetBy(before + after, now, abilities.defaults);
  const message = isAdded
    ? `${text}: the service added the count instead of setting it`
    : withClause(state, text);
  return endWithoutSuccess(state, { code: isAdded ? 'other_count' : 'other_value', message });
}
