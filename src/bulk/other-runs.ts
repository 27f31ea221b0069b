import type { Outcome, Row } from './decide.ts';
import type { JournalImage, JournalRow } from './read-journal.ts';
import { isLeft, isOpen, isPerhapsWritten } from './rows.ts';
import type { Run } from './run.ts';
import { areDisjoint } from './run-header.ts';
import { type RunInfo, type RunList, readRun, runsOnTarget } from './run-store.ts';

// The journals of other runs on the target tell which rows of a run must not be written. A change must not be booked twice,
// so a run that adds looks for earlier bookings: by the number of its delivery, or if it has none by its rows.

/**
 * Marks the open rows of a run: with an `obstacle` if another run has booked or written the record, with a `laterReading` if
 * another run has planned to write the record since the row was sent.
 *
 * @param undoneRun the journal of the run that an undo undoes.
 * @throws CliError `failed` if a journal that may be of the target cannot be read.
 */
export async function markByOtherRuns(list: RunList, run: Run, undoneRun?: JournalImage): Promise<void> {
  const { header, journal } = run;
  const rows = run.rows.filter(isOpen);
  if (undoneRun) await markWrittenLater(list, rows, undoneRun);
  else if (header.delivery !== null && !header.flags.again) {
    const unsent = rows.filter(({ isSent }) => !isSent);
    await markBooked(list, run, unsent);
  }
  const sentRows = rows.flatMap((row): SentRow[] => {
    const image = row.isSent ? journal : undoneRun;
    const sentRow = row.isSent ? row : row.undoneRow;
    const reading = image?.rows.get(row.id)?.readings.at(-1);
    return image && sentRow?.intent.kind === 'add' && reading
      ? [{ row: sentRow, run: image.id, planNumber: reading.planNumber }]
      : [];
  });
  if (sentRows.length > 0) await markLaterReadings(list, header.target, sentRows);
}

/** A row that adds and was sent, with the run and the number of the plan that it was sent by. */
interface SentRow {
  readonly row: Row;
  readonly run: string;
  readonly planNumber: number;
}

/** Marks rows with the reading of the next plan of another run. */
async function markLaterReadings(list: RunList, target: string, sentRows: readonly SentRow[]): Promise<void> {
  const oldest = Math.min(...sentRows.map(({ planNumber }) => planNumber));
  const firsts = new Map<Row, number>();
  for (const info of runsOnTarget(list, target)) {
    if (info.planned <= oldest) continue;
    const { rows } = await readRun(list.folder, info.id);
    for (const { row, run, planNumber } of sentRows)
      for (const reading of run === info.id ? [] : (rows.get(row.id)?.readings ?? [])) {
        const isFirst = reading.planNumber < (firsts.get(row) ?? Number.POSITIVE_INFINITY);
        if (reading.planNumber <= planNumber || !isFirst) continue;
        firsts.set(row, reading.planNumber);
        row.laterReading = reading.before;
      }
  }
}

/** Marks rows of an undo whose records a later run has written, or may have. Undos and undone rows do not count. */
async function markWrittenLater(
  list: RunList,
  openRows: readonly Row[],
  { id, header }: JournalImage,
): Promise<void> {
  const writers = new Map<bigint, string>();
  for (const info of runsOnTarget(list, header.target, id)) {
    if (info.header.kind === 'undo' || info.header.noun !== header.noun) continue;
    const { rows, undoRows } = await readFates(list, info);
    for (const row of rows.values()) {
      const fate = undoRows?.get(row.id)?.outcome?.state;
      const isUndone = fate === 'applied' || fate === 'unchanged';
      if (!isUndone && isPerhapsWritten(row)) writers.set(row.id, info.id);
    }
  }
  for (const row of openRows) {
    const writer = writers.get(row.id);
    if (writer === undefined || row.intent.kind !== 'set') continue;
    const message = `run ${writer} has written this record since: undo that run first, or apply the file again`;
    const reason = { code: 'written_later', message, passes: true, settledBy: ['undo', writer] };
    row.obstacle = { state: 'failed', reason };
  }
}

/** A change of a record that another run has booked, or may book. */
interface Booking {
  readonly run: string;
  readonly change: number;
  readonly state: 'booked' | 'open';
  /** True if an undo of the run has begun. */
  readonly isUndone: boolean;
}

/** Marks the rows of a delivery that other runs of the same number have booked, or may have. */
async function markBooked(list: RunList, run: Run, rows: readonly Row[]): Promise<void> {
  const bookings = new Map<bigint, Booking>();
  for (const info of addingRuns(list, run)) {
    if (info.header.delivery !== run.header.delivery) continue;
    for (const [id, booking] of await bookingsOf(list, info))
      if (bookings.get(id)?.state !== 'booked') bookings.set(id, booking);
  }
  for (const row of rows) {
    const booking = bookings.get(row.id);
    if (booking && row.intent.kind === 'add') row.obstacle = outcomeOf(booking, row.intent.change);
  }
}

