import type { InventoryItem, PetStatus } from '../api/schemas.ts';
import type { Answer } from '../client/client.ts';
import { monotonicMs } from '../process/deadline.ts';
import { ApiError, CliError, UnavailableError, type UnavailableReason } from '../process/errors.ts';
import { StoppedError } from '../process/signals.ts';
import { isCountMissing, readEntry } from './counts.ts';
import { changedSince, countNow } from './make-plan.ts';
import type { Count } from './number-lists.ts';
import { eachAtPace, PacedCall } from './pace.ts';
import { marks, type Reason, type RowOutcome } from './rows.ts';
import type { Run } from './run.ts';

/** How long requests in flight may continue after a run has stopped. */
export const graceMs = 10_000;
const maxTransportFailures = 20;

/**
 * Writes the rows of a plan, as many at a time as the pace allows, until all are settled or the run stops; then no
 * request is in flight.
 */
export async function writeRows(run: Run): Promise<void> {
  const { rows, stop } = run;
  const writer = new RowWriter(run);
  const started = monotonicMs();
  let grace: NodeJS.Timeout | undefined;
  stop.stopped.addEventListener('abort', () => {
    grace = setTimeout(() => stop.abandon(), graceMs);
  });
  function* untilStopped(): Generator<number> {
    for (const row of rows.inState('unprocessed')) {
      if (stop.reason) return;
      yield row;
    }
  }
  try {
    await eachAtPace(run.pace, untilStopped(), async (row) => {
      const outcome = await writer.write(row);
      if (!outcome) return;
      run.settle(row, outcome);
      run.countWritten(row);
    });
  } finally {
    clearTimeout(grace);
    run.writingMs = monotonicMs() - started;
  }
}

/** Ends a call: the reading before a further attempt has settled the row; undefined as in `RowWriter.write`. */
class SettledError extends Error {
  readonly outcome: RowOutcome | undefined;

  constructor(outcome: RowOutcome | undefined) {
    super('settled');
    this.outcome = outcome;
  }
}

/** Writes single rows, and stops the run if every further one would fail too. */
class RowWriter {
  private readonly run: Run;
  private transportFailures = 0;

  constructor(run: Run) {
    this.run = run;
  }

  /** Writes one row and returns its outcome; undefined if the run stopped before anything was sent. */
  async write(row: number): Promise<RowOutcome | undefined> {
    const { run } = this;
    const { rows, header } = run;
    const canRead = run.client.contract.operations.has('getInventory');
    const etag = rows.etags.get(row);
    // The row may only be written if the count is the one that the plan saw.
    const isBound = etag === undefined && (header.flags.relative || rows.expected(row) !== undefined);
    // Without a way to read one count, a further attempt could overwrite what somebody else has written.
    const call = new PacedCall(run.pace, run.stop, isBound && !canRead ? 0 : undefined);
    call.ifMatch = etag;
    try {
      let before: InventoryItem | undefined;
      if (isBound && canRead) {
        before = await this.look(row, call);
        call.checkAgain = () => this.look(row, call);
      }
      return await this.accept(row, await this.send(row, before, call), call);
    } catch (error) {
      if (error instanceof SettledError) return error.outcome;
      if (error instanceof StoppedError) return call.isUncertain ? interrupted(call) : undefined;
      if (!(error instanceof CliError)) throw error;
      return this.fail(row, error, call);
    }
  }

  /** Reads the count right before an attempt. @throws SettledError if it must not be written now. */
  private async look(row: number, call: PacedCall): Promise<InventoryItem | undefined> {
    const { run } = this;
    const { rows } = run;
    const { count, etag, item } = await readEntry(run.client, rows.id(row));
    // A count that others moved away and back has another ETag.
    const isSame = call.ifMatch === undefined || call.ifMatch === etag;
    if (count === rows.before(row) && isSame) {
      call.ifMatch = etag;
      return item;
    }
    throw new SettledError(this.settledBy(row, count, call));
  }

  /** The outcome of a row by a count that is not the one before it. */
  private settledBy(row: number, count: Count, call: PacedCall): RowOutcome {
    const { run } = this;
    const { rows, header } = run;
    const isAfter = count === rows.after(row);
    if (call.mayBeApplied || rows.isMarked(row, marks.perhaps))
      return isAfter ? { effect: 'done' } : { effect: 'maybe', reason: changedSince(run, row, count) };
    const { relative } = header.flags;
    if (isAfter && !relative) return { effect: 'none' };
    const message = `changed since the plan: ${countNow(count)}`;
    // A change can be booked on the new count; a row that expects a count cannot.
    const passes = relative || rows.expected(row) === undefined;
    return { effect: 'none', reason: { code: passes ? 'changed' : 'changed_since', message, passes } };
  }

  /** @param before the entry, if it has just been read. */
  private async send(
    row: number,
    before: InventoryItem | undefined,
    call: PacedCall,
  ): Promise<Answer<unknown>> {
    const { client, rows, header } = this.run;
    const petId = rows.id(row);
    const after = rows.after(row);
    if (after === null) return client.call('deleteInventory', { petId }, call);
    try {
      const body = { quantity: after as number };
      return await client.call('updateInventory', { petId, body, ...(before && { before }) }, call);
    } catch (error) {
      const mayCreate = header.flags.createMissing && client.contract.operations.has('createInventory');
      if (!mayCreate || !isCountMissing(error)) throw error;
      return await this.create(row, after, call);
    }
  }

