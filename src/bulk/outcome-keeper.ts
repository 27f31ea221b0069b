import type { StopReason } from '../client/pace.ts';
import { monotonicMs } from '../process/deadline.ts';
import { messageOf } from '../process/errors.ts';
import type { Stop } from '../process/signals.ts';
import type { Outcome, Row } from '../writes/decide.ts';
import type { Journal } from './journal.ts';

/** The shortest time between two saves of the embedded store. */
const saveEveryMs = 250;

/**
 * Keeps the outcomes of settled rows in the journal. If the run writes to the embedded store, the outcomes wait until the
 * store is saved. If an outcome cannot be kept, the run stops, because no row may be written without its outcome.
 */
export class OutcomeKeeper {
  private readonly journal: Journal;
  private readonly stop: Stop<StopReason>;
  private readonly saveStore: (() => Promise<void>) | undefined;
  /** The outcomes that the saved embedded store lacks. */
  private waiting: (readonly [row: Row, outcome: Outcome])[] = [];
  private nextSaveMs = monotonicMs() + saveEveryMs;

  /** @param saveStore saves the embedded store; undefined for any other service. */
  constructor(journal: Journal, stop: Stop<StopReason>, saveStore: (() => Promise<void>) | undefined) {
    this.journal = journal;
    this.stop = stop;
    this.saveStore = saveStore;
  }

  async keep(row: Row, outcome: Outcome): Promise<void> {
    if (!this.saveStore) return this.append(row, outcome);
    this.waiting.push([row, outcome]);
    if (monotonicMs() >= this.nextSaveMs) await this.flush();
  }

  /** Saves the embedded store, then keeps the outcomes that were waiting for it. */
  async flush(): Promise<void> {
    if (!this.saveStore) return;
    const kept = this.waiting;
    this.waiting = [];
    this.nextSaveMs = Number.POSITIVE_INFINITY;
    const startedMs = monotonicMs();
    let failure: Outcome | undefined;
    try {
      await this.saveStore();
    } catch (error) {
      const message = messageOf(error);
      this.stop.stop({ kind: 'partial', message });
      const reason = { code: 'not_saved', message: `the embedded store could not be saved: ${message}` };
      failure = { state: 'unknown', reason, mayBeApplied: true };
    }
    // A row that was certainly not written stays so.
    for (const [row, outcome] of kept)
      this.append(row, failure && outcome.state === 'applied' ? failure : outcome);
    const endedMs = monotonicMs();
    this.nextSaveMs = endedMs + Math.max(saveEveryMs, 4 * (endedMs - startedMs));
  }

  private append(row: Row, outcome: Outcome): void {
    this.stopOnFailure(() => this.journal.keep({ kind: 'outcome', row, outcome }));
  }

  private stopOnFailure(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.stop.stop({ kind: 'partial', message: messageOf(error) });
    }
  }
}
