import type { CallOptions } from '../client/call.ts';
import { forEachConcurrently, monotonicMs, sleep } from '../process/deadline.ts';
import { CliError, isInterruption } from '../process/errors.ts';
import { type Event, next } from './next.ts';
import type { RecordPort } from './port.ts';
import type { PlannedWrite, Row } from './row.ts';
import { initialState, type RowEnd, type State, type Step } from './state.ts';

/** The end of a row. It has no outcome if it was stopped before it was sent: then its state has the write that would have come next. */
export interface SettleResult extends RowEnd {
  readonly state: State;
}

/**
 * Settles one row: does the steps that `next` returns, and passes it the result of each. Every write of a record is sent here.
 *
 * @param stopped no step begins after it is aborted.
 * @param believesEmpty as in `Situation`.
 * @param mark as in `RowKeeper`.
 */
export async function settle<SomeRow extends Row>(
  port: RecordPort,
  row: SomeRow,
  stopped: AbortSignal,
  believesEmpty = false,
  mark?: RowKeeper<SomeRow>['mark'],
): Promise<SettleResult> {
  const { abilities, isRun, limits } = port;
  // Each request of a run has a deadline of its own. `next` decides on retries, because a record is read before it is written again.
  const deadlineMs = isRun ? undefined : monotonicMs() + limits.timeoutMs;
  const options = { retries: 0, deadlineMs };
  let state = initialState(row);
  let event: Event = { kind: 'begin' };
  for (;;) {
    const remainingMs = deadlineMs === undefined ? Number.POSITIVE_INFINITY : deadlineMs - monotonicMs();
    const situation = { abilities, limits, believesEmpty, remainingMs, random: Math.random() };
    const [after, step] = next(state, event, situation);
    state = after;
    if (step.kind === 'end') return { state, outcome: step.outcome, record: step.record, error: step.error };
    // The row is marked before the delay. If it is then not sent, that costs a resume one reading.
    const isMarked = step.kind === 'read' || !mark || mark(row, step.planned);
    if (step.waitMs > 0) await sleep(step.waitMs, stopped).catch(() => {});
    event = stopped.aborted || !isMarked ? { kind: 'stopped' } : await perform(port, state, step, options);
  }
}

async function perform(
  port: RecordPort,
  state: State,
  step: Exclude<Step, { kind: 'end' }>,
  options: CallOptions,
): Promise<Event> {
  try {
    if (step.kind === 'write') {
      const request = await port.prepareRequest(state, step.planned, state.reading, options);
      return { kind: 'sent', write: await port.send(request, options) };
    }
    const reading = await port.read(step.id, options);
    return { kind: 'read', reading, now: port.rowValueOf(state.intent, reading.record) };
  } catch (error) {
    if (isInterruption(error)) return { kind: 'stopped' };
    if (error instanceof CliError) return { kind: 'not-read', error };
    throw error;
  }
}

/** Keeps what happens to rows. */
export interface RowKeeper<SomeRow extends Row> {
  /**
   * Marks a row that is about to be sent, and returns when the mark is on the disk. Returns false if the row must not be sent: the
   * mark cannot be written, or it is a dry run. A command without a journal marks nothing.
   *
   * @param planned the write to send. It is not that of the row if the record has changed since the plan or the last mark.
   */
  mark?(row: SomeRow, planned: PlannedWrite): boolean;
  keepOutcome(row: SomeRow, settled: SettleResult): Promise<void>;
}

/**
 * Settles rows, several at a time, and passes the result of each to `keeper`. No row begins after the stop. The caller passes no two
 * rows of the same record, so there are never two requests for one record at once.
 *
 * Rows that replace a count go one at a time until one of them is applied, because a service that adds instead of setting must not
 * change all of them. Other rows do not wait.
 * @throws what `keeper` throws.
 */
export async function settleAll<SomeRow extends Row>(
  port: RecordPort,
  rows: Iterable<SomeRow>,
  stopped: AbortSignal,
  keeper: RowKeeper<SomeRow>,
): Promise<void> {
  let isEmptyConfirmed = false;
  let isCountApplied = false;
  let turn = Promise.resolve();
  const isFirstCount = (row: SomeRow) => !isCountApplied && replacesCount(row);
  const settleOne = async (row: SomeRow) => {
    const believesEmpty = isEmptyConfirmed && !isFirstCount(row);
    const settled = await settle(port, row, stopped, believesEmpty, keeper.mark);
    const { state, outcome } = settled;
    if (outcome?.kind === 'applied' && state.lastAttempt) {
      isCountApplied ||= replacesCount(state);
      isEmptyConfirmed ||= state.lastAttempt.verdict === 'empty' && !port.abilities.canReadEach;
    }
    await keeper.keepOutcome(row, settled);
  };
  const settleInTurn = (row: SomeRow) => {
    if (!isFirstCount(row)) return settleOne(row);
    turn = turn.then(() => settleOne(row));
    return turn;
  };
  await forEachConcurrently(port.limits.concurrency, rows, settleInTurn, stopped);
}

/** Returns true if a row replaces a count other than 0. From 0, a service that adds shows the same result as one that sets. */
function replacesCount({ planned }: Pick<Row, 'planned'>): boolean {
  const { action, before = null } = planned ?? {};
  return action === 'set' && typeof before === 'number' && before !== 0;
}
