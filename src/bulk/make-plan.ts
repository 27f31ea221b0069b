import { monotonicMs } from '../process/deadline.ts';
import { UsageError } from '../process/errors.ts';
import { checkReadable, readCounts } from './counts.ts';
import type { Count } from './number-lists.ts';
import { marks, type Reason, type RowOutcome, type Rows } from './rows.ts';
import type { Run } from './run.ts';
import { type Guards, toRows } from './run-flags.ts';

/** What a session will write; the rows that are still unprocessed are to be written. */
export interface Plan {
  /** Rows that it looked at. */
  readonly rows: number;
  /** Rows to write. */
  readonly changes: number;
  readonly unchanged: number;
  readonly raised: ChangeTotal;
  readonly lowered: ChangeTotal;
  /** Changes to a count of 0. */
  readonly toZero: number;
  /** Entries to create, and to remove. */
  readonly created: number;
  readonly removed: number;
  /** The row with the largest change, up or down, and its size. */
  readonly largest: { readonly row: number; readonly delta: number } | undefined;
}

interface ChangeTotal {
  readonly rows: number;
  /** Sum of the differences, as absolute value. */
  readonly units: bigint;
}

/**
 * Reads the current counts of the rows that are left, and settles those that need no write or cannot be written.
 *
 * @throws StoppedError if the run has stopped; UsageError, ApiError or UnavailableError if a count could not be read:
 *   there is no partial plan.
 */
export async function makePlan(run: Run): Promise<Plan> {
  const { rows, client, header } = run;
  checkReadable(client);
  const started = monotonicMs();
  const canRemove = client.contract.operations.has('deleteInventory');
  for (const row of rows.where((each) => rows.isLeft(each))) {
    rows.reopen(row);
    rows.mark(row, marks.planned);
  }
  await readCounts(run, (row, count, etag) => {
    const outcome =
      leftAlone(run, row, compare(run, row, count, etag)) ??
      (count === null && !header.flags.createMissing ? { effect: 'none', reason: noEntry } : undefined) ??
      (rows.after(row) === null && !canRemove ? { effect: 'none', reason: noDelete } : undefined);
    if (outcome) return run.settle(row, outcome);
    rows.setBefore(row, count);
    if (etag === undefined) rows.etags.delete(row);
    else rows.etags.set(row, etag);
  });
  run.planningMs = monotonicMs() - started;
  return sumUp(run);
}

const noEntry: Reason = {
  status: 404,
  code: 'no_entry',
  message: 'the pet has no inventory entry: check the id, or create the entry with --create-missing',
};
const noDelete: Reason = {
  code: 'no_delete',
  message: 'the run created this entry, and the service offers no deleteInventory',
};

/** The outcome of a row, if a later run wrote its pet: it is left alone unless its count is already as it should be. */
function leftAlone(
  { options: { laterRuns } }: Run,
  row: number,
  outcome: RowOutcome | undefined,
): RowOutcome | undefined {
  const later = laterRuns.get(row);
  if (later === undefined || (outcome && !outcome.reason)) return outcome;
  const message = `run ${later} has written this pet since: undo that run first, or apply the file again`;
  return { effect: 'none', reason: { code: 'written_later', message } };
}

/** The outcome of a row by the count now, which is the table in `help bulk`; undefined if it is to be written. */
function compare(run: Run, row: number, count: Count, etag: string | undefined): RowOutcome | undefined {
  const { rows, header, earlier } = run;
  const { relative } = header.flags;
  const expected = rows.expected(row);
  const isPerhaps = rows.isMarked(row, marks.perhaps);
  const seen = rows.etags.get(row);
  /** The count is that of the last plan, with its ETag if it had one. */
  const isBefore = count === rows.before(row) && (seen === undefined || seen === etag);
  if (count === rows.after(row) && (isPerhaps || !relative)) return { effect: isPerhaps ? 'done' : 'none' };
  if (isPerhaps) {
    if (isBefore || (!relative && expected === undefined)) return undefined;
    return { effect: 'maybe', reason: changedSince(run, row, count) };
  }
  const booked = relative ? book(rows, row, count) : undefined;
  if (booked) return booked;
  if (expected === undefined || (earlier && !relative ? isBefore : expected === count)) return undefined;
  return { effect: 'none', reason: unexpected(count, expected, earlier || header.kind === 'undo') };
}

/** Sets what a relative row writes; returns its outcome if there is nothing to write. */
function book(rows: Rows, row: number, count: Count): RowOutcome | undefined {
  const change = rows.change(row) ?? 0;
  const problem = changeProblem(count ?? 0, change);
  if (problem) return { effect: 'none', reason: problem };
  rows.setAfter(row, Number(count ?? 0) + change);
  if (change !== 0 || count === null) return undefined;
  rows.setBefore(row, count);
  return { effect: 'none' };
}

