import type { Outcome, Row } from './decide.ts';
import type { RunHeader } from './journal.ts';
import type { JournalImage, JournalRow } from './read-journal.ts';
import { isLeft, isPerhapsWritten } from './rows.ts';
import { areDisjoint } from './run-flags.ts';
import { mayBeOn, numberOf, type RunInfo, type RunStore } from './run-store.ts';

// A run that adds is not repeatable, so what was booked before is looked up in the journals: by the number of the
// delivery if it has one, else by the rows.

/** What another run says about a row that adds. */
interface Booking {
  readonly run: string;
  readonly change: number;
  readonly standing: 'booked' | 'open';
  /** True if an undo of the run has begun. */
  readonly isUndone: boolean;
}

/** The header of a run, or of one that is about to begin. */
type BookingQuery = Pick<RunHeader, 'target' | 'noun' | 'flags' | 'delivery'> & { readonly run?: string };

/**
 * The outcomes of the rows of a delivery that other runs of the same number have booked, or may have.
 *
 * @param rows those that were not sent.
 * @throws CliError `failed` if a journal that may be of the target cannot be read.
 */
export async function bookedRows(
  store: RunStore,
  query: BookingQuery,
  rows: readonly Row[],
): Promise<Map<bigint, Outcome>> {
  const outcomes = new Map<bigint, Outcome>();
  if (query.delivery === null) return outcomes;
  const bookings = new Map<bigint, Booking>();
  for (const info of await addingRuns(store, query)) {
    if (info.header.delivery !== query.delivery) continue;
    for (const [id, booking] of await bookingsOf(store, info)) {
      const other = bookings.get(id);
      if (other?.standing !== 'booked') bookings.set(id, booking);
    }
  }
  for (const { id, intent } of rows) {
    const booking = bookings.get(id);
    if (booking && intent.kind === 'add') outcomes.set(id, outcomeOf(booking, intent.change));
  }
  return outcomes;
}

/** The code of a row that another run of its delivery has open; it does not count for the rule itself. */
const openElsewhere = 'open_elsewhere';

function outcomeOf({ run, change, standing, isUndone }: Booking, wanted: number): Outcome {
  if (standing === 'open') {
    const [who, how, settledBy] = isUndone
      ? ['the undo of run', 'finish that undo', `undo ${run}`]
      : ['run', 'resume that run', `resume ${run}`];
    const message = `${who} ${run} of this delivery has this row open: ${how}, or look at the count`;
    return { state: 'unknown', reason: { code: openElsewhere, message, settledBy } };
  }
  if (change === wanted)
    return { state: 'unchanged', reason: { code: 'booked', message: `booked by ${run}` } };
  const message = `booked by ${run} with ${signed(change)}, and the file has ${signed(wanted)}`;
  return { state: 'failed', reason: { code: 'booked_otherwise', message } };
}

/** How many rows of an input equal those of an earlier run. */
export interface EqualRows {
  readonly info: RunInfo;
  readonly count: number;
  /** Whether it is half of the input or more, or half of what that run wrote. */
  readonly isHalf: boolean;
}

/** So many of the last runs are compared by their rows. */
const comparedRuns = 50;

/**
 * The earlier run that has most rows in common with an input that adds, by id and change, if one of the two has no
 * number of a delivery; undefined if none has any.
 *
 * @throws as `bookedRows`
 */
export async function mostEqualRows(
  store: RunStore,
  query: BookingQuery,
  rows: readonly Row[],
): Promise<EqualRows | undefined> {
  let most: EqualRows | undefined;
  // A row that adds 0 is never written, so it says nothing about the delivery.
  const changing = rows.filter(({ intent }) => intent.kind === 'add' && intent.change !== 0);
  for (const info of (await addingRuns(store, query)).slice(0, comparedRuns)) {
    if (query.delivery !== null && info.header.delivery !== null) continue;
    const bookings = await bookingsOf(store, info);
    const isEqual = ({ id, intent }: Row) =>
      intent.kind === 'add' && bookings.get(id)?.change === intent.change;
    const count = changing.filter(isEqual).length;
    const isHalf = count > 0 && (count * 2 >= changing.length || count * 2 >= bookings.size);
    if (
      count > 0 &&
      (!most || Number(isHalf) - Number(most.isHalf) > 0 || (isHalf === most.isHalf && count > most.count))
    )
      most = { info, count, isHalf };
  }
  return most;
}

