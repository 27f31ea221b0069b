import { isSentAgain } from '../client/answers.ts';
import { type Attempt, retryDelay } from '../client/attempt.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError, InterruptedError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { type Stop, StoppedError } from '../process/signals.ts';
import { secondsText } from '../process/text.ts';
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
import { type Attempted, errorCodeOf, type Reading, type RecordPort } from './port.ts';
import { prove } from './prove.ts';
import { describeValue, isSame, type Value } from './value.ts';

/** How one row is settled. */
export interface RowLimits {
  /** The maximum number of retries of a row. */
  readonly retries: number;
  /** Whether a refused connection and an unknown host are retried too. */
  readonly retriesUnreachable: boolean;
  readonly rules: Rules;
  /** Whether a gateway may stand between, which may send a write twice. Not so for the embedded store in this process. */
  readonly hasGateway: boolean;
  /** After its stop no request begins. */
  readonly stop: Stop<unknown>;
  /**
   * Set for a single command, which has no journal: it may send another sum than it planned, every write is read back that
   * is answered without the record, and all requests share this deadline, in milliseconds.
   */
  readonly timeoutMs?: number | undefined;
  /** Whether a write that is answered without the record is read back. Always so for a single command. */
  readonly readsBack?: boolean | undefined;
}

/** What became of a row. */
export interface Settled {
  /** Undefined if the row is left as it was: the work was stopped, or the row must be planned again. */
  readonly outcome?: Outcome | undefined;
  /** Why a row that adds must be planned again: the count is another than the plan read. */
  readonly deferred?: string | undefined;
  /** What the row was written as, if it was. */
  readonly planned?: Planned | undefined;
  /** The record as the service last showed it, and before the write. */
  readonly record?: JsonObject | undefined;
  readonly before?: JsonObject | undefined;
  /** The error of the last attempt or reading, if that is why the row is not as it should be. */
  readonly error?: CliError | undefined;
  /** The last attempt. Undefined if nothing was sent. */
  readonly attempted?: Attempted | undefined;
  /** The number of further attempts. */
  readonly retries: number;
  /** Whether the service has been seen to store exactly what was sent. */
  readonly isExact: boolean;
  /** The count that the service showed, if that is what was before plus what was sent: it adds what it is told to set. */
  readonly addedUp?: Value | undefined;
}

/** How often a row is decided again after a 412 with another tag. */
const maxTags = 3;

/**
 * Writes one row, in as many attempts as are safe and may help, until it has an outcome. The verbs and the runs write records with no other loop.
 *
 * @param known a reading that need not be made again before the first attempt, because the row sets without a condition.
 */
export function settle(port: RecordPort, row: Row, limits: RowLimits, known?: Reading): Promise<Settled> {
  return new Settlement(port, row, limits, known).run();
}

/** Whether a row is read right before each of its attempts. */
export function readsBeforeWrite(port: RecordPort, { intent }: Row, { isUndo }: Rules): boolean {
  if (intent.kind === 'create') return false;
  return isUndo || port.readsFirst || intent.kind !== 'set' || intent.expected !== undefined;
}

class Settlement {
  private readonly port: RecordPort;
  private readonly row: Row;
  private readonly limits: RowLimits;
  /** Whether it is a write of a single command, without a journal. */
  private readonly isSingle: boolean;
  private readonly startedMs = monotonicMs();
  private state: RowState;
  private reading: Reading | undefined;
  private before: JsonObject | undefined;
  private last: Attempted | undefined;
  private readonly requests: Attempt[] = [];
  private attempts = 0;
  private tags = 0;
  /** Whether the record is read before the next step. */
  private needsReading: boolean;
  /** Whether no further attempt may follow. */
  private isOver = false;
  /** Whether a condition was refused (409 or 412) and no reading has followed: a gateway may have sent the write twice. */
  private isRefusalUncertain = false;

  constructor(port: RecordPort, row: Row, limits: RowLimits, known: Reading | undefined) {
    this.port = port;
    this.row = row;
    this.limits = limits;
    this.isSingle = limits.timeoutMs !== undefined;
    this.state = stateBefore(row);
    this.reading = known;
    this.before = known?.record;
    // Without a way to read one record, the list that was read for the plan is the reading.
    const canRead = port.canGet || this.isSingle;
    this.needsReading =
      canRead && (this.state.at === 'uncertain' || readsBeforeWrite(port, row, limits.rules));
  }

