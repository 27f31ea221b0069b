import type { StopReason } from '../client/pace.ts';
import { monotonicMs } from '../process/deadline.ts';
import { messageOf } from '../process/errors.ts';
import type { Stop } from '../process/signals.ts';
import type { Row } from './decide.ts';
import type { Journal } from './journal.ts';

/** The shortest time between two saves of the embedded store. */
const saveEveryMs = 250;

/**
 * Keeps the outcomes of settled rows in the journal. If the run writes to the embedded store, the outcomes wait until the
 * store is saved. If an outcome cannot be kept, the run stops, because no row may be written without its outcome.
 */
export class OutcomeLog {
  /** The error of the first outcome that could not be kept. The reason of the stop has the same message. */
  error: unknown;
  private readonly journal: Journal;
  private readonly stop: Stop<StopReason>;
  private readonly saveStore: (() => Promise<void>) | undefined;
  /** The settled rows that the saved embedded store lacks. */
  private waiting: Row[] = [];
  private nextSaveMs = monotonicMs() + saveEveryMs;

  /** @param saveStore saves the embedded store; undefined for any other service. */
  constructor(journal: Journal, stop: Stop<StopReason>, saveStore: (() => Promise<void>) | undefined) {
    this.journal = journal;
    this.stop = stop;
    this.saveStore = saveStore;
  }

  async add(row: Row): Promise<void> {
    if (!this.saveStore) return this.keep(row);
    this.waiting.push(row);
    if (monotonicMs() >= this.nextSaveMs) await this.flush();
  }

  /** Saves the embedded store, then keeps the outcomes of the rows that were waiting for it. */
  async flush(): Promise<void> {
    if (!this.saveStore) return;
    const rows = this.waiting;
    this.waiting = [];
    this.nextSaveMs = Number.POSITIVE_INFINITY;
    const startedMs = monotonicMs();
    try {
      await this.saveStore();
    } catch (error) {
      const message = messageOf(error);
      this.stop.stop({ kind: 'partial', message });
      const reason = { code: 'not_saved', message: `the embedded store could not be saved: ${message}` };
      for (const row of rows) row.outcome = { state: 'unknown', reason };
    }
    for (const row of rows) this.keep(row);
    const endedMs = monotonicMs();
    this.nextSaveMs = endedMs + Math.max(saveEveryMs, 4 * (endedMs - startedMs));
  }

  private keep(row: Row): void {
    try {
      if (row.outcome) this.journal.keepOutcome(row, row.outcome);
    } catch (error) {
      this.error = error;
      this.stop.stop({ kind: 'partial', message: messageOf(error) });
    }
  }
}
