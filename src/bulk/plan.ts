import { ApiError, CliError, UsageError } from '../process/errors.ts';
import { ahead, type Count, isCut, readCounts, readEach } from './counts.ts';
import type { Outcome, Rows } from './rows.ts';
import { type Guards, type RowLimit, toRows } from './run-flags.ts';
import type { Session } from './session.ts';

/** The plan of one session of a run. */
export interface Plan {
  readonly session: Session;
  /** Rows that the run considers: neither invalid nor skipped. */
  readonly considered: number;
  /** Rows whose count would change; in a blind run all remaining rows. */
  readonly changes: number;
  /** Rows whose count is already as wanted. */
  readonly unchanged: number;
  /** Rows that earlier sessions have written, or may have written, and that are not written again. */
  readonly written: number;
  readonly raised: ChangeTotal;
  readonly lowered: ChangeTotal;
  /** Changes to a count of 0, including those of earlier sessions. */
  readonly toZero: number;
  /** Entries that would be created. */
  readonly created: number;
  /** Entries that would be removed. */
  readonly removed: number;
  /** The row with the largest change, up or down, and its size. */
  readonly largest: { readonly row: number; readonly delta: number } | undefined;
  /** ETags by row, if the service sends them. */
  readonly etags: ReadonlyMap<number, string>;
}

interface ChangeTotal {
  readonly rows: number;
  /** Sum of the differences, as absolute value. */
  readonly units: bigint;
}

/** Whether there are rows to write, and the run has not stopped. */
export function mayWrite({ changes, session }: Plan): boolean {
  return changes > 0 && !session.stop.reason;
}

/**
 * Reads the current counts of the unprocessed rows, and settles those that need no write or cannot be written. The rows
 * that stay unprocessed must be written.
 *
 * @throws StoppedError if the run has stopped; UsageError, ApiError or UnavailableError if a count could not be read:
 *   there is no partial plan.
 */
export async function makePlan(session: Session): Promise<Plan> {
  const { rows, ledger, flags } = session;
  const etags = new Map<number, string>();
  if (flags.blind) return sumUp(session, etags);
  const missing: number[] = [];
  const isWanted = (row: number) => rows.isState(row, 'unprocessed');
  await readCounts(session, isWanted, (row, count, etag) => {
    const outcome = planRow(session, row, count);
    if (outcome) return ledger.settle(row, outcome);
    rows.setBefore(row, count === null ? null : Number(count));
    if (etag !== undefined) etags.set(row, etag);
    if (count === null) missing.push(row);
  });
  const isKnown = await findPets(session, missing);
  for (const row of missing) {
    if (isKnown && !session.petStatuses.has(rows.id(row))) ledger.settle(row, noPet);
    else if (!flags.createMissing) ledger.settle(row, noEntry);
  }
  return sumUp(session, etags);
}

const noEntry: Outcome = {
  state: 'failed',
  status: 404,
  code: 'no_entry',
  message: 'no inventory entry; --create-missing makes one',
};
export const noPet: Outcome = { state: 'failed', status: 404, code: 'no_pet', message: 'no such pet' };

/** For an undo: the count before the run was beyond a double, so it cannot be restored exactly. */
const inexact: Outcome = {
  state: 'failed',
  code: 'inexact_count',
  message: `the count before was beyond ${Number.MAX_SAFE_INTEGER}, and cannot be set back to the unit`,
};

/** The outcome of a row that needs no write, given its pet's count; undefined if it must be written. */
function planRow(session: Session, row: number, count: Count): Outcome | undefined {
  const { rows, flags } = session;
  const wasSent = rows.wasSent(row);
  if (flags.relative && wasSent) {
    if (count === rows.quantity(row)) return { state: 'applied' };
    return count === rows.before(row) ? undefined : changedSince(count);
  }
  if (flags.relative) {
    const refused = planChange(rows, row, count ?? 0);
    if (refused) return refused;
    if (rows.change(row) !== 0 && !isExpected(rows, row, count)) return unexpected(session, row, count);
  }
  const quantity = rows.quantity(row);
  if (count === quantity) {
    // If an earlier session has set the row, keep the count from before the run.
    if (!wasSent || rows.before(row) === undefined) rows.setBefore(row, quantity);
    return { state: wasSent ? 'applied' : 'unchanged' };
  }
  if (quantity !== null && !Number.isSafeInteger(quantity)) return inexact;
  return isExpected(rows, row, count) ? undefined : unexpected(session, row, count);
}

/** Computes the new count of a relative row; returns the outcome if that fails. */
function planChange(rows: Rows, row: number, now: number | bigint): Outcome | undefined {
  const change = rows.change(row) ?? 0;
  const target = Number(now) + change;
  if (typeof now === 'bigint' || target > Number.MAX_SAFE_INTEGER)
    return {
      state: 'failed',
      code: 'too_large',
      message: `${now} + ${change} is above ${Number.MAX_SAFE_INTEGER}`,
    };
  if (target < 0 && change < 0)
    return { state: 'failed', code: 'below_zero', message: `${now} - ${-change} is below 0` };
  rows.setQuantity(row, target);
  return undefined;
}

/** A delivery may have been booked, and the count was changed after that: booking it again could add it twice. */
function changedSince(found: Count): Outcome {
  const now = found === null ? 'the entry is gone' : `the count is ${found} now`;
  return {
    state: 'failed',
    code: 'changed_since',
    message: `changed since it was perhaps written: ${now}`,
    isFinal: true,
  };
}

