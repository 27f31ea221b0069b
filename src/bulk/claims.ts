import { minuteText } from '../process/text.ts';
import type { Outcome, Row } from '../writes/row.ts';
import { runsOfDelivery } from './deliveries.ts';
import { type RunInfo, type RunList, readRun, runsOnTarget } from './list-runs.ts';
import { type Run, runKinds } from './run.ts';
import { isLeft, isPerhapsWritten, type RunRow, rowName, rowStateOf } from './run-row.ts';
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
    if (info.id !== id)
      await addClaims(claims, list, info, certainRows, (row, other, undoRow) =>
        isTakenBack(undoRow) ? undefined : claimOfBooking(info, row, other),
      );
  const ownPlanNumber = (row: RunRow) => ownPlanNumberOf(row, undoneRows.get(row.line));
  const replaceableRows = rows.filter((row) => row.id !== undefined && Number.isFinite(ownPlanNumber(row)));
  for (const info of replaceableRows.length > 0 ? runsOnTarget(list, target) : []) {
    if (info.id === id || info.id === undoneRun?.id || info.header.noun !== noun) continue;
    const earlierRows = replaceableRows.filter((row) => ownPlanNumber(row) < info.planNumber);
    const claimOf = undoneRun ? claimOnUndo : claimOnResume;
    await addClaims(claims, list, info, earlierRows, (row, laterRow, undoRow) =>
      hasPlannedSince(row, laterRow, ownPlanNumber(row)) ? claimOf(info, row, laterRow, undoRow) : undefined,
    );
  }
  return claims;
}

/**
 * Adds the claims of one run on the rows that have none.
 *
 * @param claimOf returns the claim by the run's own row for the same record, and that of its undo.
 */
async function addClaims(
  claims: Map<RunRow, Outcome>,
  list: RunList,
  info: RunInfo,
  rows: readonly RunRow[],
  claimOf: (row: RunRow, otherRow: RunRow, undoRow: RunRow | undefined) => Outcome | undefined,
): Promise<void> {
  const openRows = rows.filter((row) => !claims.has(row));
  if (openRows.length === 0) return;
  const otherRows = await readRowsById(list, info.id);
  const undoRows = await readRowsById(list, info.undo?.id);
  for (const row of openRows) {
    const otherRow = otherRows.get(row.id);
    const claim = otherRow && claimOf(row, otherRow, undoRows.get(row.id));
    if (claim) claims.set(row, claim);
  }
}

/**
 * Returns the number of the plan that a row rests on. A later plan of another run has a claim on the row: plan 4 of this run sent 10,
 * and plan 6 of another run wrote 12, so the 12 says nothing about the 10, and must not become 10. Infinity if no later plan has a
 * claim: rows that add do not replace a value, and a new run is the last.
 *
 * @param undoneRow the row that an undo takes back. Its plan counts, because its value is set back.
 */
function ownPlanNumberOf(row: RunRow, undoneRow: RunRow | undefined): number {
  if (row.doubt) return row.planNumber;
  if (undoneRow) return row.intent.kind === 'add' ? Number.POSITIVE_INFINITY : undoneRow.planNumber;
  return row.intent.kind === 'set' && row.planNumber > 0 ? row.planNumber : Number.POSITIVE_INFINITY;
}

/** Returns true if a later plan was to write the record of a row, or found the value there that it asks for. */
function hasPlannedSince({ intent }: Row, laterRow: RunRow, ownPlanNumber: number): boolean {
  return (
    ownPlanNumber < laterRow.planNumber || (intent.kind === 'set' && laterRow.outcome?.kind === 'unchanged')
  );
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

/** Reads the rows of a run by the ids of their records. */
async function readRowsById(
  list: RunList,
  id: string | undefined,
): Promise<ReadonlyMap<bigint | undefined, RunRow>> {
  if (id === undefined) return new Map();
  return new Map((await readRun(list, id)).rows.map((row) => [row.id, row]));
}

/** Returns true if an undo has taken back a row. */
function isTakenBack(undoRow: RunRow | undefined): boolean {
  return undoRow?.outcome?.kind === 'applied' || undoRow?.outcome?.kind === 'unchanged';
}

/** Returns the claim of a later run on a row of a resumed run: its value is not replaced, even if it was taken back. */
function claimOnResume({ id }: RunInfo, { doubt }: Row): Outcome {
  if (doubt) return leaveToPerson(id);
  const message = `run ${id} has planned this record since: apply the file again if it is still right`;
  return { kind: 'failed', reason: { code: 'later_run', message } };
}

/** Returns the claim of a later run on a row of an undo, which leaves alone what that run has written, or may have written. */
function claimOnUndo(
  { id, header }: RunInfo,
  { doubt }: Row,
  laterRow: RunRow,
  undoRow: RunRow | undefined,
): Outcome | undefined {
  if (doubt) return leaveToPerson(id);
  const { canBeUndone } = runKinds[header.kind];
  if (isTakenBack(undoRow) || !canBeUndone || !isPerhapsWritten(laterRow)) return undefined;
  const fact = `run ${id} has written this record since`;
  // Somebody else has changed it after that run, so it is never taken back.
  if (undoRow?.outcome?.kind === 'failed' && !isLeft(undoRow))
    return {
      kind: 'failed',
      reason: { code: 'later_run', message: `${fact}, and its undo has left it alone` },
    };
  const message = `${fact}: undo that run first, or apply the file again`;
  return { kind: 'failed', reason: { code: 'later_run', message, isTransient: true, waitsFor: { run: id } } };
}

/** Only a person can find out what became of an uncertain row whose record another run has planned since. */
function leaveToPerson(id: string): Outcome {
  const message = `run ${id} has planned this record since, so its value proves nothing: look at it, and say what happened`;
  return { kind: 'unknown', reason: { code: 'later_run', message } };
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
