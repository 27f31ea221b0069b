import { UsageError } from '../process/errors.ts';
import { type Outcome, type Row, uncertaintyOf } from '../writes/decide.ts';
import { describeValue, isSame } from '../writes/value.ts';
import type { JournalContent } from './journal.ts';
import {
  bookedCode,
  fateOf,
  isAppliedOrUncertain,
  isForPerson,
  isLeft,
  isUnfinished,
  type Run,
} from './run.ts';
import { deliveryKey } from './run-header.ts';
import { type RunInfo, type RunList, readRun, runsOnTarget, runTime } from './run-store.ts';

// Other runs on the target may have booked, planned or written the records of a run. What they claim is three rules, each
// one function: a delivery is booked once, a later plan decides a row that adds, and an undo leaves alone what a later run
// has written.

/** The outcomes that the rows of a run get because of other runs, if they would be written. */
export type Claims = ReadonlyMap<Row, Outcome>;

/**
 * Finds what other runs claim of the open rows of a run.
 *
 * @param undone the journal of the run that an undo undoes.
 * @throws UsageError if a journal that may be of the target cannot be read.
 */
export async function claimsOn(
  list: RunList,
  run: Run,
  own: JournalContent | undefined,
  undone: JournalContent | undefined,
): Promise<Claims> {
  const claims = new Map<Row, Outcome>();
  const rows = run.rows.filter(isUnfinished);
  const { delivery, flags } = run.header;
  if (undone) await claimWrittenLater(list, rows, undone, claims);
  else if (delivery !== null && !flags.again)
    await claimBooked(
      list,
      run,
      rows.filter((row) => !uncertaintyOf(row)),
      claims,
    );
  await claimPlannedLater(list, run, rows, own, undone, claims);
  return claims;
}

/**
 * Checks that no run is used from another profile, one that still exists: the two may be different services behind one address.
 *
 * @param profile the active profile.
 * @throws UsageError `other_profile`.
 */
export function checkProfile(
  info: Pick<RunInfo, 'id' | 'header'>,
  profile: string | undefined,
  profiles: readonly string[],
): void {
  const { profile: other } = info.header;
  if (other === null || other === profile || !profiles.includes(other)) return;
  const active = profile === undefined ? 'no profile is active' : `the active profile is ${profile}`;
  throw new UsageError(
    `run ${info.id} was made with the profile ${other}, and ${active}; nothing was sent`,
    `if they are one service, give --profile ${other}; else give one a tenant: petstore config set tenant <name> --profile ${other}`,
    'other_profile',
  );
}

/** Finds the other runs of a delivery, the newest first. */
export function runsOfDelivery(list: RunList, { header, id }: Run): RunInfo[] {
  const { delivery, target, noun } = header;
  if (delivery === null) return [];
  const key = deliveryKey(delivery);
  return runsOnTarget(list, target).filter(
    (info) =>
      info.id !== id &&
      info.header.noun === noun &&
      info.header.kind !== 'undo' &&
      info.header.delivery !== null &&
      deliveryKey(info.header.delivery) === key,
  );
}

/** A change of a record that another run of the delivery has booked, or may book. */
interface Booking {
  readonly info: RunInfo;
  readonly change: number;
  readonly isBooked: boolean;
  /** Whether only a person can settle the row, because it is unknown for good. */
  readonly isForPerson: boolean;
}

/** A row of a delivery that another run with its number has booked is left out. */
async function claimBooked(
  list: RunList,
  run: Run,
  rows: readonly Row[],
  claims: Map<Row, Outcome>,
): Promise<void> {
  const bookings = new Map<bigint, Booking>();
  for (const info of runsOfDelivery(list, run))
    for (const [id, booking] of await readBookings(list, info))
      if (!bookings.get(id)?.isBooked) bookings.set(id, booking);
  for (const row of rows) {
    const booking = row.id === undefined ? undefined : bookings.get(row.id);
    if (booking && row.intent.kind === 'add')
      claims.set(row, toOutcome(booking, row.id ?? 0n, row.intent.change));
  }
}

/** The code of a row that is open in another run of the delivery. Such a row books nothing. */
const openElsewhereCode = 'open_elsewhere';

function toOutcome({ info, change, isBooked, isForPerson }: Booking, id: bigint, rowChange: number): Outcome {
  const { undo } = info;
  if (!isBooked) {
    const fact = undo
      ? `the undo ${undo.id} of run ${info.id} may have taken this row back`
      : `run ${info.id} of this delivery may have booked this row`;
    const settle = ['runs', 'settle', undo?.id ?? info.id, `${id}`, '--as', 'applied'];
    const [advice, settledBy] = isForPerson
      ? (['look at the count, and settle the row', settle] as const)
      : (['finish that run', [undo ? 'undo' : 'resume', info.id]] as const);
    return {
      state: 'unknown',
      reason: { code: openElsewhereCode, message: `${fact}: ${advice}`, settledBy },
    };
  }
  if (change === rowChange)
    return { state: 'unchanged', reason: { code: bookedCode, message: `booked by ${runTime(info)}` } };
  const message = `booked by ${runTime(info)} with ${signed(change)}, and the file has ${signed(rowChange)}`;
  return { state: 'failed', reason: { code: 'booked_otherwise', message } };
}

