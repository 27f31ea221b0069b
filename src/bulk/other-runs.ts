import type { Outcome, Row } from './decide.ts';
import type { JournalContent, JournalRow } from './read-journal.ts';
import { isOpen, isPerhapsWritten, isRetriable } from './rows.ts';
import type { Run } from './run.ts';
import { areDisjoint } from './run-header.ts';
import { type RunInfo, type RunList, readRun, runsOnTarget } from './run-store.ts';

// The journals of other runs on the target tell which rows of a run must not be written. No change may be booked twice, so a
// run that adds looks for earlier bookings: by the number of its delivery, or by its rows if it has no number.

/**
 * Marks the open rows of a run. A row gets an `obstacle` if another run has booked or written the record. A row that may be
 * written gets a `laterReading` if another run has planned to write the record since.
 *
 * @param undoneRun the journal of the run that an undo undoes.
 * @throws CliError `failed` if a journal that may be of the target cannot be read.
 */
export async function markByOtherRuns(list: RunList, run: Run, undoneRun?: JournalContent): Promise<void> {
  const { header, journal } = run;
  const rows = run.rows.filter(isOpen);
  if (undoneRun) await markRowsWrittenLater(list, rows, undoneRun);
  else if (header.delivery !== null && !header.flags.again) {
    const unwritten = rows.filter(({ mayBeWritten }) => !mayBeWritten);
    await markBookedRows(list, run, unwritten);
  }
  const uncertainRows = rows.flatMap((row): UncertainRow[] => {
    const content = row.mayBeWritten ? journal : undoneRun;
    const uncertainRow = row.mayBeWritten ? row : row.undoneRow;
    const reading = content?.rows.get(row.id)?.readings.at(-1);
    return content && uncertainRow?.intent.kind === 'add' && reading
      ? [{ row: uncertainRow, run: content.id, planNumber: reading.planNumber }]
      : [];
  });
  if (uncertainRows.length > 0) await markLaterReadings(list, header.target, uncertainRows);
}

/** A row that adds and may be written, with the run and the number of the plan that sent it. */
interface UncertainRow {
  readonly row: Row;
  readonly run: string;
  readonly planNumber: number;
}

/** Marks rows with the reading of the next plan of another run. */
async function markLaterReadings(
  list: RunList,
  target: string,
  uncertainRows: readonly UncertainRow[],
): Promise<void> {
  const oldestPlan = Math.min(...uncertainRows.map(({ planNumber }) => planNumber));
  const earliestPlans = new Map<Row, number>();
  for (const info of runsOnTarget(list, target)) {
    if (info.planned <= oldestPlan) continue;
    const { rows } = await readRun(list.folder, info.id);
    for (const { row, run, planNumber } of uncertainRows)
      for (const reading of run === info.id ? [] : (rows.get(row.id)?.readings ?? [])) {
        const isEarliest = reading.planNumber < (earliestPlans.get(row) ?? Number.POSITIVE_INFINITY);
        if (reading.planNumber <= planNumber || !isEarliest) continue;
        earliestPlans.set(row, reading.planNumber);
        row.laterReading = reading.before;
      }
  }
}