/** The outcome of a row whose count is not what the file, or the plan, expects. */
export function unexpected({ rows, flags }: Session, row: number, found: Count): Outcome {
  const expected = rows.expected(row);
  const now = found === null ? 'the pet has no inventory entry' : `the count is ${found} now`;
  if (expected === undefined && flags.relative)
    return { state: 'failed', code: 'changed', message: `changed since the plan: ${now}` };
  const message = `${now}, not ${expected === null ? 'none' : expected} as expected`;
  return { state: 'failed', code: 'unexpected_count', message };
}

function isExpected(rows: Rows, row: number, count: Count): boolean {
  const expected = rows.expected(row);
  return expected === undefined || expected === count;
}

/** Fewer pets without an entry than this are read one by one; otherwise the whole list is read. */
const petsForList = 100;

/** Reads which of the pets without an entry exist, with their statuses; returns false if the service does not tell. */
async function findPets(session: Session, missing: readonly number[]): Promise<boolean> {
  if (missing.length === 0) return false;
  try {
    const listed =
      missing.length < petsForList ? false : await listPets(session, missing).catch((error) => error);
    if (listed instanceof Error && !isCut(listed)) throw listed;
    if (listed !== undefined) await readPets(session, missing);
    return true;
  } catch (error) {
    // Without permission to read pets, the row still fails because it has no entry.
    if (error instanceof ApiError || (error instanceof CliError && error.kind !== 'auth')) return false;
    throw error;
  }
}

async function readPets(session: Session, missing: readonly number[]): Promise<void> {
  await readEach(session, missing, async (row) => {
    const petId = session.rows.id(row);
    try {
      session.petStatuses.set(petId, await session.readPetStatus(petId));
    } catch (error) {
      if (!(error instanceof CliError) || error.kind !== 'not-found') throw error;
    }
  });
}

async function listPets({ client, rows, petStatuses }: Session, missing: readonly number[]): Promise<void> {
  const wanted = new Set(missing);
  for await (const page of ahead(client.list('listPets', {}, { whole: true })))
    for (const { id, status } of page) {
      const row = rows.find(id);
      if (row !== undefined && wanted.has(row)) petStatuses.set(id, status ?? 'available');
    }
}

function sumUp(session: Session, etags: ReadonlyMap<number, string>): Plan {
  const { rows } = session;
  const totals = {
    considered: 0,
    changes: 0,
    unchanged: 0,
    written: 0,
    toZero: 0,
    created: 0,
    removed: 0,
    raised: { rows: 0, units: 0n },
    lowered: { rows: 0, units: 0n },
  };
  let largest: Plan['largest'];
  for (let row = 0; row < rows.length; row += 1) {
    const state = rows.state(row);
    if (state === 'invalid' || state === 'skipped') continue;
    totals.considered += 1;
    if (state === 'unchanged') totals.unchanged += 1;
    const isPlanned = state === 'unprocessed';
    if (!isPlanned && !rows.wasSent(row)) continue;
    totals[isPlanned ? 'changes' : 'written'] += 1;
    const quantity = rows.quantity(row);
    const before = rows.before(row);
    if (quantity === 0 && before !== null) totals.toZero += 1;
    if (!isPlanned || before === undefined) continue;
    if (before === null) totals.created += 1;
    if (quantity === null) totals.removed += 1;
    const delta = (quantity ?? 0) - (before ?? 0);
    const total = delta >= 0 && quantity !== null ? totals.raised : totals.lowered;
    total.rows += 1;
    total.units += BigInt(Math.abs(delta));
    if (!largest || Math.abs(delta) > Math.abs(largest.delta)) largest = { row, delta };
  }
  return { session, ...totals, largest, etags };
}

/**
 * Refuses a plan that breaks a guard; changes of earlier sessions of the run count too.
 *
 * @throws UsageError that names the guard and the offending value.
 */
export function checkGuards(plan: Plan, { maxChanges, maxDelta, allowZero }: Guards): void {
  const { considered, toZero, largest } = plan;
  const { rows } = plan.session;
  const changes = plan.changes + plan.written;
  const stopped = (why: string, hint: string) => new UsageError(`${why}; nothing was sent`, hint, 'guard');
  if (maxChanges && changes > toRows(maxChanges, considered))
    throw stopped(
      `the plan changes ${changes} of ${considered} rows, more than --max-changes ${limitText(maxChanges)} allows`,
      'look at it with --dry-run; a larger --max-changes lets it pass',
    );
  if (maxDelta !== undefined && largest && Math.abs(largest.delta) > maxDelta) {
    const { row } = largest;
    const place = rows.line(row) > 0 ? `line ${rows.line(row)} changes pet` : 'the plan changes pet';
    throw stopped(
      `${place} ${rows.id(row)} from ${rows.before(row) ?? 'no entry'} to ${rows.quantity(row)}, more than --max-delta ${maxDelta} allows`,
      'look at it with --dry-run; a larger --max-delta lets it pass',
    );
  }
  if (toZero * 2 > considered && !allowZero)
    throw stopped(
      `${toZero} of ${considered} rows go to 0, more than half`,
      'if that is meant, --allow-zero lets it pass',
    );
}

function limitText(limit: RowLimit): string {
  return 'rows' in limit ? String(limit.rows) : `${limit.percent}%`;
}