  async run(): Promise<Settled> {
    for (;;) {
      const settled = this.needsReading ? await this.readAndDecide() : this.planUnread();
      if (settled) return settled;
      const end = await this.attempt();
      if (end) return end;
    }
  }

  /** Plans a row that is written without a look at its record. */
  private planUnread(): Settled | undefined {
    const { port, row, limits, state, reading } = this;
    if (state.at !== 'new') return undefined;
    const before = reading ? port.valueOf(row, reading.record) : null;
    const { intent } = row;
    const isSet = intent.kind === 'set';
    const decision = isSet
      ? ({ state: 'write', action: 'set', after: intent.value } as const)
      : decide(row, null, limits.rules);
    if (decision.state !== 'write') return this.end(decision);
    this.state = { at: 'planned', before, ...actionOf(decision) };
    return undefined;
  }

  /** The part of the deadline that is over. Undefined if each request has the time of the client. */
  private spentMs(): number | undefined {
    return this.isSingle ? monotonicMs() - this.startedMs : undefined;
  }

  private fitsDeadline(delayMs: number): boolean {
    const { timeoutMs } = this.limits;
    return timeoutMs === undefined || monotonicMs() + delayMs < this.startedMs + timeoutMs;
  }

  /** The row with the state that this settlement has given it. */
  private current(): Row {
    return { ...this.row, state: this.state };
  }

  /** Reads the record and decides the row. Undefined if a write comes next. */
  private async readAndDecide(): Promise<Settled | undefined> {
    const { port, limits, last } = this;
    const refusedTag = this.reading?.etag;
    let reading: Reading;
    try {
      reading = await this.read();
    } catch (error) {
      return this.endUnread(error);
    }
    const now = port.valueOf(this.current(), reading.record);
    if (this.before === undefined) this.before = reading.record;
    const addedUp = this.addsUp(now);
    if (addedUp) return addedUp;
    const isSameTag = last?.status === 412 && refusedTag !== undefined && reading.etag === refusedTag;
    if (this.isRefusalUncertain || isSameTag) this.judgeRefusal(now, isSameTag);
    this.isRefusalUncertain = false;
    this.reading = reading;
    if (isSameTag) return this.endStale('unknown');
    const decision = decide(this.current(), now, limits.rules);
    if (decision.state !== 'write') return this.endProved(decision, reading);
    if (this.isOver) return this.giveUp();
    if (last?.status === 412 && this.tags > maxTags) return this.endStale('failed');
    return this.planAgain(decision, now);
  }

  /** Marks the row uncertain if the reading after a refused condition leaves it in doubt. */
  private judgeRefusal(now: Value, isSameTag: boolean): void {
    const planned = plannedOf({ state: this.state });
    if (this.state.at !== 'planned' || !planned) return;
    const { intent } = this.row;
    const expects = intent.kind === 'set' && intent.expected !== undefined;
    const isUncertain = isSame(planned.after, now) || (expects && !isSame(planned.before, now));
    if (isSameTag || isUncertain) this.state = { ...this.state, at: 'uncertain', mayBeApplied: false };
  }

  /** Keeps what is to be written. Ends a row of a run that would add another sum than the journal has. */
  private planAgain(decision: Extract<Decision, { state: 'write' }>, now: Value): Settled | undefined {
    const { state, row, isSingle } = this;
    if (state.at === 'uncertain') return undefined;
    const isPlanned = state.at === 'planned';
    if (isPlanned && !isSingle && row.intent.kind === 'add') {
      const isAsPlanned = state.action === decision.action && isSame(state.after, decision.after);
      if (!isAsPlanned)
        return this.settled({
          deferred: `it is ${describeValue(now)} now, and was ${describeValue(state.before)} in the plan`,
        });
    }
    this.state = {
      at: 'planned',
      before: isPlanned && !isSingle ? state.before : now,
      ...actionOf(decision),
    };
    return undefined;
  }