/** Marks the rows of an undo whose records a later run has written, or may have. Undos and undone rows do not count. */
async function markRowsWrittenLater(
  list: RunList,
  openRows: readonly Row[],
  { id, header }: JournalContent,
): Promise<void> {
  const writers = new Map<bigint, string>();
  for (const info of runsOnTarget(list, header.target, id)) {
    if (info.header.kind === 'undo' || info.header.noun !== header.noun) continue;
    const { rows, undoRows } = await readRowsWithUndo(list, info);
    for (const row of rows.values()) {
      const undoState = undoRows?.get(row.id)?.outcome?.state;
      const isUndone = undoState === 'applied' || undoState === 'unchanged';
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
  /** Whether an undo of the run has begun. */
  readonly isUndone: boolean;
}

/** Marks the rows of a delivery that other runs with the same number have booked, or may have. */
async function markBookedRows(list: RunList, run: Run, rows: readonly Row[]): Promise<void> {
  const bookings = new Map<bigint, Booking>();
  for (const info of findAddingRuns(list, run)) {
    if (info.header.delivery !== run.header.delivery) continue;
    for (const [id, booking] of await readBookings(list, info))
      if (bookings.get(id)?.state !== 'booked') bookings.set(id, booking);
  }
  for (const row of rows) {
    const booking = bookings.get(row.id);
    if (booking && row.intent.kind === 'add') row.obstacle = toOutcome(booking, row.intent.change);
  }
}

/** The code of a row that is open in another run of the delivery. A row that is unknown for this reason books nothing. */
const openElsewhereCode = 'open_elsewhere';

function toOutcome({ run, change, state, isUndone }: Booking, rowChange: number): Outcome {
  if (state === 'open') {
    const [fact, advice, verb] = isUndone
      ? [`the undo of run ${run} may have taken this row back`, 'finish that undo', 'undo']
      : [`run ${run} of this delivery may have booked this row`, 'resume that run', 'resume'];
    const message = `${fact}: ${advice}, or look at the count`;
    return { state: 'unknown', reason: { code: openElsewhereCode, message, settledBy: [verb, run] } };
  }
  if (change === rowChange)
    return { state: 'unchanged', reason: { code: 'booked', message: `booked by ${run}` } };
  const message = `booked by ${run} with ${formatChange(change)}, and the file has ${formatChange(rowChange)}`;
  return { state: 'failed', reason: { code: 'booked_otherwise', message } };
}

function formatChange(change: number): string {
  return change < 0 ? String(change) : `+${change}`;
}

/** An earlier run with the same rows as an input. */
interface EqualRun {
  readonly info: RunInfo;
  readonly count: number;
  /** Whether the equal rows are at least half of the input, or half of the earlier run. */
  readonly isHalfEqual: boolean;
}

/** Only the last runs are compared by their rows. */
const maxComparedRuns = 50;

/**
 * Finds the earlier run that has most rows in common with a run that adds, by id and change. Two runs are not compared if
 * both have a delivery number.
 *
 * @returns undefined if no run has such a row.
 * @throws as `markByOtherRuns`.
 */
export async function findMostEqualRun(list: RunList, run: Run): Promise<EqualRun | undefined> {
  const candidates: EqualRun[] = [];
  // A row that adds 0 is never written, so it does not tell deliveries apart.
  const changing = run.rows.filter(({ intent }) => intent.kind === 'add' && intent.change !== 0);
  for (const info of findAddingRuns(list, run).slice(0, maxComparedRuns)) {
    if (run.header.delivery !== null && info.header.delivery !== null) continue;
    const bookings = await readBookings(list, info);
    const isEqual = ({ id, intent }: Row) =>
      intent.kind === 'add' && bookings.get(id)?.change === intent.change;
    const count = changing.filter(isEqual).length;
    const isHalf = count * 2 >= changing.length || count * 2 >= bookings.size;
    if (count > 0) candidates.push({ info, count, isHalfEqual: isHalf });
  }
  const [most] = candidates.sort(
    (a, b) => Number(b.isHalfEqual) - Number(a.isHalfEqual) || b.count - a.count,
  );
  return most;
}

/** Finds the other runs on the target that add, the newest first, without runs of other shards. */
function findAddingRuns(list: RunList, { header, journal }: Run): RunInfo[] {
  return runsOnTarget(list, header.target).filter(
    ({ id, header: { kind, flags, noun } }) =>
      kind === 'apply' &&
      flags.relative &&
      noun === header.noun &&
      id !== journal?.id &&
      !areDisjoint(flags.shard, header.flags.shard),
  );
}

/** Reads the bookings of a run by record. If an undo of the run has begun, the outcomes of the undo count. */
async function readBookings(list: RunList, info: RunInfo): Promise<Map<bigint, Booking>> {
  const { rows, undoRows } = await readRowsWithUndo(list, info);
  const bookings = new Map<bigint, Booking>();
  for (const row of rows.values()) {
    if (row.intent.kind !== 'add') continue;
    // A row that is not in the undo was never written, so it is not booked.
    if (undoRows && !undoRows.has(row.id) && !isPerhapsWritten(row)) continue;
    const state = bookingStateOf(row, undoRows?.get(row.id));
    const isUndone = undoRows !== undefined;
    if (state) bookings.set(row.id, { run: info.id, change: row.intent.change, state, isUndone });
  }
  return bookings;
}

/** Reads the rows of a run, and the rows of its last undo. */
async function readRowsWithUndo({ folder }: RunList, { id, undo }: RunInfo) {
  const { rows } = await readRun(folder, id);
  const undoRows = undo && (await readRun(folder, undo.id)).rows;
  return { rows, undoRows };
}

/** Undefined if the row is not booked. */
function bookingStateOf(row: JournalRow, undoRow: JournalRow | undefined): Booking['state'] | undefined {
  const { outcome } = undoRow ?? row;
  if (outcome?.reason?.code === openElsewhereCode) return undefined;
  if (isRetriable({ outcome }) || outcome?.state === 'unknown') return 'open';
  if (undoRow) return outcome?.state === 'failed' ? 'booked' : undefined;
  return outcome?.state === 'applied' ? 'booked' : undefined;
}
