import { describeValue, isMetBy, type RecordValue, type ServiceRecord } from '../api/record-values.ts';
import { isReadingRetried, isTransientError } from '../client/answer-table.ts';
import type { CallLimits } from '../client/call.ts';
import { codeOfError, type JudgedWrite } from '../client/judge-write.ts';
import { delayOfRetry } from '../client/pace.ts';
import type { Reason } from '../client/reasons.ts';
import { CliError, InterruptedError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import {
  applied,
  type Doubt,
  decide,
  type Outcome,
  type Planned,
  perhapsMade,
  type Row,
  wantedValue,
} from './decide.ts';
import type { Abilities, Reading } from './port.ts';

// The rules for one row, as a pure function. `next` takes the state of the row and an event, and returns the next state and the
// next step. `settle` does the steps: it reads, waits and sends. `decide` compares a reading with the row.

/** The state of a row while it is being settled. */
export interface State extends Readonly<Pick<Row, 'id' | 'intent' | 'planned' | 'doubt'>> {
  /** The purpose of the next reading: to decide, to decide without another attempt, or to confirm a success. */
  readonly aim: 'decide' | 'look' | 'confirm';
  readonly reading?: Reading | undefined;
  /** The record before the first attempt. */
  readonly before?: JsonObject | undefined;
  /** The last attempt that was sent. */
  readonly lastWrite?: JudgedWrite | undefined;
  /** The number of attempts: one of each write, and all of the readings that failed. */
  readonly attempts: number;
  /** How many retries there were. A retry goes back to a reading or to an attempt. */
  readonly retries: number;
  /** How often a row that adds has found a count that somebody else had changed. */
  readonly otherCounts: number;
}

export type Event =
  | { readonly kind: 'begin' }
  | { readonly kind: 'read'; readonly reading: Reading; readonly now: RecordValue }
  /** The record, or something that its write needs, could not be read. */
  | { readonly kind: 'not-read'; readonly error: CliError }
  | { readonly kind: 'sent'; readonly write: JudgedWrite }
  | { readonly kind: 'stopped' };

export type Step =
  | { readonly kind: 'read'; readonly id: bigint; readonly waitMs: number }
  /** `needsMark`: a plan has other values for the row, so a run marks these in its journal before they are sent. */
  | {
      readonly kind: 'write';
      readonly planned: Planned;
      readonly needsMark: boolean;
      readonly waitMs: number;
    }
  | ({ readonly kind: 'end' } & End);

/** The end of a row. It has no outcome if the work was stopped before anything was sent. */
export interface End {
  readonly outcome?: Outcome | undefined;
  /** The record as the service last showed it. */
  readonly record?: ServiceRecord | undefined;
  /** The error of the attempt or the reading that decided the outcome. */
  readonly error?: CliError | undefined;
}

/** How a command settles its rows: the limits of their requests, and what they may do. */
export interface Policy extends CallLimits {
  /** True if a row that finds no record creates it. */
  readonly mayCreate: boolean;
}

/** What the rules need to know besides the row. */
export interface Situation {
  readonly abilities: Abilities;
  readonly policy: Policy;
  /** True if a reading has shown that a success without a record can be trusted. */
  readonly isConfirmed: boolean;
  /** What is left of the deadline of a command, in milliseconds. */
  readonly leftMs: number;
  /** A random number from 0 to 1, for the delay before another attempt. */
  readonly random: number;
}

type Next = readonly [State, Step];

/** How often a row that adds may find a count that somebody else has changed. */
const maxOtherCounts = 10;
const unboundError = new CliError('unavailable', 'the service offers no way to read one record', {
  code: 'unbound',
});

/** Returns the state of a row before its first step. A doubt `sent-twice` becomes `sent-twice-before`. */
export function initialState({ id, intent, planned, doubt }: Row): State {
  // All members from the start, because V8 copies such an object faster (`bench/README.md`).
  return {
    id,
    intent,
    planned,
    doubt: doubt === 'sent-twice' ? 'sent-twice-before' : doubt,
    aim: 'decide',
    reading: undefined,
    before: undefined,
    lastWrite: undefined,
    attempts: 0,
    retries: 0,
    otherCounts: 0,
  };
}

/** Returns the next state of a row, and the next step, after an event. It sends nothing and reads no clock. */
export function next(state: State, event: Event, situation: Situation): Next {
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

function begin(state: State, situation: Situation): Next {
  const { intent, planned, doubt } = state;
  const { canReadEach, canRead, readsFirst } = situation.abilities;
  if (intent.kind === 'create') {
    const decision = decide(state, null, situation.policy.mayCreate, situation.abilities);
    return decision.kind === 'write' ? planWrite(state, decision.planned) : end(state, { outcome: decision });
  }
  const isPlain = intent.kind !== 'add' && wantedValue(intent) === undefined;
  const isPlainSet = isPlain && intent.kind === 'set' && !readsFirst;
  if (planned && !doubt && (isPlainSet || !canReadEach)) return thenWrite(state, planned);
  if (planned || canRead || !isPlain) return thenRead(state, situation);
  // The service only takes writes, so nobody knows what the record has.
  const after = intent.kind === 'remove' ? null : intent.value;
  const blind: Planned = { action: intent.kind, before: null, after };
  return thenWrite({ ...state, planned: blind }, blind);
}

function thenRead(state: State, { abilities }: Situation, waitMs = 0): Next {
  const id = state.id ?? state.lastWrite?.id;
  // To confirm a success a run may read the whole list, because it does so once: the next such success is trusted.
  const canRead = state.aim === 'confirm' ? abilities.canRead : abilities.canReadEach;
  return id === undefined || !canRead
    ? endUnread(state, unboundError, 'unbound')
    : [state, { kind: 'read', id, waitMs }];
}

function thenWrite(state: State, planned: Planned, needsMark = false, waitMs = 0): Next {
  return [state, { kind: 'write', planned, needsMark, waitMs }];
}

/** Goes back to a reading or to the same attempt, after an error. Returns undefined if the row must end instead. */
function tryAgain(
  state: State,
  to: 'read' | 'write',
  situation: Situation,
  error: CliError | undefined,
): Next | undefined {
  const { policy, leftMs, random } = situation;
  const retries = state.retries + 1;
  const retryAfterMs = error?.details.retryAfterMs;
  const delayMs = delayOfRetry(retries, { error, retryAfterMs }, policy, random);
  if (delayMs === undefined || delayMs >= leftMs) return undefined;
  if (to === 'read' || !state.planned) return thenRead({ ...state, retries }, situation, delayMs);
  return thenWrite({ ...state, retries }, state.planned, false, delayMs);
}

function afterReading(
  old: State,
  { reading, now }: Extract<Event, { kind: 'read' }>,
  situation: Situation,
): Next {
  const isDispelled = old.doubt === 'sent-twice' && !isMetBy(old.planned?.after ?? null, now);
  const doubt = isDispelled ? undefined : old.doubt;
  const state = { ...old, doubt, reading, before: old.before ?? reading.record?.fields };
  const decision = decide(state, now, situation.policy.mayCreate, situation.abilities);
  if (decision.kind !== 'write') return endDecided(state, decision, reading.record);
  const { intent, planned, aim } = state;
  if (intent.kind === 'add' && planned && !doubt && !isMetBy(planned.before, now)) {
    // Somebody else has changed the count meanwhile, such as by a sale, so the write with the new values does not count as a retry.
    const wentBack = isOutdated(old.lastWrite) && aim === 'decide';
    const retries = wentBack ? state.retries - 1 : state.retries;
    const again = { ...state, retries, otherCounts: state.otherCounts + 1 };
    return again.otherCounts > maxOtherCounts ? endAsAnswered(again) : planWrite(again, decision.planned);
  }
  // The tag is as before, or the service sends none, so the same write would get the same 409: the record may be in use.
  const isSameTag = old.lastWrite?.verdict === 'conflict' && reading.etag === old.reading?.etag;
  return aim === 'look' || isSameTag ? endAsAnswered(state) : planWrite(state, decision.planned);
}

/** Plans a write. An uncertain row is sent again with the values of its first attempt, which `decide` has kept. */
function planWrite(state: State, planned: Planned): Next {
  const { intent, doubt, planned: earlier } = state;
  if (doubt && earlier) return thenWrite(state, planned);
  const isKept =
    earlier?.action === planned.action && (intent.kind !== 'add' || isMetBy(earlier.before, planned.before));
  if (isKept) return thenWrite(state, earlier);
  return thenWrite({ ...state, aim: 'decide', planned }, planned, earlier !== undefined);
}

function afterNoReading(old: State, error: CliError, situation: Situation): Next {
  const state = { ...old, attempts: old.attempts + (error.details.attempts ?? 0) };
  const isRepeated = state.aim === 'decide' && isReadingRetried(error);
  return (isRepeated ? tryAgain(state, 'read', situation, error) : undefined) ?? endUnread(state, error);
}

/** A way on after an attempt. */
type Way =
  /** Reads the record, to confirm a success. */
  | 'confirm'
  /** Waits, reads the record and decides again. */
  | 'read'
  /** Reads the record once, to find out what became of the attempt. */
  | 'look'
  /** Waits, and sends the same write again. */
  | 'write';

type AttemptRules = Readonly<
  Record<JudgedWrite['verdict'], { readonly doubt?: Doubt; readonly ways: readonly Way[] }>
>;

/**
 * What follows an attempt that is not certainly applied: the doubt that it leaves, and the ways on. The first way that is open is
 * taken. If none is, the row ends.
 */
const attemptRules: AttemptRules = {
  shown: { ways: [] },
  empty: { doubt: 'sent', ways: ['confirm'] },
  unclear: { doubt: 'sent', ways: ['confirm'] },
  accepted: { doubt: 'sent', ways: [] },
  lost: { doubt: 'sent', ways: ['read', 'look'] },
  unrepeatable: { doubt: 'sent', ways: ['look'] },
  conflict: { doubt: 'sent-twice', ways: ['read', 'look'] },
  stale: { doubt: 'sent-twice', ways: ['read', 'look'] },
  missing: { doubt: 'sent-twice', ways: ['look'] },
  busy: { ways: ['write'] },
  rejected: { ways: [] },
  stopped: { doubt: 'sent', ways: [] },
};

/** The same for a create. After any doubt it is never sent again, and there is no id to read. A create that is refused is not made. */
const createRules: AttemptRules = {
  ...attemptRules,
  lost: { doubt: 'sent', ways: [] },
  unrepeatable: { doubt: 'sent', ways: [] },
  conflict: { ways: [] },
  stale: { ways: [] },
};

function afterAttempt(old: State, lastWrite: JudgedWrite, situation: Situation): Next {
  const rules = old.intent.kind === 'create' ? createRules : attemptRules;
  const { doubt: added, ways } = rules[lastWrite.verdict];
  const doubt = added === 'sent-twice' ? (old.doubt ?? added) : (added ?? old.doubt);
  const state = { ...old, doubt, lastWrite, attempts: old.attempts + 1 };
  if (isApplied(old, lastWrite, situation)) return endApplied(state, lastWrite.record);
  for (const way of ways) {
    const step = tryWay(way, state, situation);
    if (step) return step;
  }
  return endAsAnswered(state);
}

/** Returns true if an attempt is as asked, without a further reading. */
function isApplied({ id, doubt }: State, { verdict, id: madeId }: JudgedWrite, { isConfirmed }: Situation) {
  if (verdict === 'empty') return isConfirmed || (id ?? madeId) === undefined;
  // An earlier DELETE may have been applied, so the record is missing because of it.
  return verdict === 'shown' || (verdict === 'missing' && doubt !== undefined);
}

/** Takes a way on after an attempt. Returns undefined if it is not open: the id of a create is only in its answer. */
function tryWay(way: Way, state: State, situation: Situation): Next | undefined {
  const { id, lastWrite } = state;
  if (way === 'write') return tryAgain(state, 'write', situation, lastWrite?.error);
  if (way === 'confirm')
    return (id ?? lastWrite?.id) === undefined
      ? undefined
      : thenRead({ ...state, aim: 'confirm' }, situation);
  if (way === 'read') return tryAgain(state, 'read', situation, lastWrite?.error);
  return situation.leftMs > 0 ? thenRead({ ...state, aim: 'look' }, situation) : undefined;
}

/** Judges a success by the reading after it. */
function confirm(
  state: State,
  { reading, now }: Extract<Event, { kind: 'read' }>,
  situation: Situation,
): Next {
  const { before, after } = state.planned as Planned;
  if (isMetBy(after, now, situation.abilities.writeOnly)) return endApplied(state, reading.record);
  const areCounts = typeof before === 'number' && before !== 0 && typeof after === 'number';
  if (areCounts && isMetBy(before + after, now)) {
    const message = `it was ${before} before, ${after} was sent, and it is ${now} now: the service adds what it is told to set`;
    return giveUp(state, { code: 'other_count', message });
  }
  const why = state.lastWrite?.reason?.message ?? `the service answered ${statusOf(state)}`;
  const message = `${why}; ${describeValue(after)} was sent, and it is ${describeValue(now)} now`;
  return giveUp(state, { code: 'other_value', message });
}

// The ends.

function endApplied(state: State, record?: ServiceRecord): Next {
  const { id, intent, lastWrite } = state;
  if (intent.kind !== 'create') return end(state, { outcome: applied, record });
  const made = { id: id ?? lastWrite?.id, value: record?.fields ?? intent.fields };
  return end(state, { outcome: { kind: 'applied', made }, record });
}

function endDecided(state: State, outcome: Outcome, record: ServiceRecord | undefined): Next {
  const { reason } = outcome;
  if (!reason) return end(state, { outcome, record });
  const error = outcome.kind === 'failed' ? state.reading?.notFound : state.lastWrite?.error;
  return end(state, { outcome: { ...outcome, reason: { ...reason, ...factsOf(state) } }, record, error });
}

/** Ends a row with the answer to its last attempt. */
function endAsAnswered(state: State): Next {
  const { intent, doubt, lastWrite, reading } = state;
  const verdict = lastWrite?.verdict;
  if (intent.kind === 'create')
    return doubt && verdict !== 'accepted' && verdict !== 'stopped'
      ? giveUp(state, { code: 'perhaps_made', message: withClause(state, perhapsMade) })
      : giveUp(state);
  const isStale = !lastWrite || verdict === 'stale' || verdict === 'missing';
  if (doubt || !isStale) return giveUp(state);
  const what =
    verdict === 'missing'
      ? 'does not find the record that its readings show'
      : 'refuses the tag that its readings give';
  const age = reading?.age === undefined ? '' : `; the reading is ${reading.age} s old`;
  const message = `the service ${what}: a cache or a replica may stand between${age}`;
  return giveUp(state, { code: 'stale', message });
}

/** Ends a row whose record could not be read. @param code why not, for an uncertain row. */
function endUnread(state: State, error: CliError, code: 'unread' | 'unbound' = 'unread'): Next {
  const { message } = error;
  if (!state.doubt) return giveUp(state, { ...codeOfError(error), message }, error);
  const clause = `the record could not be read${state.lastWrite ? ' afterwards' : ''}: ${message}`;
  return giveUp(state, { code, message: withClause(state, clause) }, error);
}

function endStopped(state: State): Next {
  if (!state.doubt) return end(state, {});
  const message = state.lastWrite?.reason?.message ?? 'it was stopped before its record was read';
  return giveUp(state, { code: 'interrupted', message });
}

/**
 * Ends a row that is not as asked. It has failed if it was certainly not written. Otherwise it is unknown.
 *
 * @param words the code and message of the reason. By default those of the last attempt.
 */
function giveUp(
  state: State,
  words?: Pick<Reason, 'code' | 'serviceCode' | 'message'>,
  cause?: CliError,
): Next {
  const { intent, doubt, lastWrite } = state;
  const { code, ...text } = words ?? lastWrite?.reason ?? { code: 'unread', message: 'no answer came' };
  const reason = { code, ...text, ...factsOf(state, cause) };
  if (!doubt) {
    const error = cause ?? lastWrite?.error;
    // A gateway may have sent the create twice, so a resume must not send it once more.
    const mayBeMade = intent.kind === 'create' && isOutdated(lastWrite);
    const isTransient = code === 'stale' || (!mayBeMade && error !== undefined && isTransientError(error));
    return end(state, { outcome: { kind: 'failed', reason: { ...reason, isTransient } }, error });
  }
  return end(state, { outcome: { kind: 'unknown', reason }, error: lastWrite?.error ?? cause });
}

function end(state: State, { error, ...result }: End): Next {
  const { attempts } = state;
  const isCounted = error && attempts > 1 && !(error instanceof InterruptedError);
  return [state, { kind: 'end', ...result, error: isCounted ? error.with({ attempts }) : error }];
}

/** Returns true if the service has refused a write because of what the record has. */
function isOutdated(write: JudgedWrite | undefined): boolean {
  return write?.verdict === 'conflict' || write?.verdict === 'stale';
}

function statusOf({ lastWrite }: State): number | undefined {
  return lastWrite?.attempt.response?.status;
}

function factsOf(state: State, error?: CliError): Pick<Reason, 'status' | 'requestId' | 'attempts'> {
  const { lastWrite, attempts } = state;
  if (!lastWrite) return error ? { status: error.details.status, requestId: error.details.requestId } : {};
  return { status: statusOf(state), requestId: lastWrite.attempt.requestId, attempts };
}

/** Returns the message of the last attempt, followed by a clause. */
function withClause({ lastWrite }: State, clause: string): string {
  return lastWrite?.reason ? `${lastWrite.reason.message}; ${clause}` : clause;
}