  /** Sends one attempt and judges it. Undefined if the loop goes on. */
  private async attempt(): Promise<Settled | undefined> {
    const { port, limits } = this;
    const planned = plannedOf({ state: this.state });
    if (!planned) throw new Error('a row is written that was not planned');
    let attempted: Attempted;
    try {
      const write = await port.write(this.current(), planned, this.reading, this.spentMs());
      attempted = await port.send(write, this.spentMs());
    } catch (error) {
      return this.endUnread(error);
    }
    this.attempts += 1;
    // A request that was never sent says nothing of those before it.
    if (attempted.attempt || !this.last) this.last = attempted;
    if (attempted.attempt) this.requests.push(attempted.attempt);
    const { result, error, record } = attempted;
    const isUncertain = result === 'uncertain' || result === 'unclear' || result === 'accepted';
    if (isUncertain) this.state = { ...planned, at: 'uncertain', mayBeApplied: true };
    const addedUp = record && this.addsUp(port.valueOf(this.current(), record));
    if (addedUp) return addedUp;
    if (result === 'shown') return this.endShown(attempted, planned);
    if (result === 'accepted') return this.endUnknown();
    if (result === 'unclear') return this.readBack(attempted, planned);
    if (error instanceof StoppedError || error instanceof InterruptedError) return this.endStopped(error);
    this.isRefusalUncertain = limits.hasGateway && (attempted.status === 409 || attempted.status === 412);
    const isGone = attempted.status === 404 || attempted.status === 410;
    if (planned.action === 'remove' && this.state.at === 'uncertain' && result === 'refused' && isGone)
      return this.settled({ outcome: { state: 'applied', reason: { ...goneReason, ...this.facts() } } });
    const isCreate = this.row.intent.kind === 'create';
    if (attempted.status === 412 && !isCreate) {
      this.tags += 1;
      this.needsReading = true;
      return this.pause(retryDelay(this.tags, attempted.attempt?.retryAfterMs));
    }
    const delayMs = this.delayBeforeNext();
    if (delayMs !== undefined) {
      this.needsReading ||= attempted.status === 409;
      return this.pause(delayMs);
    }
    if (isCreate) return this.endCreate();
    if (this.state.at !== 'uncertain' && attempted.status !== 409) return this.giveUp();
    if (limits.stop.reason) return this.endStopped(undefined);
    if (!this.fitsDeadline(0)) return this.giveUp();
    this.needsReading = true;
    this.isOver = true;
    const retryAfterMs = attempted.attempt?.retryAfterMs ?? 0;
    // A Retry-After that does not fit the deadline is not waited for: the reading is refused, or tells what it can.
    return this.fitsDeadline(retryAfterMs) ? this.pause(retryAfterMs) : undefined;
  }

  /** The delay before a further attempt. Undefined if there is none. */
  private delayBeforeNext(): number | undefined {
    const { last, limits, attempts } = this;
    const { attempt } = last ?? {};
    if (!attempt || attempts > limits.retries || limits.stop.reason) return undefined;
    const { retriesUnreachable } = limits;
    if (!isSentAgain(attempt.request.method, attempt, retriesUnreachable)) return undefined;
    const delayMs = retryDelay(attempts, attempt.retryAfterMs);
    return this.fitsDeadline(delayMs) ? delayMs : undefined;
  }

  /** Waits. Ends the row if the work is stopped meanwhile. */
  private async pause(delayMs: number): Promise<Settled | undefined> {
    const { stop } = this.limits;
    if (delayMs > 0 && !stop.reason) await sleep(delayMs, stop.stopped).catch(() => {});
    return stop.reason ? this.endStopped(undefined) : undefined;
  }

  private read(): Promise<Reading> {
    const { port, row, isSingle } = this;
    if (row.id === undefined || (!port.canGet && !isSingle))
      throw new CliError('unavailable', 'the service offers no way to read one record', { code: 'unbound' });
    return port.read(row.id, this.spentMs());
  }