/** Why a change cannot be booked; undefined if it can. */
function changeProblem(now: number | bigint, change: number): Reason | undefined {
  const sum = Number(now) + change;
  const written = `${now} ${change < 0 ? '-' : '+'} ${Math.abs(change)}`;
  if (typeof now === 'bigint' || sum > Number.MAX_SAFE_INTEGER)
    return { code: 'too_large', message: `${written} is above ${Number.MAX_SAFE_INTEGER}` };
  return sum < 0 ? { code: 'below_zero', message: `${written} is below 0` } : undefined;
}

function unexpected(found: Count, expected: Count, isLater: unknown): Reason {
  const message = `${countNow(found)}, not ${expected ?? 'none'} as expected`;
  return isLater
    ? { code: 'changed_since', message: `changed since: ${message}` }
    : { code: 'unexpected_count', message };
}

/** A clause with a count that was read. */
export function countNow(count: Count): string {
  return count === null ? 'the pet has no inventory entry' : `the count is ${count} now`;
}

/** Why it stays unknown whether a row was written. */
export function changedSince({ rows }: Run, row: number, count: Count): Reason {
  const shown = (each: Count | undefined) => each ?? 'no entry';
  const message = `changed since it was perhaps written: it was ${shown(rows.before(row))} before, ${shown(rows.after(row))} was sent, ${countNow(count)}`;
  return { code: 'changed_since', message, passes: true };
}

function sumUp({ rows }: Run): Plan {
  const totals = { rows: 0, changes: 0, unchanged: 0, toZero: 0, created: 0, removed: 0 };
  const raised = { rows: 0, units: 0n };
  const lowered = { rows: 0, units: 0n };
  let largest: Plan['largest'];
  for (const row of rows.where((each) => rows.isMarked(each, marks.planned))) {
    totals.rows += 1;
    if (rows.isState(row, 'unchanged')) totals.unchanged += 1;
    if (!rows.isState(row, 'unprocessed')) continue;
    totals.changes += 1;
    const after = rows.after(row);
    const before = rows.before(row) ?? null;
    if (after === 0 && before !== null) totals.toZero += 1;
    if (before === null) totals.created += 1;
    if (after === null) totals.removed += 1;
    const delta = changeOf(before, after);
    const total = delta >= 0 && after !== null ? raised : lowered;
    total.rows += 1;
    total.units += BigInt(Math.abs(delta));
    if (!largest || Math.abs(delta) > Math.abs(largest.delta)) largest = { row, delta };
  }
  return { ...totals, raised, lowered, largest };
}

export function changeOf(before: Count, after: Count): number {
  return Number(after ?? 0) - Number(before ?? 0);
}

/**
 * Checks the guards of a run; what its earlier sessions have written counts too.
 *
 * @throws UsageError that names the guard and the value that breaks it.
 */
export function checkGuards({ rows, header }: Run, { toZero, largest, changes }: Plan, guards: Guards): void {
  const { maxChanges, maxDelta, allowZero } = guards;
  const considered = header.rows - header.invalid - header.skipped;
  const isEarlier = (row: number) => !rows.isState(row, 'unprocessed') && rows.mayHaveBeenWritten(row);
  const earlier = rows.count(isEarlier);
  const earlierToZero = rows.count((row) => isEarlier(row) && rows.after(row) === 0);
  const broken = (why: string, hint: string) => new UsageError(`${why}; nothing was sent`, hint, 'guard');
  if (maxChanges && changes + earlier > toRows(maxChanges, considered)) {
    const limit = 'rows' in maxChanges ? maxChanges.rows : `${maxChanges.percent}%`;
    throw broken(
      `the run changes ${changes + earlier} of ${considered} rows, and --max-changes allows ${limit}`,
      'look at the plan with --dry-run; if this is intended, give a larger --max-changes',
    );
  }
  if (maxDelta !== undefined && largest && Math.abs(largest.delta) > maxDelta) {
    const { row } = largest;
    const place = rows.line(row) > 0 ? `line ${rows.line(row)} changes pet` : 'the plan changes pet';
    throw broken(
      `${place} ${rows.id(row)} from ${rows.before(row) ?? 'no entry'} to ${rows.after(row)}, and --max-delta allows ${maxDelta}`,
      'look at the plan with --dry-run; if this is intended, give a larger --max-delta',
    );
  }
  if ((toZero + earlierToZero) * 2 > considered && !allowZero)
    throw broken(
      `${toZero + earlierToZero} of ${considered} rows go to 0, more than half`,
      'if this is intended, add --allow-zero',
    );
}
