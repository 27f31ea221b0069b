import { errorPasses, isUnreachable } from '../client/answers.ts';
import { retryDelay } from '../client/attempt.ts';
import { CliError, InterruptedError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import {
  applied,
  type Decision,
  decide,
  newState,
  type Outcome,
  type Planned,
  plannedOf,
  type Reason,
  type Row,
  type RowState,
  type Rules,
  uncertaintyOf,
} from './decide.ts';
import { type Attempted, errorCodeOf, type Reading } from './port.ts';
import { describeValue, isSame, isShown, type Value } from './value.ts';

// The rules of one row, as a function: what is known and what has happened make what is known now, and the next step.
// `settle` reads, waits and sends. `decide` compares a reading with what the row says.

/** What is known of a row while it is settled. */
export interface Known {
  /** The row, with its state of now. An uncertain one keeps what it was first sent with. */
  readonly row: Row;
  /** What the next reading is for: to decide, to decide without a further attempt, or to confirm a success. */
  readonly aim: 'decide' | 'look' | 'confirm';
  readonly reading?: Reading | undefined;
  /** The record before the first attempt. */
  readonly before?: JsonObject | undefined;
  /** The last attempt that was sent. */
  readonly last?: Attempted | undefined;
  /** Whether a condition was refused (409, 412) and nothing was read since: a gateway may have sent the write twice. */
  readonly isRefused: boolean;
  readonly attempts: number;
  /** Ways back to a reading or an attempt. */
  readonly tries: number;
  /** How often a row that adds has met another count than before. */
  readonly news: number;
}

export type Event =
  | { readonly at: 'begin' }
  | { readonly at: 'read'; readonly reading: Reading; readonly now: Value }
  /** There is no reading of the record, or of what its write needs. */
  | { readonly at: 'unread'; readonly error: CliError; readonly isReadAgain: boolean }
  | { readonly at: 'sent'; readonly attempted: Attempted }
  | { readonly at: 'stopped'; readonly error?: InterruptedError | undefined };

export type Step =
  | { readonly do: 'read'; readonly id: bigint; readonly waitMs: number }
  /** @param isNew whether the row is written with other values than its journal has. */
  | { readonly do: 'write'; readonly planned: Planned; readonly isNew: boolean; readonly waitMs: number }
  | ({ readonly do: 'end' } & End);

/** What became of a row. Without an outcome it is left as it was, because the work was stopped. */
interface End {
  readonly outcome?: Outcome | undefined;
  /** The record as the service last showed it. */
  readonly record?: JsonObject | undefined;
  /** The error of the attempt or the reading that is the reason. */
  readonly error?: CliError | undefined;
}

/** What the rules need beside the row. */
export interface Circumstances {
  readonly rules: Rules;
  /** The most ways back. */
  readonly retries: number;
  readonly retriesUnreachable: boolean;
  /** Whether the row has a plan in a journal. */
  readonly isRun: boolean;
  /** Whether a record can be read by itself, and whether it can be found at all, if need be in the list. */
  readonly canGet: boolean;
  readonly canRead: boolean;
  /** Whether a gateway may stand between, which may send a write twice. Not so for the embedded store in this process. */
  readonly hasGateway: boolean;
  /** Whether a record must be read before it is written, because its other fields are sent with it. */
  readonly readsFirst: boolean;
  /** Whether it is the first count that shows whether the service sets what it is told to set. */
  readonly isFirstCount: boolean;
  /** Whether a reading has shown already that an answer without a record is to be believed. */
  readonly isConfirmed: boolean;
  /** The fields that no answer has. */
  readonly writeOnly: ReadonlySet<string>;
  /** What is left of the deadline of a single command. */
  readonly leftMs: number;
  /** From 0 to 1, for the delay before another attempt. */
  readonly random: number;
}

type Next = readonly [Known, Step];

/** How often a row that adds may meet another count. */
const maxNews = 10;
const unboundError = new CliError('unavailable', 'the service offers no way to read one record', {
  code: 'unbound',
});
const stale = 'the service refuses the tag that its readings give: a cache or a replica may stand between';

export function firstKnown(row: Row): Known {
  return {
    row: { ...row, state: stateOf(row) },
    aim: 'decide',
    isRefused: false,
    attempts: 0,
    tries: 0,
    news: 0,
  };
}

/** The state from which a row goes on: one that is unknown is uncertain. */
function stateOf(row: Row): RowState {
  const uncertain = uncertaintyOf(row);
  if (uncertain) return { ...uncertain, at: 'uncertain' };
  return row.state.at === 'settled' ? newState : row.state;
}

export function next(known: Known, event: Event, all: Circumstances): Next {
  switch (event.at) {
    case 'begin':
      return begin(known, all);
    case 'read':
      return known.aim === 'confirm'
        ? confirm(known, event, all)
        : afterReading(known, event.reading, event.now, all);
    case 'unread':
      return afterNoReading(known, event, all);
    case 'sent':
      return afterAttempt(known, event.attempted, all);
    case 'stopped':
      return stopped(known, event.error);
  }
}

function begin(known: Known, all: Circumstances): Next {
  const { state, intent } = known.row;
  if (intent.kind === 'create') {
    const decision = decide(known.row, null, all.rules);
    return decision.state === 'write' ? plan(known, decision, null, all) : end(known, { outcome: decision });
  }
  const isPlain = intent.kind !== 'add' && intent.expected === undefined;
  const isPlainSet = isPlain && intent.kind === 'set' && !all.readsFirst;
  if (all.isRun && state.at === 'planned' && (isPlainSet || !all.canGet)) return write(known, state);
  if (state.at !== 'new' || all.canRead || !isPlain) return read(known, all);
  // Of a service that only takes writes nobody knows what is there.
  const planned: Planned =
    intent.kind === 'remove'
      ? { action: 'remove', before: null, after: null }
      : { action: 'set', before: null, after: intent.value };
  return write(withState(known, { at: 'planned', ...planned }), planned);
}

function read(known: Known, all: Circumstances, waitMs = 0): Next {
  const id = known.row.id ?? known.last?.id;
  // A run finds one record in the list only to confirm a success.
  const canRead = all.isRun && known.aim !== 'confirm' ? all.canGet : all.canRead;
  if (id === undefined || !canRead) return unreadable(known, unboundError);
  return [known, { do: 'read', id, waitMs }];
}

function write(known: Known, planned: Planned, isNew = false, waitMs = 0): Next {
  return [known, { do: 'write', planned, isNew, waitMs }];
}

/** Goes back to a reading or to the same attempt. Undefined if there is no way back left. */
function back(known: Known, to: 'read' | 'write', all: Circumstances): Next | undefined {
  const tries = known.tries + 1;
  const waitMs = retryDelay(tries, known.last?.attempt?.retryAfterMs, all.random);
  if (tries > all.retries || waitMs >= all.leftMs) return undefined;
  const planned = plannedOf(known.row);
  if (to === 'read' || !planned) return read({ ...known, tries }, all, waitMs);
  return write({ ...known, tries }, planned, false, waitMs);
}

/** Reads once more, to know what became of the last attempt. */
function look(known: Known, all: Circumstances): Next {
  if (all.leftMs > 0) return read({ ...known, aim: 'look' }, all);
  return isCertain(known) ? endRefused(known) : endUnknown(known);
}

function afterReading(old: Known, reading: Reading, now: Value, all: Circumstances): Next {
  const seen = { ...old, reading, before: old.before ?? reading.record, isRefused: false };
  const known = old.isRefused && isAsWritten(old.row, now) ? uncertain(seen, false) : seen;
  const decision = decide(known.row, now, all.rules);
  if (decision.state !== 'write') return endDecided(known, decision, reading.record);
  const { state, intent } = known.row;
  // The count of a row that adds has changed, as in a shop that sells: that uses up no way back.
  if (intent.kind === 'add' && state.at === 'planned' && !isSame(state.before, now)) {
    const isRefused = old.last?.verdict === 'conflict';
    const again = {
      ...known,
      tries: known.tries - (isRefused && old.aim === 'decide' ? 1 : 0),
      news: known.news + 1,
    };
    return again.news > maxNews ? endStale(again) : plan(again, decision, now, all);
  }
  // Another attempt with the same tag would get the same 409, such as that of a record in use.
  const isFinal = old.last?.status === 409 && reading.etag === old.reading?.etag;
  return old.aim === 'look' || isFinal ? endRefused(known) : plan(known, decision, now, all);
}

/** Whether a record has what the row writes. */
function isAsWritten({ state, intent }: Row, now: Value): boolean {
  if (intent.kind === 'remove') return now === null;
  return isSame(intent.kind === 'set' ? intent.value : (plannedOf({ state })?.after ?? null), now);
}

/** Plans what a decision writes. What an uncertain row was first sent with is sent again. */
function plan(
  known: Known,
  { action, after }: Extract<Decision, { state: 'write' }>,
  now: Value,
  { isRun }: Circumstances,
): Next {
  const { state, intent } = known.row;
  if (state.at === 'uncertain') return write(known, { ...state, action });
  const planned = { action, before: now, after };
  const isPlanned = isRun && state.at === 'planned';
  const isKept = isPlanned && state.action === action && (intent.kind !== 'add' || isSame(state.before, now));
  if (isKept) return write(known, state);
  return write(withState({ ...known, aim: 'decide' }, { at: 'planned', ...planned }), planned, isPlanned);
}

function afterNoReading(
  known: Known,
  { error, isReadAgain }: Extract<Event, { at: 'unread' }>,
  all: Circumstances,
): Next {
  const isLast = known.aim !== 'decide' || !isReadAgain;
  return (isLast ? undefined : back(known, 'read', all)) ?? unreadable(known, error);
}

/** Ends a row that has no reading: a certain one has failed, any other is unknown. */
function unreadable(known: Known, error: CliError): Next {
  if (isCertain(known)) return endFailed(known, { code: errorCodeOf(error), message: error.message }, error);
  const clause = `the record could not be read${known.last ? ' afterwards' : ''}: ${error.message}`;
  return endUnknown(known, 'unread', joined([known.last?.why, clause]), error);
}

function afterAttempt(old: Known, attempted: Attempted, all: Circumstances): Next {
  const { verdict, record } = attempted;
  // A request that was never sent says nothing of those before it.
  const last = attempted.attempt || !old.last ? attempted : old.last;
  const known = { ...old, last, attempts: old.attempts + 1 };
  const { row } = known;
  const isCreate = row.intent.kind === 'create';
  switch (verdict) {
    case 'shown':
      return endApplied(known, record);
    case 'empty':
      if (all.isConfirmed || (row.id ?? attempted.id) === undefined) return endApplied(known);
      return read({ ...uncertain(known), aim: 'confirm' }, all);
    case 'unclear':
      if ((row.id ?? attempted.id) === undefined) return endUnknown(uncertain(known), 'perhaps_made');
      return read({ ...uncertain(known), aim: 'confirm' }, all);
    case 'accepted':
      return endUnknown(uncertain(known), 'accepted');
    case 'lost':
    case 'unrepeatable': {
      if (isCreate) return endPerhapsMade(known, all);
      const sent = uncertain(known);
      return (verdict === 'lost' ? back(sent, 'read', all) : undefined) ?? look(sent, all);
    }
    case 'conflict': {
      if (isCreate) return endRefused(known);
      const refused = { ...known, isRefused: all.hasGateway };
      return back(refused, 'read', all) ?? look(refused, all);
    }
    case 'gone':
      if (row.state.at === 'uncertain') return endApplied(known);
      return look({ ...known, isRefused: true }, all);
    case 'busy': {
      const isRetried = all.retriesUnreachable || !isUnreachable(attempted.error);
      return (isRetried ? back(known, 'write', all) : undefined) ?? endRefused(known);
    }
    case 'refused':
      return endRefused(known);
    case 'stopped':
      return stopped(uncertain(known), undefined);
  }
}

/** Judges a success by the one reading after it. */
function confirm(known: Known, { reading, now }: Extract<Event, { at: 'read' }>, all: Circumstances): Next {
  const { before, after } = plannedOf(known.row) as Planned;
  if (isShown(after, now, all.writeOnly)) return endApplied(known, reading.record);
  if (all.isFirstCount && isSum(before, after, now)) {
    const message = `it was ${before} before, ${after} was sent, and it is ${now} now: the service adds what it is told to set`;
    return endUnknown(known, 'other_count', message);
  }
  const { why, status } = known.last ?? {};
  const message = `${why ?? `the service answered ${status}`}; ${describeValue(after)} was sent, and it is ${describeValue(now)} now`;
  return endUnknown(known, 'other_value', message);
}

function isSum(before: Value, after: Value, now: Value): boolean {
  if (typeof before !== 'number' || typeof after !== 'number' || before === 0) return false;
  return isSame(before + after, now);
}

// The ends.

function endApplied(known: Known, record?: JsonObject): Next {
  const { row, last } = known;
  if (row.intent.kind !== 'create') return end(known, { outcome: applied, record });
  const made = { id: row.id ?? last?.id, value: record ?? row.intent.fields };
  return end(known, { outcome: { state: 'applied', made }, record });
}

function endDecided(known: Known, outcome: Outcome, record: JsonObject | undefined): Next {
  const { reason } = outcome;
  const error = outcome.state === 'failed' ? known.reading?.missing : known.last?.error;
  if (!reason) return end(known, { outcome, record });
  return end(known, { outcome: { ...outcome, reason: { ...reason, ...factsOf(known) } }, record, error });
}

/** Ends a row that is not sent again after a refusal: a certain one has failed, an uncertain one is unknown. */
function endRefused(known: Known): Next {
  const { last, row } = known;
  if (row.state.at === 'uncertain') return endUnknown(known);
  if (last?.status === 412 || last?.verdict === 'gone') return endStale(known);
  const { why = 'it was refused', code = 'refused', error } = last ?? {};
  return endFailed(known, { code, message: why }, error);
}

function endStale(known: Known): Next {
  const age = known.reading?.age;
  const message = age === undefined ? stale : `${stale}; the reading is ${age} s old`;
  return endFailed(known, { code: 'stale', message, passes: true }, known.last?.error);
}

function endPerhapsMade(known: Known, { rules }: Circumstances): Next {
  const sent = uncertain(known);
  const { reason } = decide(sent.row, null, rules) as Outcome;
  return endUnknown(sent, 'perhaps_made', joined([known.last?.why, reason?.message]));
}

function stopped(known: Known, error: CliError | undefined): Next {
  if (isCertain(known)) return end(known, { error });
  return endUnknown(known, 'interrupted', known.last?.why ?? 'it was stopped before an answer came', error);
}

function endFailed(known: Known, reason: Reason, error: CliError | undefined): Next {
  const passes = reason.passes ?? (error !== undefined && errorPasses(error));
  return end(known, {
    outcome: { state: 'failed', reason: { ...reason, ...factsOf(known, error), passes } },
    error,
  });
}

function endUnknown(
  old: Known,
  code = old.last?.code ?? 'unread',
  message = old.last?.why ?? 'no answer came',
  error?: CliError,
): Next {
  const known = old.row.state.at === 'uncertain' ? old : uncertain(old, !old.isRefused);
  const { state } = known.row;
  const mayBeApplied = state.at === 'uncertain' && state.mayBeApplied;
  const reason = { code, message, ...factsOf(known) };
  const cause = error instanceof InterruptedError ? error : (known.last?.error ?? error);
  return end(known, { outcome: { state: 'unknown', reason, mayBeApplied }, error: cause });
}

function end(known: Known, result: End): Next {
  return [known, { do: 'end', ...result }];
}

// What is known.

/** Whether the row was certainly not written. */
function isCertain({ row, isRefused }: Known): boolean {
  return row.state.at !== 'uncertain' && !isRefused;
}

/** The row was perhaps written. @param mayBeApplied false if only a refusal that is in doubt came. */
function uncertain(known: Known, mayBeApplied = true): Known {
  const { state } = known.row;
  if (state.at !== 'planned' && state.at !== 'uncertain') return known;
  const { action, before, after } = state;
  const may = mayBeApplied || (state.at === 'uncertain' && state.mayBeApplied);
  return withState(known, { at: 'uncertain', action, before, after, mayBeApplied: may });
}

function withState(known: Known, state: Row['state']): Known {
  return { ...known, row: { ...known.row, state } };
}

function factsOf(
  { last, attempts }: Known,
  error?: CliError,
): Pick<Reason, 'status' | 'requestId' | 'attempts'> {
  if (!last) return error ? { status: error.details.status, requestId: error.details.requestId } : {};
  return { status: last.status, requestId: last.requestId, attempts };
}

function joined(clauses: readonly (string | undefined)[]): string {
  return clauses.filter((clause) => clause !== undefined).join('; ');
}
