import { minuteText } from '../process/text.ts';
import type { Outcome, Row } from '../writes/decide.ts';
import { runsOfDelivery } from './deliveries.ts';
import { type RunInfo, type RunList, readRun, runsOnTarget } from './list-runs.ts';
import { isAppliedOrUncertain, type RunRow, rowName, rowStateOf } from './row.ts';
import { type Run, runKinds } from './run.ts';
import type { SessionRuns } from './session-runs.ts';

// Other runs on the target may have a claim on the rows of a run. A delivery is booked once. An uncertain row stays unknown if another
// run has planned its record since. An undo leaves alone what a later run has written.

/**
 * Finds the claims of other runs on the rows of a session: the outcomes that these rows get, whatever their records show. Reads the
 * journal of each run that can have a claim once.
 *
 * @throws UsageError if a journal that may be of the target cannot be read.
 */
export async function findClaims(
  { list, run, undoneRun }: SessionRuns,
  rows: readonly RunRow[],
): Promise<ReadonlyMap<Row, Outcome>> {
  const { id, header } = run;
  const { target, noun, delivery, flags } = header;
  const deliveries = delivery === null || flags.again ? [] : runsOfDelivery(list, target, delivery);
  const undoneRows = new Map(undoneRun?.rows.map((row) => [row.line, row]));
  const isAfter = (plan: number, row: RunRow) => {
    const base = findBasePlan(row, undoneRows);
    return base !== undefined && plan > base;
  };
  const claims = new Map<Row, Outcome>();
  for (const row of rows) {
    const undoneRow = row.doubt ? undefined : undoneRows.get(row.line);
    const claim = undoneRun && undoneRow && claimOfUndoneRun(undoneRun, undoneRow);
    if (claim) claims.set(row, claim);
  }
  const candidates = rows.filter(
    (row) => deliveries.length > 0 || findBasePlan(row, undoneRows) !== undefined,
  );
  for (const info of candidates.length > 0 ? runsOnTarget(list, target) : []) {
    if (info.id === id || info.id === undoneRun?.id || info.header.noun !== noun) continue;
    const isBooking = deliveries.includes(info);
    const claimedRows = candidates.filter(
      (row) => row.id !== undefined && !claims.has(row) && (isBooking || isAfter(info.planNumber, row)),
    );
    if (claimedRows.length === 0) continue;
    const takenBack = await readTakenBack(list, info);
    const otherRows = new Map((await readRun(list, info.id)).rows.map((row) => [row.id, row]));
    for (const row of claimedRows) {
      const otherRow = otherRows.get(row.id);
      if (!otherRow || (takenBack.has(row.id) && !row.doubt)) continue;
      const claim =
        (isBooking ? claimOfBooking(info, row, otherRow) : undefined) ??
        (isAfter(otherRow.planNumber, row) ? claimOfLaterRun(info, row, otherRow) : undefined);
      if (claim) claims.set(row, claim);
    }
  }
  return claims;
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

/** Returns the claim of a run that has booked the row for the same delivery. */
function claimOfBooking(info: RunInfo, row: Row, other: RunRow): Outcome | undefined {
  const { intent } = row;
  if (intent.kind !== 'add' || other.intent.kind !== 'add') return undefined;
  if (row.doubt || rowStateOf(other) !== 'applied') return undefined;
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
