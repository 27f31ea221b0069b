import { type Fields, type RecordValue, valueText } from '../api/record-values.ts';
import { isMetBy, isSameValue, isShownBy } from '../api/same-values.ts';
import type { JudgedWrite } from '../client/judge-write.ts';
import { type CallLimits, permittedDelay } from '../client/retry.ts';
import { CliError } from '../process/errors.ts';
import { decide, isPlainSet, requiredValue, sentText } from './decide.ts';
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

/** What the rules need to know besides the row. */
export interface Situation {
  readonly abilities: Abilities;
  readonly limits: CallLimits;
  /** True if a success without a record is believed. To read each back would take the whole list, and the list has confirmed one. */
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
      return state.aim === 'confirm'
        ? confirm(state, event, situation)
        : afterReading(state, event, situation);
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
    return afterReading(state, { reading: { record: undefined }, now: null }, situation);
  // The reading of the plan is enough.
  if (planned && !doubt && (!canReadEach || (isPlainSet(intent) && !readsFirst)))
    return thenWrite(state, planned);
  const hasCondition = intent.kind === 'add' || requiredValue(intent) !== undefined;
  if (planned || canRead || hasCondition) return thenRead(state, situation);
  // The service offers no reading. Here `before: null` stands for a value that is not known.
  const after = intent.kind === 'remove' ? null : intent.value;
  const unreadPlan: PlannedWrite = { action: intent.kind, before: null, after };
  return thenWrite({ ...state, planned: unreadPlan }, unreadPlan);
}

function thenRead(state: State, { abilities }: Situation, waitMs = 0): Transition {
  const id = state.id ?? state.lastWrite?.id;
  // A run confirms a success by the list only until `believesEmpty`.
  const canRead = state.aim === 'confirm' ? abilities.canRead : abilities.canReadEach;
  return id === undefined || !canRead
    ? endUnread(state, unboundError, 'unbound')
    : [state, { kind: 'read', id, waitMs }];
}

function thenWrite(state: State, planned: PlannedWrite, waitMs = 0): Transition {
  return [state, { kind: 'write', planned, isReplanned: false, waitMs }];
}

/** Goes back to a reading or to the same attempt after an error, unless the row must end. */
function tryAgain(
  state: State,
  to: 'read' | 'write',
  situation: Situation,
  error: CliError | undefined,
): Transition | undefined {
  const { limits, remainingMs, random } = situation;
  const retries = state.retries + 1;
  const retryAfterMs = error?.details.retryAfterMs;
  const delayMs = permittedDelay(retries, { error, retryAfterMs }, limits, random);
  if (delayMs === undefined || delayMs >= remainingMs) return undefined;
  // An uncertain row is read before each attempt, and so is a row whose record others may have changed during the delay.
  const isConditional = state.intent.kind !== 'create' && !isPlainSet(state.intent);
  const mayBeStale = isConditional && situation.abilities.canReadEach;
  if (to === 'read' || state.doubt || !state.planned || mayBeStale)
    return thenRead({ ...state, retries }, situation, delayMs);
  return thenWrite({ ...state, retries }, state.planned, delayMs);
}

function afterReading(
  old: State,
  { reading, now }: Pick<Extract<Event, { kind: 'read' }>, 'reading' | 'now'>,
  situation: Situation,
): Transition {
  const { defaults } = situation.abilities;
  const mayBeDoubled = old.isRefused && isShownBy(old.planned?.after ?? null, now, { defaults });
  const doubt = old.doubt ?? (mayBeDoubled ? 'refused' : undefined);
  const state = { ...old, doubt, isRefused: false, reading };
  const decision = decide(state, now, situation.abilities);
  if (decision.kind !== 'write') return endDecided(state, decision);
  const { intent, planned } = state;
  if (intent.kind === 'add' && planned && !doubt && !isMetBy(planned.before, now, defaults)) {
    // Somebody else has changed the count meanwhile, as a sale does. That is progress, so the row has all its retries again.
    const again = { ...state, retries: 0, replans: state.replans + 1 };
    return again.replans > maxReplans ? endAsAnswered(again) : planWrite(again, decision.planned, defaults);
  }
  // A 409 to an unchanged record is not about its value: it may be in use, and the same write would get the same answer.
  const { etag } = reading.record ?? {};
  const hasSameTag = etag === old.reading?.record?.etag;
  const isUnchanged =
    hasSameTag && (etag !== undefined || isSameValue(planned?.before ?? null, now, defaults));
  return old.aim === 'find-out' || (old.lastWrite?.verdict === 'conflict' && isUnchanged)
    ? endAsAnswered(state)
    : planWrite(state, decision.planned, defaults);
}

/** Plans a write. An uncertain row is sent again with the values of its first attempt, which `decide` has kept. */
function planWrite(state: State, planned: PlannedWrite, defaults: Fields): Transition {
  const { doubt, planned: earlier } = state;
  if (doubt && earlier) return thenWrite(state, planned);
  const isAsPlanned =
    earlier?.action === planned.action && isSameValue(earlier.before, planned.before, defaults);
  if (isAsPlanned) return thenWrite(state, earlier);
  // An undo restores the record as it was read last.
  return [
    { ...state, aim: 'decide', planned },
    { kind: 'write', planned, isReplanned: true, waitMs: 0 },
  ];
}

