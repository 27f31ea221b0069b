import type { Intent, Outcome, Row } from './decide.ts';

/**
 * The states of rows. `unprocessed` rows have no outcome yet. `invalid` and `skipped` rows are in no plan, because the
 * reader of the input leaves them out.
 */
export const rowStates = [
  'unprocessed',
  'applied',
  'unchanged',
  'failed',
  'unknown',
  'invalid',
  'skipped',
] as const;
export type RowState = (typeof rowStates)[number];
export type StateCounts = Record<RowState, number>;

export function createRow(
  line: number,
  id: bigint,
  intent: Intent,
  { mayCreate = false, undoneRow }: Partial<Pick<Row, 'mayCreate' | 'undoneRow'>> = {},
): Row {
  return {
    line,
    id,
    intent,
    mayCreate,
    undoneRow,
    before: undefined,
    after: undefined,
    mayBeWritten: false,
    mayBeApplied: false,
    outcome: undefined,
  };
}

export function stateOf({ outcome }: Pick<Row, 'outcome'>): Outcome['state'] | 'unprocessed' {
  return outcome?.state ?? 'unprocessed';
}

/**
 * Whether `resume` tries a row again as it tried it first: the row has no outcome, or it failed for a reason that may pass.
 * If the process was killed, a row without an outcome may be written.
 */
export function isRetriable({ outcome }: Pick<Row, 'outcome'>): boolean {
  return !outcome || (outcome.state === 'failed' && outcome.reason?.passes === true);
}

/** Whether `resume` processes a row again: the row is retriable or unknown. */
export function isOpen(row: Pick<Row, 'outcome'>): boolean {
  return isRetriable(row) || row.outcome?.state === 'unknown';
}

/** Whether a run has written a row, or may have. No plan has a row without `before` to write, so no run wrote it. */
export function isPerhapsWritten({
  before,
  outcome,
  mayBeWritten,
}: Pick<Row, 'before' | 'outcome' | 'mayBeWritten'>): boolean {
  if (before === undefined) return false;
  return outcome ? outcome.state === 'applied' || outcome.state === 'unknown' : mayBeWritten;
}

/** The numbers of rows of a run, by their fate. */
export interface RunTotals {
  readonly counts: StateCounts;
  /** The number of rows that `resume` processes again. */
  readonly open: number;
  /** The number of retriable rows: the open ones without the unknown ones. */
  readonly left: number;
}

/** Counts the rows of a run. @param excluded the numbers of rows that are in no plan. */
export function rowTotals(
  rows: readonly Row[],
  excluded: Pick<StateCounts, 'invalid' | 'skipped'> = { invalid: 0, skipped: 0 },
): RunTotals {
  const { invalid, skipped } = excluded;
  const counts = { unprocessed: 0, applied: 0, unchanged: 0, failed: 0, unknown: 0, invalid, skipped };
  for (const row of rows) counts[stateOf(row)] += 1;
  return { counts, open: rows.filter(isOpen).length, left: rows.filter(isRetriable).length };
}