/** The runs on a target that add, the newest first, without other shards. */
async function addingRuns(store: RunStore, { target, noun, flags, run }: BookingQuery): Promise<RunInfo[]> {
  const { runs, unreadable } = await store.all();
  for (const { header, problem } of unreadable) if (mayBeOn(target, header, problem)) throw problem;
  return runs.filter(
    ({ header }) =>
      header.kind === 'apply' &&
      header.flags.relative &&
      header.target === target &&
      header.noun === noun &&
      header.run !== run &&
      !areDisjoint(header.flags.shard, flags.shard),
  );
}

/** What a run has booked or has open, by its id; its undo, if it has one, counts in its place. */
async function bookingsOf(
  store: RunStore,
  { header: { run }, undo }: RunInfo,
): Promise<Map<bigint, Booking>> {
  const { rows } = await store.read(run);
  const undone = undo && (await store.read(undo.header.run)).rows;
  const bookings = new Map<bigint, Booking>();
  for (const row of rows.values()) {
    if (row.intent.kind !== 'add') continue;
    // An undo has every row that its run may have written; the others are booked by nobody.
    if (undone && !undone.has(row.id) && !isPerhapsWritten(row)) continue;
    const standing = standingOf(row, undone?.get(row.id));
    if (standing)
      bookings.set(row.id, { run, change: row.intent.change, standing, isUndone: undo !== undefined });
  }
  return bookings;
}

/** Undefined if the row is not booked. */
function standingOf(row: JournalRow, undone: JournalRow | undefined): Booking['standing'] | undefined {
  const { outcome } = undone ?? row;
  if (outcome?.reason?.code === openElsewhere) return undefined;
  if (isLeft({ outcome }) || outcome?.state === 'unknown') return 'open';
  if (undone) return outcome?.state === 'failed' ? 'booked' : undefined;
  return outcome?.state === 'applied' ? 'booked' : undefined;
}

/**
 * Which later run has written a record of a run that is to be undone, or may have, by its id. Undos and rows that were
 * undone do not count.
 *
 * @throws as `bookedRows`
 */
export async function laterWriters(
  store: RunStore,
  { header }: Pick<JournalImage, 'header'>,
): Promise<Map<bigint, string>> {
  const writers = new Map<bigint, string>();
  const later = await store.onTarget(header.target, header.run);
  for (const { header: other, undo } of later) {
    if (other.kind === 'undo' || other.noun !== header.noun) continue;
    const { rows } = await store.read(other.run);
    const undone = undo && (await store.read(undo.header.run)).rows;
    for (const row of rows.values()) {
      const fate = undone?.get(row.id)?.outcome?.state;
      const isUndone = fate === 'applied' || fate === 'unchanged';
      if (!isUndone && isPerhapsWritten(row)) writers.set(row.id, other.run);
    }
  }
  return writers;
}

/**
 * The readings of the first later plans of other runs, for rows that add and were sent.
 *
 * @param sent each row, the run whose plan it is of, and the number of that plan.
 */
export async function laterReadingsOf(
  store: RunStore,
  target: string,
  sent: readonly { readonly row: Row; readonly run: string; readonly number: number }[],
): Promise<Map<Row, NonNullable<JournalRow['before']> | null>> {
  const readings = new Map<Row, NonNullable<JournalRow['before']> | null>();
  if (sent.length === 0) return readings;
  const oldest = Math.min(...sent.map(({ number }) => number));
  const firsts = new Map<Row, number>();
  for (const { header, planned } of await store.onTarget(target)) {
    if (planned <= oldest) continue;
    const { rows } = await store.read(header.run);
    for (const { row, run, number } of sent) {
      if (run === header.run) continue;
      for (const plan of rows.get(row.id)?.plans ?? []) {
        if (plan.number <= number || plan.number >= (firsts.get(row) ?? Number.POSITIVE_INFINITY)) continue;
        firsts.set(row, plan.number);
        readings.set(row, plan.before);
      }
    }
  }
  return readings;
}

/** Whether a later run of the noun is on the target, undone or not; other shards of one division do not count. */
export async function hasLaterRun(
  store: RunStore,
  { target, run, noun, flags }: RunHeader,
): Promise<RunInfo | undefined> {
  const later = await store.onTarget(target, run);
  return later.find(
    ({ header }) =>
      header.noun === noun &&
      !areDisjoint(header.flags.shard, flags.shard) &&
      numberOf(header.run) > numberOf(run),
  );
}

function signed(change: number): string {
  return change < 0 ? String(change) : `+${change}`;
}
