import { type Attempt, attemptsOf } from '../client/attempt.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError, InterruptedError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { type Stop, StoppedError } from '../process/signals.ts';
import { type Outcome, type Planned, plannedOf, type Row } from './decide.ts';
import { type Circumstances, type Event, firstKnown, type Known, next, type Step } from './next.ts';
import type { Attempted, RecordPort, Write } from './port.ts';

/** How one row is settled. */
export interface RowLimits
  extends Pick<Circumstances, 'rules' | 'retries' | 'retriesUnreachable' | 'isFirstCount' | 'isConfirmed'> {
  /** After its stop no request begins. */
  readonly stop: Pick<Stop<unknown>, 'reason' | 'stopped'>;
  /** Set for a row without a journal: the deadline of all its requests, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** False if the row is only decided: the write that comes next is returned. */
  readonly sends?: boolean | undefined;
}

/** What became of a row. */
export interface Settled {
  /** Undefined if the row is left as it was, because the work was stopped; and if it is only decided and to be written. */
  readonly outcome?: Outcome | undefined;
  /** What the row was written as, if it was. */
  readonly planned?: Planned | undefined;
  /** The request that comes next, of a row that is only decided. */
  readonly write?: Write | undefined;
  /** The record as the service last showed it, and before the write. */
  readonly record?: JsonObject | undefined;
  readonly before?: JsonObject | undefined;
  /** The error of the last attempt or reading, if that is why the row is not as it should be. */
  readonly error?: CliError | undefined;
  /** The last attempt. Undefined if nothing was sent. */
  readonly attempted?: Attempted | undefined;
  /** The number of further attempts. */
  readonly retries: number;
  /** True if a reading has confirmed an answer that shows no record. */
  readonly isConfirmed: boolean;
}

/** Keeps the values with which a row of a run is written in place of those of its plan. It returns when they are on the disk. */
export type Mark = (planned: Planned) => Promise<void>;

/** Settles one row: does what `next` says, and tells it what came of it. Whatever writes a record writes it here. */
export async function settle(port: RecordPort, row: Row, limits: RowLimits, mark?: Mark): Promise<Settled> {
  const { timeoutMs, sends = true, stop } = limits;
  const isRun = timeoutMs === undefined;
  const { canGet, canRead, hasGateway, readsFirst, writeOnly } = port;
  // One object for all steps, because copies for each one are a tenth of the memory that a row takes.
  const all = {
    ...limits,
    canGet,
    canRead,
    hasGateway,
    readsFirst,
    writeOnly,
    isRun,
    leftMs: Number.POSITIVE_INFINITY,
    random: 0,
  };
  const startedMs = monotonicMs();
  const requests: Record<'reads' | 'writes', Attempt[]> = { reads: [], writes: [] };
  let known = firstKnown(row);
  let event: Event = { at: 'begin' };
  for (;;) {
    if (!isRun) all.leftMs = timeoutMs - (monotonicMs() - startedMs);
    all.random = Math.random();
    const [after, step] = next(known, event, all);
    known = after;
    if (step.do === 'end') return toSettled(known, step, requests);
    if (step.do === 'write' && !sends) {
      const write = await port.write(known.row, step.planned, known.reading);
      return { ...toSettled(known, {}, requests), write };
    }
    if (step.do === 'write' && step.isNew) await mark?.(step.planned);
    event = await perform(port, known, step, stop, isRun ? undefined : startedMs);
    if (event.at === 'sent' && event.attempted.attempt) requests.writes.push(event.attempted.attempt);
    if (event.at === 'unread') requests.reads.push(...attemptsOf(event.error));
  }
}

/** Waits, and does a step. @param startedMs when the deadline began. Undefined if each request has its own. */
async function perform(
  port: RecordPort,
  { row, reading }: Known,
  step: Exclude<Step, { do: 'end' }>,
  stop: RowLimits['stop'],
  startedMs: number | undefined,
): Promise<Event> {
  if (step.waitMs > 0 && !stop.reason) await sleep(step.waitMs, stop.stopped).catch(() => {});
  if (stop.reason) return { at: 'stopped' };
  const options = { retries: 0, spentMs: startedMs === undefined ? undefined : monotonicMs() - startedMs };
  try {
    if (step.do === 'write') {
      const write = await port.write(row, step.planned, reading, options);
      return { at: 'sent', attempted: await port.send(write, options) };
    }
    const now = await port.read(step.id, options);
    return { at: 'read', reading: now, now: port.valueOf(row, now.record) };
  } catch (error) {
    if (error instanceof StoppedError) return { at: 'stopped' };
    if (error instanceof InterruptedError) return { at: 'stopped', error };
    if (error instanceof CliError) return { at: 'unread', error };
    throw error;
  }
}

function toSettled(
  { row, last, before, aim, attempts }: Known,
  { outcome, record, error }: Pick<Settled, 'outcome' | 'record' | 'error'>,
  requests: Readonly<Record<'reads' | 'writes', readonly Attempt[]>>,
): Settled {
  const tried = last ? requests.writes : requests.reads;
  const isCounted = error && tried.length > 1 && !(error instanceof InterruptedError);
  return {
    outcome,
    planned: plannedOf(row),
    record,
    before,
    error: isCounted
      ? error.with({ attempts: tried }, `${error.message}; after ${tried.length} attempts`)
      : error,
    attempted: last,
    retries: Math.max(0, attempts - 1),
    isConfirmed: aim === 'confirm' && outcome?.state === 'applied',
  };
}
