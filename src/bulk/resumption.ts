import { readLineAt } from './journal-reader.ts';
import type { Ledger } from './ledger.ts';
import type { Replay } from './replay.ts';
import type { Rows } from './rows.ts';

/** Past so long without a line, a count that a plan saw may be older than one that somebody else has set since. */
const staleAfterMs = 3_600_000;

/** Whether a run must read the current counts again before it goes on. */
export function mustPlanAgain(replay: Replay, nowMs: number): boolean {
  if (replay.header.options.blind) return false;
  // A clock that was set back since makes no plan young.
  return !replay.isPlanned || replay.hasETags || Math.abs(nowMs - replay.lastAt) > staleAfterMs;
}

/** What is in no line of a whole plan needed no change. */
export function settleUnplanned(rows: Rows, { isPlanned, header }: Replay): void {
  if (!isPlanned || header.options.blind) return;
  for (const row of rows.inState('unprocessed'))
    if (rows.before(row) === undefined) rows.setState(row, 'unchanged');
}

/**
 * Makes the rows of a journal those that a next session goes on with: what is not known to be as the file says is
 * unprocessed again; what failed before it was sent stays failed, unless the plan is made again.
 */
export function reopenRows(rows: Rows, replay: Replay, plan: 'again' | 'known'): void {
  settleUnplanned(rows, replay);
  for (let row = 0; row < rows.length; row += 1) {
    const wasSent = replay.header.options.blind || rows.before(row) !== undefined;
    const isOpen = rows.isState(row, 'failed') || rows.isState(row, 'unknown');
    if (isOpen && (plan === 'again' || wasSent)) rows.setState(row, 'unprocessed');
  }
}

/** Counts the failures of an earlier session that stand. */
export async function restoreFailures(
  ledger: Ledger,
  { failureAt }: Replay,
  journalPath: string,
): Promise<void> {
  for (const row of ledger.rows.inState('failed')) {
    const line = await readLineAt(journalPath, failureAt.get(row));
    if (line && 'row' in line) ledger.restore(row, { ...line, state: 'failed' });
  }
}