  private async create(row: number, quantity: number | bigint, call: PacedCall): Promise<Answer<unknown>> {
    const { run } = this;
    const { client, rows, options } = run;
    const petId = rows.id(row);
    const status = await options.readPetStatus(client, petId);
    const body = { petId, quantity: quantity as number, status: status as PetStatus };
    try {
      return await client.call('createInventory', { body }, call);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
      const { count } = await readEntry(client, petId);
      // There is no entry, and none can be created.
      if (count === null) throw error;
      throw new SettledError(this.settledBy(row, count, call));
    }
  }

  /** The outcome of an answer without an error: the row is read back if the answer shows neither value. */
  private async accept(
    row: number,
    { judgement, status }: Answer<unknown>,
    call: PacedCall,
  ): Promise<RowOutcome> {
    const { rows, client } = this.run;
    this.transportFailures = 0;
    const { shows, reason = 'which does not say that it is done' } = judgement ?? { shows: 'asked' };
    if (shows === 'asked') return { effect: 'done' };
    const canRead = shows === 'nothing' && client.contract.operations.has('getInventory');
    const now = canRead ? await readEntry(client, rows.id(row)).catch(() => undefined) : undefined;
    if (now && now.count === rows.after(row)) return { effect: 'done' };
    const message = `the service answered ${status}: ${reason}${uncertainty}`;
    const code = shows === 'other' ? 'other_quantity' : 'not_done';
    return { effect: 'maybe', reason: reasonOf(call, { code, message, status, passes: true }) };
  }

  /** The outcome of a row whose call has failed; stops the run if every remaining row would fail too. */
  private async fail(row: number, error: CliError, call: PacedCall): Promise<RowOutcome | undefined> {
    const { rows, stop } = this.run;
    const { status } = error.details;
    const isRead = error.details.method === 'GET';
    const effect = call.mayBeApplied ? 'maybe' : 'none';
    if (rows.after(row) === null && isCountMissing(error) && !isRead)
      return { effect: effect === 'maybe' || rows.isMarked(row, marks.perhaps) ? 'done' : 'none' };
    if (status === 412 && !isRead) {
      const outcome = await this.overtaken(row, call);
      if (outcome) return outcome;
    }
    this.stopIfFatal(error);
    const message =
      error.message.replace('; the request may or may not have been applied', '') +
      (effect === 'maybe' ? uncertainty : '');
    const passes = effect === 'maybe' || mayPass(error);
    const reason = reasonOf(call, { code: codeOf(error), message, status, passes });
    // The service was busy, and then the run stopped: the row is as if it had not been tried.
    if (stop.reason && effect === 'none' && status !== undefined && busyStatuses.has(status))
      return undefined;
    return { effect, reason };
  }

  /** The outcome of a row whose entry has another ETag than the plan saw; undefined if the count cannot be read. */
  private async overtaken(row: number, call: PacedCall): Promise<RowOutcome | undefined> {
    const { client, rows } = this.run;
    if (!client.contract.operations.has('getInventory')) return undefined;
    const found = await readEntry(client, rows.id(row)).catch(() => undefined);
    const outcome = found && this.settledBy(row, found.count, call);
    if (!outcome?.reason) return outcome;
    // Somebody has changed the entry: a person must look at what is expected, and all others are planned again.
    return { ...outcome, reason: reasonOf(call, { ...outcome.reason, status: 412, passes: true }) };
  }

  /** To be called for each row that did not succeed: stops the run if every remaining row would fail too. */
  private stopIfFatal(error: CliError): void {
    const { stop } = this.run;
    const { message, kind, details } = error;
    const { hint, status } = details;
    const reason = error instanceof UnavailableError ? error.reason : undefined;
    this.transportFailures = reason !== undefined && status === undefined ? this.transportFailures + 1 : 0;
    const fatal = reason && fatalReasons[reason];
    if (fatal) stop.stop({ kind, message: `${fatal}: ${message}`, hint });
    else if (error instanceof ApiError && kind === 'auth') stop.stop({ kind, message, hint });
    else if (this.transportFailures >= maxTransportFailures) {
      const all = `${maxTransportFailures} rows in a row got no answer`;
      stop.stop({ kind: 'unavailable', message: `${all}: ${message}` });
    }
  }
}

/** Failures that every remaining row would hit too. */
const fatalReasons: Partial<Record<UnavailableReason, string>> = {
  tls: 'TLS failed',
  redirect: 'the service redirects writes',
};

/** Refusals that may pass, or that end with the cause of the stop. */
const passingStatuses: ReadonlySet<number> = new Set([401, 403, 412, 429, 503]);
const busyStatuses: ReadonlySet<number> = new Set([429, 503]);

/** Whether the same row may succeed later without a change to it. */
function mayPass(error: CliError): boolean {
  const { status, method } = error.details;
  if (error instanceof UnavailableError || status === undefined) return error.kind !== 'usage';
  if (method === 'GET' && error.kind === 'unavailable') return true;
  return passingStatuses.has(status);
}

function codeOf(error: CliError): string {
  if (error instanceof UnavailableError) return error.reason;
  if (error.kind === 'not-found' && error.details.method === 'GET') return 'no_pet';
  return error.details.code ?? String(error.details.status ?? error.kind);
}

const uncertainty = '; it may or may not have been applied';

function interrupted(call: PacedCall): RowOutcome {
  const message = `the run stopped before the answer came${uncertainty}`;
  return { effect: 'maybe', reason: { code: 'interrupted', message, attempts: call.attempts, passes: true } };
}

/** A reason with what is known of the requests for the row. */
function reasonOf({ attempts, requestId }: PacedCall, reason: Reason): Reason {
  return { ...reason, attempts, requestId };
}