  /** Ends a row whose answer shows the write, or has no body. */
  private async endShown(attempted: Attempted, planned: Planned): Promise<Settled> {
    const { limits, port, isSingle } = this;
    const { record, id } = attempted;
    const endApplied = (shown = record, isExact = true): Settled => {
      const made = planned.action === 'create' ? this.madeRecord(planned, attempted, shown) : undefined;
      return this.settled({ outcome: made ? { state: 'applied', made } : applied, record: shown, isExact });
    };
    if (record || planned.action === 'remove') return endApplied();
    const isCreate = planned.action === 'create' && this.row.id === undefined;
    const before = planned.before;
    const isTelling = isSingle || !isSame(before, 0);
    const readId = isCreate ? id : this.row.id;
    const canRead = isSingle ? port.canRead : port.canGet;
    const isWanted = isSingle || limits.readsBack || isCreate;
    if (readId === undefined || !isWanted || !isTelling || !canRead) return endApplied(record, false);
    let reading: Reading;
    try {
      reading = await port.read(readId, this.spentMs());
    } catch (error) {
      return isSingle && !isCreate ? this.endUnconfirmed(planned, error) : endApplied(record, false);
    }
    const now = port.valueOf(this.current(), reading.record);
    if (isSame(port.shownPart(planned.after), now)) return endApplied(reading.record);
    const addedUp = this.addsUp(now);
    if (addedUp) return addedUp;
    return isSingle || isCreate ? this.endUnconfirmed(planned, undefined, now) : endApplied(record, false);
  }

  /** Reads the record of a success that does not show the write, once. */
  private async readBack(attempted: Attempted, planned: Planned): Promise<Settled> {
    const { port } = this;
    const id = this.row.id ?? attempted.id;
    if (id === undefined) return this.endUnknown();
    let reading: Reading;
    try {
      reading = await port.read(id, this.spentMs());
    } catch (error) {
      return this.endUnconfirmed(planned, error);
    }
    const now = port.valueOf(this.current(), reading.record);
    const addedUp = this.addsUp(now);
    if (addedUp) return addedUp;
    if (!isSame(port.shownPart(planned.after), now)) return this.endUnconfirmed(planned, undefined, now);
    const made =
      planned.action === 'create'
        ? this.madeRecord(planned, { ...attempted, id }, reading.record)
        : undefined;
    return this.settled({ outcome: { state: 'applied', made }, record: reading.record, isExact: true });
  }

  private madeRecord(
    planned: Planned,
    { id, etag }: Attempted,
    shown: JsonObject | undefined,
  ): Outcome['made'] {
    const { row, port } = this;
    const madeId = row.id ?? (shown ? port.idOf(shown) : id);
    const value = shown && row.intent.kind === 'create' ? shown : planned.after;
    return { id: madeId, value, etag };
  }

  /** Ends a success that the record does not confirm. */
  private endUnconfirmed(planned: Planned, error: unknown, now?: Value): Settled {
    this.state = { ...planned, at: 'uncertain', mayBeApplied: true };
    if (error !== undefined && !(error instanceof CliError || error instanceof StoppedError)) throw error;
    const { status, why } = this.last ?? {};
    const clauses = [
      why ?? `the service answered ${status}`,
      error ? `the record could not be read afterwards: ${messageOfReading(error)}` : undefined,
      now === undefined
        ? undefined
        : `${describeValue(planned.after)} was sent, and it is ${describeValue(now)} now`,
    ];
    return this.endUnknown(
      clauses.filter((clause) => clause !== undefined).join('; '),
      error ? 'unread' : 'other_value',
    );
  }

  /** Ends the row if the service has added what it was told to set. */
  private addsUp(now: Value): Settled | undefined {
    const planned = plannedOf({ state: this.state });
    // After a certain refusal the count shows what others have done.
    if (!this.last || this.last.result === 'refused' || planned?.action !== 'set') return undefined;
    const { before, after } = planned;
    if (typeof before !== 'number' || typeof after !== 'number' || before === 0 || after === 0)
      return undefined;
    if (now === null || typeof now === 'object' || BigInt(now) !== BigInt(before) + BigInt(after))
      return undefined;
    this.state = { ...planned, at: 'uncertain', mayBeApplied: true };
    const message = `it was ${before} before, ${after} was sent, and it is ${now} now: the service adds what it is told to set`;
    return { ...this.endUnknown(message, 'other_count'), addedUp: now };
  }

