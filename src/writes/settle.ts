import type { OperationRequest } from '../client/request.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError, InterruptedError } from '../process/errors.ts';
import { StoppedError } from '../process/signals.ts';
import type { Planned, Row } from './decide.ts';
import { type End, type Event, initialState, next, type Policy, type State, type Step } from './next.ts';
import type { RecordPort } from './port.ts';

/** The end of a row. It has no outcome if the row was only decided, or stopped before it was sent. */
export interface Settled extends End {
  readonly state: State;
  /** The request that would come next. Set if the row was only decided. */
  readonly request?: OperationRequest | undefined;
}

export interface SettleOptions {
  readonly policy: Policy;
  /** True if each request of a row has its own deadline, as in a run. Else all of them have one together. */
  readonly isRun: boolean;
  /** No request begins after it is aborted. */
  readonly stopped: AbortSignal;
  /** False if the rows are only decided: the write that comes next is returned. */
  readonly sends?: boolean | undefined;
}

/**
 * Settles one row: does the steps that `next` returns, and passes it the result of each. Every write of a record is sent here.
 *
 * @param isConfirmed see `Situation`.
 * @param mark keeps the write of a row if it differs from the one in the plan of its run. It returns when the line is on the
 *   disk.
 */
export async function settle(
  port: RecordPort,
  row: Row,
  { policy, isRun, stopped, sends = true }: SettleOptions,
  isConfirmed = false,
  mark?: (planned: Planned) => Promise<void>,
): Promise<Settled> {
  const startedMs = monotonicMs();
  let state = initialState(row);
  let event: Event = { kind: 'begin' };
  for (;;) {
    const spentMs = isRun ? 0 : monotonicMs() - startedMs;
    const leftMs = isRun ? Number.POSITIVE_INFINITY : policy.timeoutMs - spentMs;
    const situation = { abilities: port, policy, isConfirmed, leftMs, random: Math.random() };
    const [after, step] = next(state, event, situation);
    state = after;
    if (step.kind === 'end') {
      const { outcome, record, error } = step;
      return { state, outcome, record, error };
    }
    if (step.kind === 'write' && !sends)
      return { state, request: await port.toRequest(state, step.planned, state.reading) };
    if (step.kind === 'write' && step.needsMark) await mark?.(step.planned);
    if (step.waitMs > 0) await sleep(step.waitMs, stopped).catch(() => {});
    event = stopped.aborted ? { kind: 'stopped' } : await perform(port, state, step, spentMs);
  }
}

/** Does a step. @param spentMs the part of the row's deadline that is used up. */
async function perform(
  port: RecordPort,
  state: State,
  step: Exclude<Step, { kind: 'end' }>,
  spentMs: number,
): Promise<Event> {
  // No retries here: `next` decides on them, because a record is read before it is written again.
  const options = { retries: 0, spentMs };
  try {
    if (step.kind === 'write') {
      const request = await port.toRequest(state, step.planned, state.reading, options);
      return { kind: 'sent', write: await port.send(request, options) };
    }
    const reading = await port.read(step.id, options);
    return { kind: 'read', reading, now: port.valueOf(state.intent, reading.record) };
  } catch (error) {
    if (error instanceof StoppedError || error instanceof InterruptedError) return { kind: 'stopped' };
    if (error instanceof CliError) return { kind: 'not-read', error };
    throw error;
  }
}
