import type { InventoryItem, PetStatus } from '../api/schemas.ts';
import type { Answer } from '../client/client.ts';
import { ApiError, CliError, UnavailableError, type UnavailableReason } from '../process/errors.ts';
import { isJsonObject, type JsonObject } from '../process/exact-json.ts';
import { StoppedError } from '../process/signals.ts';
import { type Count, isMissing, readCounts, readEntry, readNow } from './counts.ts';
import { eachAtPace } from './pace.ts';
import { PacedCall } from './paced-client.ts';
import { noPet, type Plan, unexpected } from './plan.ts';
import type { Outcome } from './rows.ts';
import type { Session } from './session.ts';

/** How long pending requests may continue after a run has stopped. */
export const graceMs = 10_000;
const mostTransportFailures = 20;

/**
 * Sends the rows of a plan, as many at a time as the pace allows, until all are settled or the run stops; then no
 * request is in flight.
 */
export async function writeRows(plan: Plan): Promise<void> {
  const { session } = plan;
  const { ledger, stop } = session;
  const writer = new RowWriter(plan);
  let grace: NodeJS.Timeout | undefined;
  const stopped = new Promise<void>((resolve) => {
    stop.stopped.addEventListener('abort', () => {
      grace = setTimeout(() => stop.abandon(), graceMs);
      resolve();
    });
  });
  const write = async (row: number) => {
    ledger.starting(row);
    const wait = ledger.events?.ready();
    // A reader that has stalled must not hold a stopped run.
    if (wait) await Promise.race([wait, stopped]);
    const outcome = await writer.write(row);
    if (outcome) {
      session.written += 1;
      ledger.settle(row, outcome);
    }
    session.stopIfTooManyFailed();
  };
  try {
    await eachAtPace(session.pace, untilStopped(session), write);
  } finally {
    clearTimeout(grace);
  }
}

/** The rows to write; none after the run has stopped. */
function* untilStopped({ rows, stop }: Session): Generator<number> {
  for (const row of rows.inState('unprocessed')) {
    if (stop.reason) return;
    yield row;
  }
}

/** Writes single rows, and stops the run if every further one would fail too. */
class RowWriter {
  private readonly plan: Plan;
  private readonly session: Session;
  private transportFailures = 0;

  constructor(plan: Plan) {
    this.plan = plan;
    this.session = plan.session;
  }

  /** Sets one pet's count and returns the outcome; undefined if the run stopped before anything was sent. */
  async write(row: number): Promise<Outcome | undefined> {
    const { session } = this;
    const call = new PacedCall(session, this.plan.etags.get(row));
    try {
      const held = this.heldCount(row);
      const entry = held === undefined ? undefined : await this.readFirst(row, call);
      if (entry && held !== undefined) {
        if (entry.count !== held) return this.changed(row, entry.count, call);
        call.ifMatch = entry.etag;
      }
      call.isWrite = true;
      return this.accept(row, await this.send(row, entry?.item, call), call);
    } catch (error) {
      if (error instanceof StoppedError) return call.isUncertain ? interrupted(call) : undefined;
      if (!(error instanceof CliError)) throw error;
      // An overloaded service refused the write, and then the run stopped: the row is unchanged.
      if (session.stop.reason && !call.isUncertain && isOverload(error)) return undefined;
      const answer = otherAnswer(error);
      return answer ? this.accept(row, answer, call) : this.refuse(row, error, call);
    }
  }

  /** The count that the row must still have if there is no ETag to ensure it: null for no entry, undefined for any. */
  private heldCount(row: number): number | null | undefined {
    const { rows, flags } = this.session;
    if (this.plan.etags.has(row)) return undefined;
    // Creating an entry cannot overwrite one.
    return flags.relative ? (rows.before(row) ?? undefined) : rows.expected(row);
  }

  /** The entry right before it is overwritten; undefined if the service cannot tell: then the plan's count is used. */
  private async readFirst(row: number, call: PacedCall) {
    const { client, rows } = this.session;
    if (!client.contract.operations.has('getInventory')) return undefined;
    return readEntry(client, rows.id(row), call);
  }

  /** The outcome of a row whose count is not the one that it must still have. */
  private changed(row: number, count: Count, call: PacedCall): Outcome {
    const { rows, flags } = this.session;
    if (count === rows.quantity(row) && (!flags.relative || rows.wasSent(row)))
      return this.asWanted(row, call);
    return unexpected(this.session, row, count);
  }

