import { minuteText } from '../process/text.ts';
import { type Doubt, doubtOf, type Outcome, type Row } from '../writes/row.ts';
import { runsOfDelivery } from './deliveries.ts';
import { type RunList, readLog, runsOnTarget } from './list-runs.ts';
import { type Run, runKinds } from './run.ts';
import { findRow, idOfRow, isLeft, isPerhapsWritten, needsPlan, type RunRow, rowName } from './run-row.ts';
import type { SessionRuns } from './session-runs.ts';

// Other runs on the target may decide rows of a run, whatever the records show. Such an outcome is a claim.

type Claims = ReadonlyMap<RunRow, Outcome>;

/**
 * Finds the claims of other runs on the rows of a session. A claim of the run that is undone comes before one of the same delivery, and
 * that before one of a later run.
 *
 * @throws UsageError if a journal that may be of the target cannot be read.
 */
export async function collectClaims(runs: SessionRuns, rows: readonly RunRow[]): Promise<Claims> {
  const certainRows = rows.filter((row) => !doubtOf(row));
  return new Map([
    ...(await claimsOfLaterRuns(runs, rows)),
    ...(await claimsOfDelivery(runs, certainRows)),
    ...claimsOfUndoneRun(runs, certainRows),
  ]);
}

/**
 * An undo does not touch a row that is unknown in the run that it undoes, until a person has settled it there. It deletes no record with
 * which the service has answered several creates, because the record may have been there before them.
 */
function claimsOfUndoneRun({ log, undoneLog }: SessionRuns, certainRows: readonly RunRow[]): Claims {
  const claims = new Map<RunRow, Outcome>();
  const { undoes } = log.header;
  if (undoes === undefined || !undoneLog) return claims;
  const counts = new Map<bigint | undefined, number>();
  for (const row of undoneLog.header.kind === 'create' ? undoneLog.rows : [])
    counts.set(idOfRow(row), (counts.get(idOfRow(row)) ?? 0) + 1);
  for (const row of certainRows) {
    const undoneRow = findRow(undoneLog.rows, row.line);
    const count = row.id === undefined ? 1 : (counts.get(row.id) ?? 1);
    const claim = count > 1 ? claimOfSharedId(count) : undoneRow && claimOfUndoneRow(undoes, undoneRow, row);
    if (claim) claims.set(row, claim);
  }
  return claims;
}

function claimOfSharedId(count: number): Outcome {
  const message = `the service has answered ${count} creates with this record, so it may have been there before`;
  return { kind: 'failed', reason: { code: 'shared_id', message } };
}

/** A row that another run of its delivery has booked is not booked again. */
async function claimsOfDelivery(
  { list, run, log }: SessionRuns,
  certainRows: readonly RunRow[],
): Promise<Claims> {
  const { target, delivery, flags } = log.header;
  const claims = new Map<RunRow, Outcome>();
  if (delivery === undefined || flags.again) return claims;
  for (const other of runsOfDelivery(list, target, delivery)) {
    if (other.id === run?.id) continue;
    const unclaimedRows = certainRows.filter((row) => !claims.has(row));
    for (const [row, otherRow, undoRow] of await findShared(list, other, unclaimedRows)) {
      const claim = isTakenBack(undoRow) ? undefined : claimOfBooking(other, row, otherRow);
      if (claim) claims.set(row, claim);
    }
  }
  return claims;
}

/**
 * A run that has planned the same record later has a claim on the row of an undo, and on any uncertain row: what the later run wrote
 * hides whether the row was written before.
 */
async function claimsOfLaterRuns(
  { list, run, log: { header }, undoneLog }: SessionRuns,
  rows: readonly RunRow[],
): Promise<Claims> {
  const planNumberOf = (row: RunRow) => ownPlanNumber(row, undoneLog && findRow(undoneLog.rows, row.line));
  const isBefore = (row: RunRow, planNumber: number) => (planNumberOf(row) ?? planNumber) < planNumber;
  const claims = new Map<RunRow, Outcome>();
  if (rows.every((row) => planNumberOf(row) === undefined)) return claims;
  for (const other of runsOnTarget(list, header.target)) {
    if (other.id === run?.id || other.id === header.undoes || other.header.noun !== header.noun) continue;
    const earlierRows = rows.filter(
      (row) => row.id !== undefined && !claims.has(row) && isBefore(row, other.planNumber),
    );
    for (const [row, laterRow, undoRow] of await findShared(list, other, earlierRows)) {
      if (!isBefore(row, laterRow.planNumber)) continue;
      const doubt = doubtOf(row);
      const claim = doubt ? claimOnUncertain(other, doubt) : claimOnUndo(other, laterRow, undoRow);
      if (claim) claims.set(row, claim);
    }
  }
  return claims;
}

/** A row, the row of another run for the same record, and its row in the undo of that other run. */
type SharedRows = readonly [row: RunRow, otherRow: RunRow, undoRow: RunRow | undefined];

