import type { StopReason } from '../client/pace.ts';
import { monotonicMs } from '../process/deadline.ts';
import { messageOf } from '../process/errors.ts';
import type { Stop } from '../process/signals.ts';
import type { Outcome, Row } from '../writes/decide.ts';
import type { Settled } from '../writes/settle.ts';
import type { Journal } from './journal.ts';
import type { RunChange } from './run.ts';

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
  const mostTogether = ({ intent, planned }: Row) => {
    if (planned?.action === 'create') return atOnce;
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

/** Keeps the outcomes of rows in a journal. */
interface OutcomeKeeper {
  keep(row: Row, settled: Pick<Settled, 'outcome' | 'doubt'>): Promise<void>;
  /** Keeps what still waits. Call it at the end. */
  flush(): Promise<void>;
}

/**
 * If the run writes to the embedded store, outcomes wait until the store is saved: at most once a second, and at the end. If
 * an outcome cannot be kept, the run stops, because no row may be written without its outcome.
 */
export function createOutcomeKeeper(
  journal: Journal,
  stop: Stop<StopReason>,
  saveStore: (() => Promise<void>) | undefined,
): OutcomeKeeper {
  let waiting: Extract<RunChange, { kind: 'outcome' }>[] = [];
  let nextSaveMs = monotonicMs() + saveEveryMs;
  const flush = async () => {
    const kept = waiting;
    waiting = [];
    nextSaveMs = Number.POSITIVE_INFINITY;
    let lost: { readonly outcome: Outcome; readonly doubt: 'sent' } | undefined;
    try {
      await saveStore?.();
    } catch (error) {
      const message = `the embedded store could not be saved: ${messageOf(error)}`;
      stop.stop({ kind: 'partial', message });
      lost = { outcome: { kind: 'unknown', reason: { code: 'not_saved', message } }, doubt: 'sent' };
    }
    for (const event of kept)
      try {
        // A row that was certainly not written stays so.
        journal.keep(lost && event.outcome.kind === 'applied' ? { ...event, ...lost } : event);
      } catch (error) {
        stop.stop({ kind: 'partial', message: messageOf(error) });
      }
    nextSaveMs = monotonicMs() + saveEveryMs;
  };
  return {
    async keep(row, { outcome, doubt }) {
      if (!outcome) return;
      waiting.push({ kind: 'outcome', row, outcome, doubt });
      if (!saveStore || monotonicMs() >= nextSaveMs) await flush();
    },
    flush,
  };
}
