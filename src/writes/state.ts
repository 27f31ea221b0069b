import type { ServiceRecord } from '../api/record-values.ts';
import { isTransientError } from '../client/answer-table.ts';
import { codesOfError, type JudgedWrite, writeDetails } from '../client/judge-write.ts';
import type { CliError, ErrorDetails } from '../process/errors.ts';
import { applied, perhapsMadeText, type WriteFacts } from './decide.ts';
import type { Reading } from './port.ts';
import { type Reason, reasonRule } from './reasons.ts';
import { type Doubt, doubtOf, type Outcome, type PlannedWrite, type Row } from './row.ts';

// The state of a row, and its ends: the outcome, and the code and the message of its reason.

export interface State extends WriteFacts, Readonly<Pick<Row, 'id'>> {
  /**
   * The purpose of the next reading: to decide what to write, to find out what became of the last attempt without sending again, or
   * to confirm a success.
   */
  readonly aim: 'decide' | 'find-out' | 'confirm';
  readonly reading?: Reading | undefined;
  /**
   * True if the last answer was 409 or 412, or 404 to a DELETE, and no reading has come since. A gateway may have sent the write
   * twice, and the first may be applied.
   */
  readonly isPerhapsSentTwice: boolean;
  readonly lastAttempt?: JudgedWrite | undefined;
  /** The number of attempts. Each write counts one, and each reading that failed counts its own attempts. */
  readonly attempts: number;
  /** The number of retries. A retry goes back to a reading or to an attempt. A new count of a row that adds sets it to 0 again. */
  readonly retries: number;
  /** How often a row that adds was planned again, because somebody else had changed its count. */
  readonly replans: number;
}

export type Step =
  | { readonly kind: 'read'; readonly id: bigint; readonly waitMs: number }
  | { readonly kind: 'write'; readonly planned: PlannedWrite; readonly waitMs: number }
  | ({ readonly kind: 'end' } & RowEnd);

/** The end of a row. It has no outcome if the work was stopped before anything was sent. */
export interface RowEnd {
  readonly outcome?: Outcome | undefined;
  /** The record as the service last showed it. */
  readonly record?: ServiceRecord | undefined;
  /** The error of the attempt or the reading that decided the outcome. */
  readonly error?: CliError | undefined;
}

export type Transition = readonly [State, Step];

/** Returns the state of a row before its first step. */
export function initialState(row: Row): State {
  const { id, intent, planned } = row;
  // All members from the start, because V8 copies such an object faster (`bench/README.md`).
  return {
    id,
    intent,
    planned,
    doubt: doubtOf(row),
    aim: 'decide',
    reading: undefined,
    isPerhapsSentTwice: false,
    lastAttempt: undefined,
    attempts: 0,
    retries: 0,
    replans: 0,
  };
}

export function endApplied(state: State, record?: ServiceRecord): Transition {
  const { id, intent, lastAttempt } = state;
  if (intent.kind !== 'create') return end(state, { outcome: applied, record });
  const madeId = id ?? lastAttempt?.id;
  const made = madeId === undefined ? undefined : { id: madeId, value: record?.fields };
  return end(state, { outcome: { kind: 'applied', made }, record });
}

/** Ends a row with an outcome of `decide`. An uncertain row is never decided as failed. */
export function endDecided(state: State, outcome: Outcome): Transition {
  const { record, notFound } = state.reading ?? {};
  if (outcome.kind !== 'failed' && outcome.kind !== 'unknown') return end(state, { outcome, record });
  return endWithoutSuccess(state, outcome.reason, notFound);
}

/** Ends a row with the answer to its last attempt. */
export function endAsAnswered(state: State): Transition {
  const { intent, lastAttempt, reading } = state;
  const doubt = doubtAtEnd(state);
  const isCreate = intent.kind === 'create';
  const { verdict } = lastAttempt ?? {};
  if (isCreate && doubt && verdict !== 'pending')
    return endWithoutSuccess(state, { code: 'perhaps_made', message: withClause(state, perhapsMadeText) });
  const isContradiction = verdict === 'condition-failed' || verdict === 'missing';
  if (isCreate || doubt || !isContradiction) return endWithoutSuccess(state);
  const contradiction =
    verdict === 'missing'
      ? 'does not find the record, although its readings show it'
      : 'refuses the ETag that it sent with its last reading';
  const age = reading?.record?.age === undefined ? '' : `; the reading is ${reading.record.age} s old`;
  const message = `the service ${contradiction}: a cache or a replica may have answered these readings${age}`;
  return endWithoutSuccess(state, { code: 'stale', message });
}

/** Ends a row whose record could not be read. @param code why not, for an uncertain row. */
export function endUnread(state: State, error: CliError, code: 'unread' | 'unbound' = 'unread'): Transition {
  const { message } = error;
  if (!doubtAtEnd(state)) return endWithoutSuccess(state, { ...codesOfError(error), message }, error);
  const clause = `the record could not be read${state.lastAttempt ? ' afterwards' : ''}: ${message}`;
  return endWithoutSuccess(state, { code, message: withClause(state, clause) }, error);
}

export function endStopped(state: State): Transition {
  if (!doubtAtEnd(state)) return end(state, {});
  const clause = 'petstore was stopped before it read the record';
  return endWithoutSuccess(state, { code: 'interrupted', message: withClause(state, clause) });
}

/**
 * Ends a row without success: as failed if it was certainly not written, otherwise as unknown.
 *
 * @param why the code and message of the reason. By default the last attempt gives both.
 */
export function endWithoutSuccess(
  state: State,
  why?: Pick<Reason, 'code' | 'serviceCode' | 'message'>,
  cause?: CliError,
): Transition {
  const { lastAttempt } = state;
  const doubt = doubtAtEnd(state);
  const { code, ...text } = why ?? lastAttempt?.reason ?? { code: 'unread', message: 'no answer came' };
  const error = doubt ? (lastAttempt?.error ?? cause) : (cause ?? lastAttempt?.error);
  const isTransient = reasonRule(code).isTransient || (error !== undefined && isTransientError(error));
  const { status, requestId }: ErrorDetails = { ...cause?.details, ...writeDetails(lastAttempt) };
  const reason = { code, ...text, status, requestId, isTransient };
  return end(state, {
    outcome: doubt ? { kind: 'unknown', reason, doubt } : { kind: 'failed', reason },
    error,
  });
}

function end(state: State, { outcome, record, error: cause }: RowEnd): Transition {
  const { attempts } = state;
  const error = attempts > 1 ? cause?.with({ attempts }) : cause;
  return [state, { kind: 'end', outcome, record, error }];
}

/** Returns the doubt of a row that ends without a further reading. */
function doubtAtEnd({ doubt, isPerhapsSentTwice }: State): Doubt | undefined {
  return doubt ?? (isPerhapsSentTwice ? 'refused' : undefined);
}

/** Returns the message of the last attempt, followed by a clause. */
export function withClause({ lastAttempt }: State, clause: string): string {
  return lastAttempt?.reason ? `${lastAttempt.reason.message}; ${clause}` : clause;
}
