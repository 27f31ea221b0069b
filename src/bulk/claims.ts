import { minuteText } from '../process/text.ts';
import type { Outcome, Row } from '../writes/decide.ts';
import { runsOfDelivery } from './deliveries.ts';
import { type RunInfo, type RunList, readRun, runsOnTarget } from './list-runs.ts';
import { isAppliedOrUncertain, type RunRow, rowName, rowStateOf } from './row.ts';
import { type Run, runKinds } from './run.ts';
import type { SessionRuns } from './session-runs.ts';

// Other runs on the target may have a claim on the rows of a run: an outcome that a row gets, whatever its record shows.

type Claims = Map<RunRow, Outcome>;

/**
 * Finds the claims of other runs on the rows of a session. The claim of an undone run goes before that of a later run. A delivery and a
 * later run never claim the same row.
 *
 * @throws UsageError if a journal that may be of the target cannot be read.
 */
export async function findClaims(runs: SessionRuns, rows: readonly RunRow[]): Promise<Claims> {
  const undoneRows = new Map(runs.undoneRun?.rows.map((row) => [row.line, row]));
  const claims = claimsOfUndoneRun(runs, rows, undoneRows);
  const openRows = rows.filter((row) => !claims.has(row));
  for (const [row, claim] of await claimsOfDelivery(runs, openRows)) claims.set(row, claim);
  for (const [row, claim] of await claimsOfLaterRuns(runs, openRows, undoneRows)) claims.set(row, claim);
  return claims;
}

/** An undo leaves unknown rows of its run alone until a person has settled them there. @param undoneRows by line. */
function claimsOfUndoneRun(
  { undoneRun }: SessionRuns,
  rows: readonly RunRow[],
  undoneRows: ReadonlyMap<number, RunRow>,
): Claims {
  const claims: Claims = new Map();
  for (const row of rows) {
    const undoneRow = row.doubt ? undefined : undoneRows.get(row.line);
    const claim = undoneRun && undoneRow && claimOfUndoneRun(undoneRun, undoneRow);
    if (claim) claims.set(row, claim);
  }
  return claims;
}

/** A delivery is booked once. */
async function claimsOfDelivery(
  { list, run: { id, header } }: SessionRuns,
  rows: readonly RunRow[],
): Promise<Claims> {
  const claims: Claims = new Map();
  const { target, delivery, flags } = header;
  for (const info of delivery === null || flags.again ? [] : runsOfDelivery(list, target, delivery)) {
    const openRows = rows.filter((row) => !row.doubt && !claims.has(row));
    if (info.id !== id) await addClaims(claims, list, info, openRows, claimOfBooking);
  }
  return claims;
}

/** An uncertain row stays unknown, and an undo leaves a row alone, if a later run has planned its record. @param undoneRows by line. */
async function claimsOfLaterRuns(
  { list, run: { id, header }, undoneRun }: SessionRuns,
  rows: readonly RunRow[],
  undoneRows: ReadonlyMap<number, RunRow>,
): Promise<Claims> {
  const claims: Claims = new Map();
  const isAfter = (plan: number, row: RunRow) =>
    plan > (findBasePlan(row, undoneRows) ?? Number.POSITIVE_INFINITY);
  const candidates = rows.filter(
    (row) => row.id !== undefined && findBasePlan(row, undoneRows) !== undefined,
  );
  for (const info of candidates.length > 0 ? runsOnTarget(list, header.target) : []) {
    if (info.id === id || info.id === undoneRun?.id || info.header.noun !== header.noun) continue;
    const openRows = candidates.filter((row) => !claims.has(row) && isAfter(info.planNumber, row));
    await addClaims(claims, list, info, openRows, (later, row, laterRow) =>
      isAfter(laterRow.planNumber, row) ? claimOfLaterRun(later, row, laterRow) : undefined,
    );
  }
  return claims;
}

/** Adds the claims of one run on rows. On a record that its undo has taken back it has only claims on uncertain rows. */
async function addClaims(
  claims: Claims,
  list: RunList,
  info: RunInfo,
  rows: readonly RunRow[],
  claimOf: (info: RunInfo, row: RunRow, claimant: RunRow) => Outcome | undefined,
): Promise<void> {
  if (rows.length === 0) return;
  const takenBack = await readTakenBack(list, info);
  const claimants = new Map((await readRun(list, info.id)).rows.map((row) => [row.id, row]));
  for (const row of rows) {
    const claimant = claimants.get(row.id);
    const claim =
      claimant && (row.doubt || !takenBack.has(row.id)) ? claimOf(info, row, claimant) : undefined;
    if (claim) claims.set(row, claim);
  }
}

/**
 * Returns the number of the plan that last sent an uncertain row, or that wrote the value that an undo sets back. Other rows have
 * no such plan. A run that has planned the record later has a claim on the row: plan 4 sent 10, plan 6 of another run wrote 12, so
 * the 12 says nothing about the 10.
 */
function findBasePlan(row: RunRow, undoneRows: ReadonlyMap<number, RunRow>): number | undefined {
  if (row.doubt) return row.planNumber;
  return row.intent.kind === 'add' ? undefined : undoneRows.get(row.line)?.planNumber;
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