  /** Ends a row by a decision. A reading that is not certain is proved first. */
  private async endProved(decision: Outcome, reading: Reading): Promise<Settled | undefined> {
    const { port, limits, last } = this;
    const row = this.current();
    const isAnswered = last?.result === 'shown' || last?.result === 'unclear';
    const needsProof =
      (decision.state === 'applied' && this.state.at === 'uncertain' && !isAnswered) ||
      (decision.state === 'unchanged' && limits.rules.isUndo);
    const proof = needsProof ? await prove(port, row, reading, this.spentMs()) : 'proved';
    const isGone =
      decision.state === 'applied' && this.state.at === 'uncertain' && this.state.action === 'remove';
    if (proof === 'proved')
      return isGone ? this.end({ ...decision, reason: goneReason }) : this.end(decision, reading.record);
    if (proof === 'removed') return this.end({ state: 'applied' });
    if (proof === 'refused') {
      this.tags += 1;
      if (this.tags > maxTags) return this.endStale('unknown');
      let next: Reading;
      try {
        next = await this.read();
      } catch (error) {
        return this.endUnread(error);
      }
      if (next.etag === reading.etag && next.record) return this.endStale('unknown');
      const nextDecision = decide(row, port.valueOf(row, next.record), limits.rules);
      this.reading = next;
      if (nextDecision.state === 'write') return this.planAgain(nextDecision, port.valueOf(row, next.record));
      return this.endProved(nextDecision, next);
    }
    const { error, why } = proof;
    if (error instanceof StoppedError || error instanceof InterruptedError) return this.endStopped(error);
    return this.endUnknown(`a reading shows it, and the proof failed: ${why}`, 'unproved', error);
  }

  private end(outcome: Outcome, record?: JsonObject): Settled {
    const facts = this.last && outcome.reason ? { reason: { ...outcome.reason, ...this.facts() } } : {};
    return this.settled({ outcome: { ...outcome, ...facts }, record });
  }

  /** Ends a row whose tag was refused although its reading gives it. */
  private endStale(state: 'unknown' | 'failed'): Settled {
    const message =
      'the service refuses the tag that its readings give: a cache or a replica may stand between';
    const isUncertain = this.state.at === 'uncertain';
    if (state === 'failed' && !isUncertain)
      return this.settled({
        outcome: { state, reason: { code: 'stale', message, passes: true, ...this.facts() } },
      });
    return this.endUnknown(message, 'stale');
  }

  /** Ends a create whose answer leaves open whether the record was made. */
  private endCreate(): Settled {
    const decision = decide(this.current(), null, this.limits.rules);
    const { why } = this.last ?? {};
    if (decision.state === 'write') return this.giveUp();
    const message = [why, decision.reason?.message].filter((clause) => clause !== undefined).join('; ');
    return this.endUnknown(message, decision.reason?.code ?? 'perhaps_made');
  }

  /** Ends a row that has no reading: a certain one failed for a reason that passes, an uncertain one is unknown. */
  private endUnread(error: unknown): Settled {
    if (!(error instanceof CliError || error instanceof StoppedError)) throw error;
    if (error instanceof StoppedError || error instanceof InterruptedError) return this.endStopped(error);
    const { last } = this;
    this.markUncertain();
    if (this.state.at === 'uncertain') {
      const clauses = [
        last?.why,
        `the record could not be read${last ? ' afterwards' : ''}: ${error.message}`,
      ];
      return this.endUnknown(clauses.filter((clause) => clause !== undefined).join('; '), 'unread', error);
    }
    const state = 'failed';
    return this.settled({ outcome: { state, reason: this.reasonOf(error) }, error });
  }

  /** A row whose refused condition no reading has followed is uncertain. */
  private markUncertain(): void {
    if (this.isRefusalUncertain && this.state.at === 'planned' && this.row.intent.kind !== 'create')
      this.state = { ...this.state, at: 'uncertain', mayBeApplied: false };
  }

  /** Ends a row that must not be sent again: a certain one has failed, an uncertain one is unknown. */
  private giveUp(): Settled {
    const { last, limits } = this;
    this.markUncertain();
    if (this.state.at === 'uncertain') return this.endUnknown();
    const { status, error, why } = last ?? {};
    // A row that waits after a certain refusal is left for the next session.
    if (limits.stop.reason && (status === 429 || error instanceof StoppedError))
      return this.endStopped(undefined);
    if (error instanceof CliError)
      return this.settled({
        outcome: { state: 'failed', reason: this.reasonOf(error) },
        error: this.withoutTime(error),
      });
    return this.settled({
      outcome: { state: 'failed', reason: { code: 'refused', message: why ?? 'it was refused' } },
    });
  }

