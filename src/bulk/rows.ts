import type { Intent, Outcome, Row } from './decide.ts';

/**
 * The states of rows. `invalid` and `skipped` rows were left out when the input was read; `unprocessed` ones have no
 * outcome yet.
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
    isSent: false,
    mayBeApplied: false,
    outcome: undefined,
  };
}

export function stateOf({ outcome }: Pick<Row, 'outcome'>): Outcome['state'] | 'unprocessed' {
  return outcome?.state ?? 'unprocessed';
}

/** Whether a row was certainly not written and may still be: it is unprocessed, or has failed for a reason that may pass. */
export function isLeft({ outcome }: Pick<Row, 'outcome'>): boolean {
  return !outcome || (outcome.state === 'failed' && outcome.reason?.passes === true);
}

/** Whether `resume` takes a row: it is left or unknown. */
export function isOpen(row: Pick<Row, 'outcome'>): boolean {
  return isLeft(row) || row.outcome?.state === 'unknown';
}

/** Whether a run has written a row, or may have. A row without a value before was never to be written. */
export function isPerhapsWritten({
  before,
  outcome,
  isSent,
}: Pick<Row, 'before' | 'outcome' | 'isSent'>): boolean {
  if (before === undefined) return false;
  return outcome ? outcome.state === 'applied' || outcome.state === 'unknown' : isSent;
}

/** What has become of the rows of a run. */
export interface RunTotals {
  readonly counts: StateCounts;
  /** How many rows `resume` takes, and how many of those were certainly not written. */
  readonly open: number;
  readonly left: number;
}

/** @param excluded the rows of the input that were left out from the start */
export function rowTotals(
  rows: readonly Row[],
  excluded: Pick<StateCounts, 'invalid' | 'skipped'> = { invalid: 0, skipped: 0 },
): RunTotals {
  const { invalid, skipped } = excluded;
  const counts = { unprocessed: 0, applied: 0, unchanged: 0, failed: 0, unknown: 0, invalid, skipped };
  for (const row of rows) counts[stateOf(row)] += 1;
  return { counts, open: rows.filter(isOpen).length, left: rows.filter(isLeft).length };
}