  /** The outcome of a row that is as wanted although this session got no answer for it. */
  private asWanted(row: number, { mayBeApplied }: PacedCall): Outcome {
    return { state: mayBeApplied || this.session.rows.wasSent(row) ? 'applied' : 'unchanged' };
  }

  private async send(row: number, before: InventoryItem | undefined, call: PacedCall) {
    const { client, rows, flags } = this.session;
    const petId = rows.id(row);
    const quantity = rows.quantity(row);
    if (quantity === null) return client.call('deleteInventory', { petId }, call);
    const mayCreate = flags.createMissing && (flags.blind || rows.before(row) === null);
    const canCreate = mayCreate && client.contract.operations.has('createInventory');
    // Creating, unlike setting, never overwrites an entry.
    if (canCreate && !flags.blind && (rows.expected(row) === null || flags.relative))
      return this.create(row, quantity, call);
    try {
      return await client.call(
        'updateInventory',
        { petId, body: { quantity }, ...(before && { before }) },
        call,
      );
    } catch (error) {
      if (!canCreate || !isMissing(error)) throw error;
      return await this.create(row, quantity, call);
    }
  }

  private async create(row: number, quantity: number, call: PacedCall) {
    const { session } = this;
    const petId = session.rows.id(row);
    const status = session.petStatuses.get(petId) ?? (await session.readPetStatus(petId));
    return session.client.call(
      'createInventory',
      { body: { petId, quantity, status: status as PetStatus } },
      call,
    );
  }

  /**
   * The outcome of a success. Its body, if it has one, must name the pet and the quantity that were sent; the body of an
   * error is not a success.
   */
  private accept(row: number, { value, status, attempts }: Accepted, call: PacedCall): Outcome {
    const { rows } = this.session;
    this.transportFailures = 0;
    const { petId, quantity, code, message } = isJsonObject(value) ? value : nothing;
    const wanted = rows.quantity(row);
    const isError = quantity === undefined && code !== undefined && message !== undefined;
    const isAboutThis = petId === undefined || petId === null || String(petId) === String(rows.id(row));
    const isAsSent =
      wanted === null || quantity === undefined || quantity === null || Number(quantity) === wanted;
    if (!isError && isAboutThis && isAsSent) return { state: 'applied', status, attempts };
    const about = { status, attempts, requestId: call.requestId };
    if (isError) {
      const told = `answered ${status} with the body of an error: ${String(message)}${maybeApplied}`;
      return { ...about, state: 'unknown', code: String(code), message: told };
    }
    if (!isAboutThis) {
      const told = `the service answered about pet ${String(petId)}${maybeApplied}`;
      return { ...about, state: 'unknown', code: 'other_pet', message: told };
    }
    const told = `the service answered the quantity ${String(quantity)}, not ${wanted}`;
    // An attempt before this one may still be applied.
    if (call.mayBeApplied || rows.wasSent(row))
      return { ...about, state: 'unknown', code: 'other_quantity', message: told };
    return { ...about, state: 'failed', code: 'other_quantity', message: told, isFinal: true };
  }

  /** The outcome of a row whose call has failed; stops the run if every remaining row would fail too. */
  private async refuse(row: number, error: CliError, call: PacedCall): Promise<Outcome> {
    const { status, attempts } = error.details;
    const { requestId } = call;
    if (this.session.rows.quantity(row) === null && isMissing(error))
      return { ...this.asWanted(row, call), status, attempts };
    if (error instanceof ApiError && error.status === 412) return this.overtaken(row, error, call);
    this.stopIfFatal(error);
    if (error.kind === 'not-found' && error.details.method === 'GET')
      return { ...noPet, attempts, requestId };
    const named = error.details.code ?? (status === undefined ? error.kind : undefined);
    const state = call.mayBeApplied || isInvalidAnswer(error) ? 'unknown' : 'failed';
    return {
      state,
      status,
      attempts,
      requestId,
      code: error instanceof UnavailableError ? error.reason : named,
      message: reasonOf(error, state),
      isUnavailable: error.kind === 'unavailable',
    };
  }

  /** The outcome of a row whose entry has changed since its ETag was read. */
  private async overtaken(row: number, error: ApiError, call: PacedCall): Promise<Outcome> {
    const { session } = this;
    const { rows } = session;
    const { status, attempts } = error.details;
    const found = await readNow(session, rows.id(row));
    const mayBeOurs = call.mayBeApplied || rows.wasSent(row);
    // Somebody else set the same count, or the answer to an earlier attempt of this run was lost.
    if (found === rows.quantity(row) && (mayBeOurs || !session.flags.relative))
      return { ...this.asWanted(row, call), status };
    this.stopIfFatal(error);
    return {
      state: call.mayBeApplied ? 'unknown' : 'failed',
      status,
      code: 'changed',
      attempts,
      requestId: call.requestId,
      message: `the entry has changed since the plan${describeNow(found)}`,
    };
  }

