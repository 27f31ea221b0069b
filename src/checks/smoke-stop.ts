import type { Signal } from '../process/io.ts';
import { type Interrupts, Stop } from '../process/signals.ts';

interface Patience {
  /** How long a pending create may still be answered. */
  readonly createMs: number;
  readonly cleanUpMs: number;
}

const unhurried: Patience = { createMs: 0, cleanUpMs: 30_000 };
/** A person at the keyboard waits longer than a supervisor, which kills the process soon. */
const patienceAfter: Readonly<Record<Signal, Patience>> = {
  SIGINT: { createMs: 3000, cleanUpMs: 10_000 },
  SIGTERM: { createMs: 400, cleanUpMs: 1200 },
};

/** The first signal stops the checks and starts the cleaning up; the second abandons that too. */
export class SmokeStop extends Stop<Signal> {
  /** Aborts a pending create: later than the checks, so that its answer can still name the record to remove. */
  readonly creating: AbortSignal;
  /** Gives the signals back. */
  readonly release: () => void;
  private cleanUpTimer: NodeJS.Timeout | undefined;

  /** @param onFirst called with the first signal. */
  constructor(interrupts: Interrupts, onFirst: (signal: Signal) => void) {
    super();
    const late = new AbortController();
    let createTimer: NodeJS.Timeout | undefined;
    this.creating = AbortSignal.any([late.signal, this.cut]);
    const giveBack = this.takeSignals(interrupts, (signal) => {
      this.stop(signal);
      createTimer = setTimeout(() => late.abort(this.stopped.reason), patienceAfter[signal].createMs);
      if (this.cleanUpTimer) this.limitCleanUp();
      onFirst(signal);
    });
    this.release = () => {
      clearTimeout(createTimer);
      giveBack();
    };
  }

  /** The longest that cleaning up may take now. */
  get cleanUpMs(): number {
    return (this.reason ? patienceAfter[this.reason] : unhurried).cleanUpMs;
  }

  /** Limits the time of cleaning up. */
  async whileCleaning<Value>(work: () => Promise<Value>): Promise<Value> {
    this.limitCleanUp();
    try {
      return await work();
    } finally {
      clearTimeout(this.cleanUpTimer);
      this.cleanUpTimer = undefined;
    }
  }

  private limitCleanUp(): void {
    clearTimeout(this.cleanUpTimer);
    const late = () => this.abandon('the time for cleaning up is over');
    this.cleanUpTimer = setTimeout(late, this.cleanUpMs);
  }
}