  /** Says in the error of a single command why there was no further attempt although the status allows one. */
  private withoutTime(error: CliError): CliError {
    const { limits, attempts, last } = this;
    const retryAfterMs = last?.attempt?.retryAfterMs;
    if (attempts > limits.retries || retryAfterMs === undefined || this.fitsDeadline(retryAfterMs))
      return error;
    return error.with({
      addition: `the service asks to wait ${secondsText(retryAfterMs)}, longer than --timeout leaves`,
    });
  }

  private endStopped(error: CliError | StoppedError | undefined): Settled {
    const interruption = error instanceof CliError ? error : undefined;
    this.markUncertain();
    if (this.state.at !== 'uncertain') return this.settled({ error: interruption });
    return this.endUnknown(
      this.last?.why ?? 'it was stopped before an answer came',
      'interrupted',
      interruption,
    );
  }

  private endUnknown(
    message = this.last?.why ?? 'no answer',
    code = this.last?.code ?? 'unread',
    error?: CliError,
  ): Settled {
    const { state, last } = this;
    // A certain row whose reading could not be proved is as certain as before.
    const mayBeApplied = state.at === 'uncertain' ? state.mayBeApplied : undefined;
    const lastError = last?.error instanceof CliError ? last.error : undefined;
    const reason: Reason = { code, message, ...this.facts() };
    const cause = error instanceof InterruptedError ? error : (lastError ?? error);
    return this.settled({ outcome: { state: 'unknown', reason, mayBeApplied }, error: cause });
  }

  private reasonOf(error: CliError): Reason {
    const { status, requestId } = error.details;
    const attempts = this.attempts > 0 ? { attempts: this.attempts } : {};
    return {
      code: errorCodeOf(error),
      message: error.message,
      status,
      requestId,
      ...attempts,
      passes: mayPass(error),
    };
  }

  private facts(): Pick<Reason, 'status' | 'requestId' | 'attempts'> {
    const { last, attempts } = this;
    return last ? { status: last.status, requestId: last.requestId, attempts } : {};
  }

  private settled(result: Omit<Settled, 'retries' | 'isExact'> & { readonly isExact?: boolean }): Settled {
    const { attempts, last, before, reading } = this;
    const error = result.error ?? (result.outcome?.state === 'failed' ? reading?.missing : undefined);
    return {
      isExact: false,
      before,
      planned: plannedOf({ state: this.state }),
      attempted: last,
      retries: Math.max(0, attempts - 1),
      ...result,
      error: error && this.withAttempts(error),
    };
  }

  /** Tells in an error how often the write was sent. */
  private withAttempts(error: CliError): CliError {
    const { requests } = this;
    if (requests.length < 2 || error instanceof InterruptedError) return error;
    return error.with({ attempts: requests }, `${error.message}; after ${requests.length} attempts`);
  }
}

const goneReason = { code: 'gone', message: 'the record is gone, because an earlier attempt was applied' };

/** The state from which a row goes on: an unknown row that may have been written is uncertain. */
function stateBefore(row: Row): RowState {
  const uncertain = uncertaintyOf(row);
  if (uncertain) return { ...uncertain, at: 'uncertain' };
  return row.state.at === 'settled' ? newState : row.state;
}

function actionOf({
  action,
  after,
}: Extract<Decision, { state: 'write' }>): Pick<Planned, 'action' | 'after'> {
  return { action, after };
}

function messageOfReading(error: CliError | StoppedError): string {
  return error instanceof StoppedError ? 'the work was stopped' : error.message;
}

/** The statuses of refusals that may pass, or that end when the cause of the stop is removed. */
const passingStatuses: ReadonlySet<number> = new Set([401, 403, 408, 412, 425, 429]);

/** Whether the same row may succeed later without a change to it. */
function mayPass(error: CliError): boolean {
  const { status } = error.details;
  if (status === undefined) return error.kind !== 'usage';
  if (status === 501 || status === 505) return false;
  return passingStatuses.has(status) || status < 400 || status >= 500 || error.kind === 'unavailable';
}