/** The code of a row that another run of its delivery has open. A row that is unknown for this reason books nothing. */
const openElsewhere = 'open_elsewhere';

function outcomeOf({ run, change, state, isUndone }: Booking, wanted: number): Outcome {
  if (state === 'open') {
    const [what, way, verb] = isUndone
      ? [`the undo of run ${run} may have taken this row back`, 'finish that undo', 'undo']
      : [`run ${run} of this delivery may have booked this row`, 'resume that run', 'resume'];
    const message = `${what}: ${way}, or look at the count`;
    return { state: 'unknown', reason: { code: openElsewhere, message, settledBy: [verb, run] } };
  }
  if (change === wanted)
    return { state: 'unchanged', reason: { code: 'booked', message: `booked by ${run}` } };
  const message = `booked by ${run} with ${signedText(change)}, and the file has ${signedText(wanted)}`;
  return { state: 'failed', reason: { code: 'booked_otherwise', message } };
}

function signedText(change: number): string {
  return change < 0 ? String(change) : `+${change}`;
}

/** An earlier run with the same rows as an input. */
interface EqualRows {
  readonly info: RunInfo;
  readonly count: number;
  /** True if the input or that run has no more than twice as many rows. */
  readonly isHalf: boolean;
}

/** So many of the last runs are compared by their rows. */
const comparedRuns = 50;

/**
 * Finds the earlier run that has most rows in common with a run that adds, by id and change. Two runs with a number of a
 * delivery are not compared.
 *
 * @returns undefined if no run has such a row.
 * @throws as `markByOtherRuns`
 */
export async function mostEqualRows(list: RunList, run: Run): Promise<EqualRows | undefined> {
  const candidates: EqualRows[] = [];
  // A row that adds 0 is never written, so it says nothing about the delivery.
  const changing = run.rows.filter(({ intent }) => intent.kind === 'add' && intent.change !== 0);
  for (const info of addingRuns(list, run).slice(0, comparedRuns)) {
    if (run.header.delivery !== null && info.header.delivery !== null) continue;
    const bookings = await bookingsOf(list, info);
    const isEqual = ({ id, intent }: Row) =>
      intent.kind === 'add' && bookings.get(id)?.change === intent.change;
    const count = changing.filter(isEqual).length;
    const isHalf = count * 2 >= changing.length || count * 2 >= bookings.size;
    if (count > 0) candidates.push({ info, count, isHalf });
  }
  const [most] = candidates.sort((a, b) => Number(b.isHalf) - Number(a.isHalf) || b.count - a.count);
  return most;
}

/** The other runs on the target of a run that add, the newest first, without other shards. */
function addingRuns(list: RunList, { header, journal }: Run): RunInfo[] {
  return runsOnTarget(list, header.target).filter(
    ({ id, header: { kind, flags, noun } }) =>
      kind === 'apply' &&
      flags.relative &&
      noun === header.noun &&
      id !== journal?.id &&
      !areDisjoint(flags.shard, header.flags.shard),
  );
}

/** The bookings of a run by record. If an undo of the run has begun, the rows of the undo count. */
async function bookingsOf(list: RunList, info: RunInfo): Promise<Map<bigint, Booking>> {
  const { rows, undoRows } = await readFates(list, info);
  const bookings = new Map<bigint, Booking>();
  for (const row of rows.values()) {
    if (row.intent.kind !== 'add') continue;
    // A row that its undo does not have was never written, so it is not booked.
    if (undoRows && !undoRows.has(row.id) && !isPerhapsWritten(row)) continue;
    const state = bookingStateOf(row, undoRows?.get(row.id));
    const facts = { run: info.id, change: row.intent.change, isUndone: undoRows !== undefined };
    if (state) bookings.set(row.id, { ...facts, state });
  }
  return bookings;
}

/** The rows of a run, and those of its last undo. */
async function readFates({ folder }: RunList, { id, undo }: RunInfo) {
  const { rows } = await readRun(folder, id);
  const undoRows = undo && (await readRun(folder, undo.id)).rows;
  return { rows, undoRows };
}

/** Undefined if the row is not booked. */
function bookingStateOf(row: JournalRow, undoRow: JournalRow | undefined): Booking['state'] | undefined {
  const { outcome } = undoRow ?? row;
  if (outcome?.reason?.code === openElsewhere) return undefined;
  if (isLeft({ outcome }) || outcome?.state === 'unknown') return 'open';
  if (undoRow) return outcome?.state === 'failed' ? 'booked' : undefined;
  return outcome?.state === 'applied' ? 'booked' : undefined;
}