function afterNoReading(old: State, error: CliError, situation: Situation): Transition {
  const state = { ...old, attempts: old.attempts + (error.details.attempts ?? 0) };
  const isRepeated = state.aim !== 'find-out' && error.details.retryable === true;
  return (isRepeated ? tryAgain(state, 'read', situation, error) : undefined) ?? endUnread(state, error);
}

/** What follows an attempt: a reading with an aim, or, after a delay, the same write again. */
type Move = State['aim'] | 'repeat';

type AttemptRules = Readonly<
  Record<JudgedWrite['verdict'], { readonly leaves?: 'doubt' | 'refusal'; readonly moves: readonly Move[] }>
>;

/**
 * What follows an attempt: what it leaves, and the moves. The first move that is possible is made. Without one the row
 * ends.
 */
const attemptRules: AttemptRules = {
  shown: { moves: [] },
  empty: { leaves: 'doubt', moves: ['confirm'] },
  unclear: { leaves: 'doubt', moves: ['confirm'] },
  pending: { leaves: 'doubt', moves: [] },
  lost: { leaves: 'doubt', moves: ['decide', 'find-out'] },
  unrepeatable: { leaves: 'doubt', moves: ['find-out'] },
  conflict: { leaves: 'refusal', moves: ['decide', 'find-out'] },
  'condition-failed': { leaves: 'refusal', moves: ['decide', 'find-out'] },
  missing: { leaves: 'refusal', moves: ['find-out'] },
  busy: { moves: ['repeat'] },
  rejected: { moves: [] },
};

/** The rules for a create. In doubt it is never sent again, because without its id no reading can find the record. A refusal is believed. */
const createRules: AttemptRules = {
  ...attemptRules,
  lost: { leaves: 'doubt', moves: [] },
  unrepeatable: { leaves: 'doubt', moves: [] },
  conflict: { moves: [] },
  'condition-failed': { moves: [] },
};

function afterAttempt(old: State, lastWrite: JudgedWrite, situation: Situation): Transition {
  const rules = old.intent.kind === 'create' ? createRules : attemptRules;
  const { leaves, moves } = rules[lastWrite.verdict];
  const doubt = leaves === 'doubt' ? 'sent' : old.doubt;
  const isRefused = leaves === 'refusal' && !situation.abilities.isEmbedded;
  const state = { ...old, doubt, isRefused, lastWrite, attempts: old.attempts + 1 };
  if (isApplied(old, lastWrite, situation)) return endApplied(state, lastWrite.record);
  for (const move of moves) {
    const step = tryMove(move, state, situation);
    if (step) return step;
  }
  return endAsAnswered(state);
}

/** Returns true if an attempt is as asked, without a further reading. */
function isApplied(
  { intent, doubt }: State,
  { verdict }: JudgedWrite,
  { believesEmpty }: Situation,
): boolean {
  // Every create is read back: an undo removes only a record that is as it was made.
  if (verdict === 'empty') return believesEmpty && intent.kind !== 'create';
  // An earlier DELETE may have been applied, so the record is missing because of it.
  return verdict === 'shown' || (verdict === 'missing' && doubt !== undefined);
}

/**
 * Makes a move after an attempt, if it is possible. `repeat` and `decide` lead to another attempt, so they count as retries. `find-out`
 * and `confirm` are a last reading. A create without an id cannot be read, because only its answer has the id.
 */
function tryMove(move: Move, state: State, situation: Situation): Transition | undefined {
  const { id, lastWrite } = state;
  if (move === 'repeat') return tryAgain(state, 'write', situation, lastWrite?.error);
  if (move === 'decide') return tryAgain(state, 'read', situation, lastWrite?.error);
  const isPossible = move === 'find-out' ? situation.remainingMs > 0 : (id ?? lastWrite?.id) !== undefined;
  return isPossible ? thenRead({ ...state, aim: move }, situation) : undefined;
}

/** Judges a success by the reading after it. */
function confirm(
  state: State,
  { reading, now }: Extract<Event, { kind: 'read' }>,
  situation: Situation,
): Transition {
  const { before, after } = state.planned as PlannedWrite;
  const { abilities } = situation;
  if (isShownBy(after, now, abilities)) return endApplied(state, reading.record);
  const areCounts = typeof before === 'number' && typeof after === 'number';
  // A count that stays although 0 was sent may not have been written at all.
  if (areCounts && after !== 0 && isMetBy(before + after, now, abilities.defaults)) {
    const message = `it was ${before} before, ${after} was sent, and it is ${now} now: the service added the count instead of setting it`;
    return endWithoutSuccess(state, { code: 'other_count', message });
  }
  const clause = `${sentText(after)}, and it is ${valueText(now)} now`;
  return endWithoutSuccess(state, { code: 'other_value', message: withClause(state, clause) });
}