async function findShared(list: RunList, other: Run, rows: readonly RunRow[]): Promise<SharedRows[]> {
  if (rows.length === 0) return [];
  const otherRows = await readRowsById(list, other.id);
  const undoRows = await readRowsById(list, other.undo?.id);
  return rows.flatMap((row): SharedRows[] => {
    const otherRow = otherRows.get(row.id);
    return otherRow ? [[row, otherRow, undoRows.get(row.id)]] : [];
  });
}

/** Returns true if an undo has taken back a row. @param undoRow the row of the undo, if it has one. */
function isTakenBack(undoRow: Pick<RunRow, 'state'> | undefined): boolean {
  return undoRow?.state.kind === 'applied' || undoRow?.state.kind === 'unchanged';
}

/**
 * Returns the number of the plan that chose what an uncertain row writes, or the value that an undo takes back. Returns undefined if
 * no later plan matters: `resume` of a run that sets is refused once there is one, and no other certain row replaces a value.
 */
function ownPlanNumber(row: RunRow, undoneRow: RunRow | undefined): number | undefined {
  if (doubtOf(row)) return row.planNumber;
  return row.intent.kind === 'add' ? undefined : undoneRow?.planNumber;
}

function claimOfBooking({ id, started }: Run, row: Row, otherRow: RunRow): Outcome | undefined {
  const { intent } = row;
  if (intent.kind !== 'add' || otherRow.intent.kind !== 'add') return undefined;
  if (otherRow.state.kind !== 'applied') return undefined;
  const message = `booked by ${id}, ${minuteText(started)}`;
  const { change } = otherRow.intent;
  if (change === intent.change) return { kind: 'booked', reason: { code: 'booked', message } };
  const difference = `${message} with ${signed(change)}, and the file has ${signed(intent.change)}`;
  return { kind: 'failed', reason: { code: 'booked_otherwise', message: difference, waitsFor: { run: id } } };
}

function signed(change: number): string {
  return change < 0 ? String(change) : `+${change}`;
}

async function readRowsById(
  list: RunList,
  id: string | undefined,
): Promise<ReadonlyMap<bigint | undefined, RunRow>> {
  if (id === undefined) return new Map();
  return new Map((await readLog(list, id)).rows.map((row) => [idOfRow(row), row]));
}

/** Returns the claim of a later run on a row of an undo. The undo leaves alone what the later run has written, or may have written. */
function claimOnUndo(
  { id, header }: Run,
  laterRow: RunRow,
  undoRow: RunRow | undefined,
): Outcome | undefined {
  const { canBeUndone } = runKinds[header.kind];
  if (isTakenBack(undoRow) || !canBeUndone || !isPerhapsWritten(laterRow)) return undefined;
  const fact = `run ${id} has written this record since`;
  // Somebody has changed the record after that run, so the undo of that run would not help.
  if (undoRow?.state.kind === 'failed' && !isLeft(undoRow))
    return {
      kind: 'failed',
      reason: { code: 'later_run', message: `${fact}, and the undo of that run has left it alone` },
    };
  const message = `${fact}: undo that run first, or apply the file again`;
  return { kind: 'failed', reason: { code: 'later_run', message, isTransient: true, waitsFor: { run: id } } };
}

/** Only a person can find out what became of an uncertain row whose record another run has planned since. */
function claimOnUncertain({ id }: Run, doubt: Doubt): Outcome {
  const message = `run ${id} may have changed this record since, so its value does not show whether this row was written: look at the record, then use \`runs settle\``;
  return { kind: 'unknown', reason: { code: 'later_run', message }, doubt };
}

function claimOfUndoneRow(id: string, undoneRow: RunRow, row: RunRow): Outcome | undefined {
  const state = undoneRow.state.kind;
  // A person has settled the row of that run as failed, so there is nothing to undo.
  if (state === 'failed') return { kind: 'unchanged' };
  if (state === 'applied' && row.id !== undefined) return undefined;
  // The value of its record shows whether a killed session has set it: the new one is set back, the old one is left as it is.
  if (state === 'unsettled' && undoneRow.intent.kind === 'set' && undoneRow.planned?.action === 'set')
    return undefined;
  if (state === 'applied')
    return { kind: 'failed', reason: { code: 'no_id', message: 'no answer gave the id of its record' } };
  // No reading finds what a create has made.
  const isFound = needsPlan(undoneRow) && undoneRow.intent.kind !== 'create';
  const first = isFound ? `\`petstore resume ${id}\` may find out if no undo of it has begun; else ` : '';
  const message = `it is unknown whether run ${id} wrote this record: ${first}look at the record, then settle the row in that run`;
  const waitsFor = { run: id, row: rowName(undoneRow) };
  return { kind: 'failed', reason: { code: 'not_settled', message, isTransient: true, waitsFor } };
}
