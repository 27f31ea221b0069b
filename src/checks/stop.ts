import type { Signal } from '../process/io.ts';
import { type Interrupts, Stop } from '../process/signals.ts';

interface Patience {
  /** How long a pending create may still be answered. */
  readonly creatingMs: number;
  /** How long to look for a record that an unanswered create may still make. */
  readonly lookMs: number;
  readonly cleaningMs: number;
}

const unhurried: Patience = { creatingMs: 0, lookMs: 2000, cleaningMs: 30_000 };
/** A person at the keyboard waits longer than a supervisor, which kills the process soon. */
const patienceAfter: Readonly<Record<Signal, Patience>> = {
  SIGINT: { creatingMs: 3000, lookMs: 2000, cleaningMs: 10_000 },
  SIGTERM: { creatingMs: 400, lookMs: 500, cleaningMs: 1200 },
};

/** The first signal stops the checks and starts the cleaning up; the second abandons that too. */
export class SmokeStop extends Stop<Signal> {
  /** Aborts a pending create: later than the checks, so that its answer can still name the record to remove. */
  readonly creating: AbortSignal;
  /** Gives the signals back. */
  readonly release: () => void;
  private patience = unhurried;
  private cleaningTimer: NodeJS.Timeout | undefined;

  /** @param onFirst called with the first signal. */
  constructor(interrupts: Interrupts, onFirst: (signal: Signal) => void) {
    super();
    const late = new AbortController();
    let creatingTimer: NodeJS.Timeout | undefined;
    this.creating = AbortSignal.any([late.signal, this.cut]);
    const giveBack = this.takeSignals(interrupts, (signal) => {
      this.patience = patienceAfter[signal];
      this.stop(signal);
      creatingTimer = setTimeout(() => late.abort(this.stopped.reason), this.patience.creatingMs);
      if (this.cleaningTimer) this.limitCleaning();
      onFirst(signal);
    });
    this.release = () => {
      clearTimeout(creatingTimer);
      giveBack();
    };
  }

  get lookMs(): number {
    return this.patience.lookMs;
  }

  /** Limits the time of cleaning up. */
  async whileCleaning<Value>(work: () => Promise<Value>): Promise<Value> {
    this.limitCleaning();
    try {
      return await work();
    } finally {
      clearTimeout(this.cleaningTimer);
      this.cleaningTimer = undefined;
    }
  }

  private limitCleaning(): void {
    clearTimeout(this.cleaningTimer);
    const late = () => this.abandon('the time for cleaning up is over');
    this.cleaningTimer = setTimeout(late, this.patience.cleaningMs);
  }
}