  /** To be called for each row that did not succeed: stops the run if every remaining row would fail too. */
  private stopIfFatal(error: CliError): void {
    const { stop } = this.session;
    const { message, kind, details } = error;
    const { hint, status } = details;
    const reason = error instanceof UnavailableError ? error.reason : undefined;
    this.transportFailures = reason !== undefined && status === undefined ? this.transportFailures + 1 : 0;
    const fatal = reason && fatalReasons[reason];
    if (fatal) stop.stop({ kind, message: `${fatal}: ${message}`, hint });
    else if (error instanceof ApiError && kind === 'auth') stop.stop({ kind, message, hint });
    else if (this.transportFailures >= mostTransportFailures) {
      const all = `${mostTransportFailures} rows in a row got no answer`;
      stop.stop({ kind: 'unavailable', message: `${all}: ${message}` });
    }
  }
}

/** Failures that every remaining row would hit too. */
const fatalReasons: Partial<Record<UnavailableReason, string>> = {
  tls: 'TLS failed',
  redirect: 'the service redirects writes',
};

const maybeApplied = '; it may or may not have been applied';
const nothing: JsonObject = {};

/** A 2xx, with its body. */
type Accepted = Pick<Answer<unknown>, 'value' | 'status' | 'attempts'>;

/** A 2xx to a write whose JSON body has another shape, because a service need not answer with the entry. */
function otherAnswer(error: CliError): Accepted | undefined {
  if (!(error instanceof UnavailableError) || error.answer === undefined) return undefined;
  const { answer, details } = error;
  if (details.method === 'GET') return undefined;
  if (isJsonObject(answer) && answer.quantity !== undefined && typeof answer.quantity !== 'number')
    return undefined;
  return { value: answer, status: details.status ?? 200, attempts: details.attempts ?? 1 };
}

function interrupted({ attempts }: PacedCall): Outcome {
  const message = `the run stopped before the answer came${maybeApplied}`;
  return { state: 'unknown', code: 'interrupted', message, attempts };
}

function isOverload(error: CliError): boolean {
  return error instanceof ApiError && (error.status === 429 || error.status === 503);
}

/** True for a write whose success answer cannot be read. */
function isInvalidAnswer(error: CliError): boolean {
  return (
    error instanceof UnavailableError && error.reason === 'invalid-response' && error.details.method !== 'GET'
  );
}

/** A clause with the count that was found. */
function describeNow(count: Count | undefined): string {
  if (count === undefined) return '';
  return count === null ? ': it is gone' : `: its quantity is ${count} now`;
}

const uncertainty = '; the request may or may not have been applied';

/** The message without the parts that all rows share: the operation, the method and the URL. */
function reasonOf({ message, details: { method, url } }: CliError, state: 'failed' | 'unknown'): string {
  const request = `${method} ${url}: `;
  const at = message.indexOf(request);
  const reason = (at === -1 ? message : message.slice(at + request.length)).replace(uncertainty, '');
  return state === 'failed' ? reason : reason + uncertainty;
}

/**
 * Reads back every row that is applied, unchanged or unknown, and corrects those that are not as the file says. An
 * unknown row that does not read back as wanted stays unknown: its write may still be applied.
 */
export async function verifyRows(session: Session): Promise<void> {
  const { rows, ledger, flags } = session;
  let looked = 0;
  const isWanted = (row: number) =>
    ['applied', 'unchanged', 'unknown'].includes(rows.state(row)) &&
    // A delivery booked by an earlier session stays booked: some of it may have been sold since.
    !(flags.relative && rows.earlierState(row) === 'applied');
  await readCounts(session, isWanted, (row, count) => {
    looked += 1;
    const isUnknown = rows.isState(row, 'unknown');
    if (count === rows.quantity(row)) {
      if (isUnknown) ledger.settle(row, { state: 'applied' });
    } else if (!isUnknown)
      ledger.settle(row, {
        state: 'failed',
        code: 'not_as_written',
        message: `read back ${count ?? 'no entry'}, not ${rows.quantity(row) ?? 'no entry'}`,
        isFinal: rows.isState(row, 'applied'),
      });
  });
  session.verified = looked;
}
