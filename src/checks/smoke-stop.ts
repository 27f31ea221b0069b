import type { Signal } from '../process/io.ts';
import { type Interrupts, Stop } from '../process/signals.ts';

/** How long a pending create may still be answered after a signal. */
const createMs = 2000;
/** How long cleaning up may take: after a signal, and otherwise. */
const hurriedMs = 10_000;
const unhurriedMs = 30_000;

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
      createTimer = setTimeout(() => late.abort(this.stopped.reason), createMs);
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
    return this.reason ? hurriedMs : unhurriedMs;
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