function signed(change: number): string {
  return change < 0 ? String(change) : `+${change}`;
}

/** Reads the bookings of a run by record. If an undo of the run has begun, the rows of the undo count. */
async function readBookings(list: RunList, info: RunInfo): Promise<Map<bigint, Booking>> {
  const { rows } = (await readRun(list, info.id)).run;
  const undoRows = info.undo && rowsById((await readRun(list, info.undo.id)).run);
  const bookings = new Map<bigint, Booking>();
  for (const row of rows) {
    const { id, intent } = row;
    if (id === undefined || intent.kind !== 'add' || isOpenElsewhere(row)) continue;
    const counted = undoRows ? undoRows.get(id) : row;
    if (!counted) continue;
    const fate = fateOf(counted);
    const isBooked = undoRows ? fate === 'failed' && !isLeft(counted) : fate === 'applied';
    const isUnfinishedRow = isLeft(counted) || fate === 'unknown' || fate === 'unsettled';
    if (isBooked || isUnfinishedRow)
      bookings.set(id, { info, change: intent.change, isBooked, isForPerson: isForPerson(counted) });
  }
  return bookings;
}

function isOpenElsewhere({ state }: Row): boolean {
  return state.at === 'settled' && state.outcome.reason?.code === openElsewhereCode;
}

function rowsById({ rows }: Run): Map<bigint, Row> {
  return new Map(rows.flatMap((row) => (row.id === undefined ? [] : [[row.id, row] as const])));
}

/**
 * A row that adds and is uncertain, and whose record another run has planned since, was applied if the first such plan read
 * what the row was to write; else nobody knows, because that run may have changed the count.
 */
async function claimPlannedLater(
  list: RunList,
  { header, id: ownId }: Run,
  rows: readonly Row[],
  own: JournalContent | undefined,
  undone: JournalContent | undefined,
  claims: Map<Row, Outcome>,
): Promise<void> {
  const uncertainRows = rows.flatMap((row) => {
    const content = uncertaintyOf(row) ? own : undone;
    const intent = uncertaintyOf(row) ? row.intent : row.undone?.intent;
    if (intent?.kind !== 'add' || row.id === undefined) return [];
    const sent = content?.readings.get(row.id)?.findLast(({ isUncertain }) => !isUncertain);
    return content && sent ? [{ row, id: row.id, run: content.run.id, sentBy: sent.number }] : [];
  });
  if (uncertainRows.length === 0) return;
  const oldest = Math.min(...uncertainRows.map(({ sentBy }) => sentBy));
  const first = new Map<Row, { readonly number: number; readonly value: Parameters<typeof isSame>[0] }>();
  for (const info of runsOnTarget(list, header.target)) {
    if (info.planned <= oldest || info.header.noun !== header.noun) continue;
    const { readings } = await readRun(list, info.id, true);
    for (const { row, id, run, sentBy } of uncertainRows) {
      // The undo itself is no later plan, and neither is a plan of the run that sent the row.
      if (info.id === run || info.id === ownId) continue;
      for (const { number, value } of readings.get(id) ?? [])
        if (number > sentBy && number < (first.get(row)?.number ?? Number.POSITIVE_INFINITY))
          first.set(row, { number, value });
    }
  }
  for (const [row, { value }] of first) {
    const uncertain = uncertaintyOf(row) ?? row.undone;
    if (!uncertain) continue;
    const isApplied = uncertain.mayBeApplied && isSame(uncertain.after, value);
    if (isApplied && !uncertaintyOf(row)) row.undone = undefined;
    else if (isApplied) claims.set(row, { state: 'applied' });
    else {
      const message = `${describeValue(uncertain.after)} was sent, and a later run has read ${describeValue(value)} since`;
      claims.set(row, {
        state: 'unknown',
        reason: { code: 'changed', message },
        mayBeApplied: uncertain.mayBeApplied,
      });
    }
  }
}

/** An undo leaves alone a record that a later run has written, or may have. Undos and undone rows do not count. */
async function claimWrittenLater(
  list: RunList,
  rows: readonly Row[],
  { run: { id, header } }: JournalContent,
  claims: Map<Row, Outcome>,
): Promise<void> {
  const writers = new Map<bigint, string>();
  for (const info of runsOnTarget(list, header.target, id)) {
    if (info.header.kind === 'undo' || info.header.noun !== header.noun) continue;
    const { run } = await readRun(list, info.id);
    const undoRows = info.undo && rowsById((await readRun(list, info.undo.id)).run);
    for (const row of run.rows) {
      if (row.id === undefined || !isAppliedOrUncertain(row)) continue;
      const undoRow = undoRows?.get(row.id);
      const undoFate = undoRow && fateOf(undoRow);
      if (undoFate !== 'applied' && undoFate !== 'unchanged') writers.set(row.id, info.id);
    }
  }
  for (const row of rows) {
    const writer = row.id === undefined ? undefined : writers.get(row.id);
    if (writer === undefined || row.intent.kind === 'add' || uncertaintyOf(row)) continue;
    const message = `run ${writer} has written this record since: undo that run first, or apply the file again`;
    const reason = { code: 'written_later', message, passes: true, settledBy: ['undo', writer] };
    claims.set(row, { state: 'failed', reason });
  }
}
