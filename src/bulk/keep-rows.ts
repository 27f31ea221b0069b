import type { StopReason } from '../client/pace.ts';
import { monotonicMs } from '../process/deadline.ts';
import { messageOf } from '../process/errors.ts';
import type { Stop } from '../process/signals.ts';
import { type Outcome, plannedOf, type Row } from '../writes/decide.ts';
import type { Journal } from './journal.ts';

/**
 * Yields the rows of a plan, and marks them before they go out: after a power cut, a row without a mark was certainly never
 * sent. Rows are marked together, because each mark waits for the disk. Of marked rows without an outcome a resume must read
 * each, and of a create nobody can tell, so only as many of these are marked as are sent at once. If a mark cannot be kept,
 * the run stops.
 */
export function* markBeforeSending(
  changes: readonly Row[],
  journal: Journal,
  stop: Stop<StopReason>,
  atOnce: number,
): Generator<Row> {
  const mostTogether = ({ intent, state }: Row) => {
    if (plannedOf({ state })?.action === 'create') return atOnce;
    return intent.kind === 'set' && intent.expected === undefined ? 512 : 64;
  };
  for (let from = 0; from < changes.length; ) {
    const rows: Row[] = [];
    let most = Number.POSITIVE_INFINITY;
    for (const row of changes.slice(from, from + 512)) {
      most = Math.min(most, mostTogether(row));
      if (rows.length >= most) break;
      rows.push(row);
    }
    from += rows.length;
    try {
      journal.keep({ kind: 'mark', rows });
      journal.sync();
    } catch (error) {
      stop.stop({ kind: 'partial', message: messageOf(error) });
      return;
    }
    yield* rows;
  }
}

/** The shortest time between two saves of the embedded store. */
const saveEveryMs = 1000;

/**
 * Returns the function that keeps the outcome of a row in the journal. If the run writes to the embedded store, outcomes wait
 * until the store is saved: at most once a second, and when the function is called without a row. If an outcome cannot be
 * kept, the run stops, because no row may be written without its outcome.
 */
export function createOutcomeKeeper(
  journal: Journal,
  stop: Stop<StopReason>,
  saveStore: (() => Promise<void>) | undefined,
): (row?: Row, outcome?: Outcome) => Promise<void> {
  let waiting: (readonly [row: Row, outcome: Outcome])[] = [];
  let nextSaveMs = monotonicMs() + saveEveryMs;
  return async (row, outcome) => {
    if (row && outcome) waiting.push([row, outcome]);
    if (saveStore && row && monotonicMs() < nextSaveMs) return;
    const kept = waiting;
    waiting = [];
    nextSaveMs = Number.POSITIVE_INFINITY;
    let failure: Outcome | undefined;
    try {
      await saveStore?.();
    } catch (error) {
      const message = `the embedded store could not be saved: ${messageOf(error)}`;
      stop.stop({ kind: 'partial', message });
      failure = { state: 'unknown', reason: { code: 'not_saved', message }, mayBeApplied: true };
    }
    for (const [keptRow, result] of kept)
      try {
        // A row that was certainly not written stays so.
        journal.keep({
          kind: 'outcome',
          row: keptRow,
          outcome: failure && result.state === 'applied' ? failure : result,
        });
      } catch (error) {
        stop.stop({ kind: 'partial', message: messageOf(error) });
      }
    nextSaveMs = monotonicMs() + saveEveryMs;
  };
}
