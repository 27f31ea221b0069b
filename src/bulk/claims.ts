import { minuteText } from '../process/text.ts';
import type { Outcome, Row } from '../writes/row.ts';
import { runsOfDelivery } from './deliveries.ts';
import { type RunInfo, type RunList, readRun, runsOnTarget } from './list-runs.ts';
import { type Run, runKinds } from './run.ts';
import { isAppliedOrUncertain, type RunRow, rowName, rowStateOf } from './run-row.ts';
import type { SessionSubject } from './session-subject.ts';

// Other runs on the target may have a claim on the rows of a run: an outcome that a row gets, whatever its record shows.

/**
 * Finds the claims of other runs on the rows of a session. A row keeps its first claim: of the run that is undone, then of the runs of
 * its delivery, then of later runs, the newest first.
 *
 * @throws UsageError if a journal that may be of the target cannot be read.
 */
export async function findClaims(
  { list, run: { id, header }, undoneRun }: SessionSubject,
  rows: readonly RunRow[],
): Promise<ReadonlyMap<RunRow, Outcome>> {
  const { target, noun, delivery, flags } = header;
  const undoneRows = new Map(undoneRun?.rows.map((row) => [row.line, row]));
  const claims = new Map<RunRow, Outcome>();
  const certainRows = rows.filter(({ doubt }) => !doubt);
  for (const row of certainRows) {
    const undoneRow = undoneRows.get(row.line);
    const claim = undoneRun && undoneRow && claimOfUndoneRun(undoneRun, undoneRow);
    if (claim) claims.set(row, claim);
  }
  for (const info of delivery === null || flags.again ? [] : runsOfDelivery(list, target, delivery))
    if (info.id !== id) await addClaims(claims, list, info, certainRows, claimOfBooking);
  const basePlan = (row: RunRow) => basePlanOf(row, undoneRows);
  const basedRows = rows.filter((row) => row.id !== undefined && Number.isFinite(basePlan(row)));
  for (const info of basedRows.length > 0 ? runsOnTarget(list, target) : []) {
    if (info.id === id || info.id === undoneRun?.id || info.header.noun !== noun) continue;
    const earlierRows = basedRows.filter((row) => basePlan(row) < info.planNumber);
    await addClaims(claims, list, info, earlierRows, (later, row, laterRow) =>
      basePlan(row) < laterRow.planNumber ? claimOfLaterRun(later, row, laterRow) : undefined,
    );
  }
  return claims;
}

/**
 * Adds the claims of one run on the rows that have none. If its undo has taken back a record, the run claims only an uncertain row.
 *
 * @param claimOf returns the claim of the run by its own row for the same record.
 */
async function addClaims(
  claims: Map<RunRow, Outcome>,
  list: RunList,
  info: RunInfo,
  rows: readonly RunRow[],
  claimOf: (info: RunInfo, row: RunRow, otherRow: RunRow) => Outcome | undefined,
): Promise<void> {
  const openRows = rows.filter((row) => !claims.has(row));
  if (openRows.length === 0) return;
  const takenBack = await readTakenBack(list, info);
  const otherRows = new Map((await readRun(list, info.id)).rows.map((row) => [row.id, row]));
  for (const row of openRows) {
    const otherRow = otherRows.get(row.id);
    if (!otherRow || (takenBack.has(row.id) && !row.doubt)) continue;
    const claim = claimOf(info, row, otherRow);
    if (claim) claims.set(row, claim);
  }
}

/**
 * Returns the number of the plan that last sent an uncertain row, or that wrote the value that an undo sets back; Infinity for other
 * rows. A run that has planned the record later has a claim on the row: plan 4 sent 10, plan 6 of another run wrote 12, so the 12
 * says nothing about the 10.
 */
function basePlanOf(row: RunRow, undoneRows: ReadonlyMap<number, RunRow>): number {
  if (row.doubt) return row.planNumber;
  const undoneRow = row.intent.kind === 'add' ? undefined : undoneRows.get(row.line);
  return undoneRow?.planNumber ?? Number.POSITIVE_INFINITY;
}

/** Returns the claim of a run that has booked a certain row for the same delivery. */
function claimOfBooking(info: RunInfo, row: Row, other: RunRow): Outcome | undefined {
  const { intent } = row;
  if (intent.kind !== 'add' || other.intent.kind !== 'add') return undefined;
  if (rowStateOf(other) !== 'applied') return undefined;
  const message = `booked by ${info.id}, ${minuteText(info.started)}`;
  const { change } = other.intent;
  if (change === intent.change) return { kind: 'unchanged', reason: { code: 'booked', message } };
  const difference = `${message} with ${signed(change)}, and the file has ${signed(intent.change)}`;
  return { kind: 'failed', reason: { code: 'booked_otherwise', message: difference } };
}

function signed(change: number): string {
  return change < 0 ? String(change) : `+${change}`;
}

/** Reads the ids of the records that the undo of a run has taken back. */
async function readTakenBack(list: RunList, { undo }: RunInfo): Promise<ReadonlySet<bigint | undefined>> {
  if (!undo) return new Set();
  const { rows } = await readRun(list, undo.id);
  const isTakenBack = (row: Row) => rowStateOf(row) === 'applied' || rowStateOf(row) === 'unchanged';
  return new Set(rows.filter(isTakenBack).map(({ id }) => id));
}

/**
 * Returns the claim of a later run that has planned the record of a row. Only a person can find out what became of an uncertain row.
 * An undo leaves alone a value that the later run has written, or may have written.
 */
function claimOfLaterRun({ id, header }: RunInfo, row: Row, other: RunRow): Outcome | undefined {
  const code = 'later_run';
  if (row.doubt) {
    const message = `run ${id} has planned this record since, so its value proves nothing: look at it, and say what happened`;
    return { kind: 'unknown', reason: { code, message } };
  }
  if (!runKinds[header.kind].canBeUndone || !isAppliedOrUncertain(other)) return undefined;
  const message = `run ${id} has written this record since: undo that run first, or apply the file again`;
  return { kind: 'failed', reason: { code, message, isTransient: true, waitsFor: { run: id } } };
}

/** Returns the claim of the run that is undone: an undo leaves its unknown rows alone until a person has settled them there. */
function claimOfUndoneRun({ id = '' }: Run, undoneRow: RunRow): Outcome | undefined {
  const state = rowStateOf(undoneRow);
  // A person has settled it since.
  if (state === 'failed') return { kind: 'unchanged' };
  if (state === 'applied') return undefined;
  const message = `it is unknown whether run ${id} wrote it: look at it, and say what happened`;
  const waitsFor = { run: id, row: rowName(undoneRow) };
  return { kind: 'failed', reason: { code: 'not_settled', message, isTransient: true, waitsFor } };
}
