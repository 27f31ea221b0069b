import { reasonRule } from '../client/reasons.ts';
import type { Row } from '../writes/decide.ts';

/**
 * The states of rows. A row without an outcome is `unprocessed`, or `unsettled` if a killed session may have written it. A
 * `booked` row is unchanged because another run of the delivery has booked it. `invalid` and `skipped` rows are in no plan.
 */
export const rowStates = [
  'applied',
  'unchanged',
  'booked',
  'failed',
  'unknown',
  'invalid',
  'skipped',
  'unprocessed',
  'unsettled',
] as const;
type RowState = (typeof rowStates)[number];

export function rowStateOf({ outcome, doubt }: Row): RowState {
  if (!outcome) return doubt ? 'unsettled' : 'unprocessed';
  const { kind, reason } = outcome;
  return kind === 'unchanged' && reason?.code === 'booked' ? 'booked' : kind;
}

/** Returns true if a row has been written, or may have been. */
export function isAppliedOrUncertain(row: Row): boolean {
  return row.outcome?.kind === 'applied' || row.doubt !== undefined;
}

/** Returns true if a row is left for `resume`: it has no outcome, or it failed for a transient reason. */
export function isLeft({ outcome }: Row): boolean {
  return !outcome || (outcome.kind === 'failed' && outcome.reason?.isTransient === true);
}

/** Returns true if a resume looks at a row: it is left, or unknown. Only a person can settle an unknown create. */
export function isForSession(row: Row): boolean {
  return isLeft(row) || (row.outcome?.kind === 'unknown' && row.intent.kind !== 'create');
}

/** Returns true if only a person can say what happened to a row: it is unknown, and a resume could not find out. */
export function isForPerson({ outcome, intent }: Row): boolean {
  if (outcome?.kind !== 'unknown') return false;
  const { reason } = outcome;
  return intent.kind === 'create' || (reason !== undefined && reasonRule(reason.code).isForPerson === true);
}

/** Returns true if a row is uncertain, and a resume may find out what became of it. */
export function isSettledByResume(row: Row): boolean {
  return row.doubt !== undefined && row.intent.kind !== 'create' && !isForPerson(row);
}

/** The numbers of rows, by their state. */
export type RowCounts = Record<RowState, number>;

export interface RunTotals {
  readonly counts: RowCounts;
  /** The rows that `resume` tries again, without the unknown ones. */
  readonly left: number;
  /** The rows that were written, or may have been. */
  readonly appliedOrUncertain: number;
}

/** Returns the sum of the counts. */
export function rowCountOf(counts: RowCounts): number {
  return rowStates.reduce((sum, state) => sum + counts[state], 0);
}

/** Returns the number of rows that are left or unknown. A finished run has none. */
export function unfinishedCount({ left, counts }: Pick<RunTotals, 'left' | 'counts'>): number {
  return left + counts.unknown;
}

/** Counts the rows of a run. @param excluded the numbers of rows that are in no plan. */
export function rowTotals(
  rows: readonly Row[],
  { invalid, skipped }: Pick<RowCounts, 'invalid' | 'skipped'> = { invalid: 0, skipped: 0 },
): RunTotals {
  const zeros = Object.fromEntries(rowStates.map((state) => [state, 0])) as RowCounts;
  const counts = { ...zeros, invalid, skipped };
  let left = 0;
  let appliedOrUncertain = 0;
  for (const row of rows) {
    counts[rowStateOf(row)] += 1;
    if (isLeft(row)) left += 1;
    if (isAppliedOrUncertain(row)) appliedOrUncertain += 1;
  }
  return { counts, left, appliedOrUncertain };
}
