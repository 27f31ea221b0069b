import type { Signal } from '../process/errors.ts';
import { type Interrupts, StoppedError } from '../process/signals.ts';
import { durationText } from '../process/text.ts';

/** How long a pending create may still be answered after the run was stopped. */
const createMs = 2000;
/** How long cleaning up may take: after a signal, and otherwise. */
const hurriedMs = 10_000;
const unhurriedMs = 30_000;

/**
 * Ends a run early. The first signal, or the end of its time, stops the checks and starts the cleaning up; a signal after
 * that abandons the cleaning up too.
 */
export class SmokeStop {
  /** The signal that came first. */
  signal: Signal | undefined;
  private readonly stopping = new AbortController();
  private readonly creating = new AbortController();
  private readonly cutting = new AbortController();
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly giveBack: () => void;

  /** @param onSignal called with the first signal. */
  constructor(interrupts: Interrupts, maxTimeMs: number | undefined, onSignal: (signal: Signal) => void) {
    this.giveBack = interrupts.take((signal) => {
      if (this.signal) this.abandon('stopped by a second signal');
      else {
        this.signal = signal;
        this.stop('the run was interrupted');
        this.abandonAfter(hurriedMs + createMs);
        onSignal(signal);
      }
    });
    if (maxTimeMs !== undefined)
      this.after(maxTimeMs, () => this.stop(`the time of ${durationText(maxTimeMs)} is over (--max-time)`));
  }

  /** Aborted when the checks are stopped. */
  get stopped(): AbortSignal {
    return this.stopping.signal;
  }

  /** Why the checks were stopped, a clause; undefined if they were not. */
  get reason(): string | undefined {
    return this.stopped.aborted ? (this.stopped.reason as StoppedError).message : undefined;
  }

  /** Aborts a pending create: later than the checks, so that its answer can still name the record to remove. */
  get createSignal(): AbortSignal {
    return this.creating.signal;
  }

  /** Aborted when cleaning up is abandoned. */
  get cut(): AbortSignal {
    return this.cutting.signal;
  }

  /** To be called when cleaning up begins, so that it ends. */
  limitCleanUp(): void {
    if (!this.signal) this.abandonAfter(unhurriedMs);
  }

  /** Gives the signals back. */
  release(): void {
    this.giveBack();
    for (const timer of this.timers) clearTimeout(timer);
  }

  private stop(why: string): void {
    if (this.stopped.aborted) return;
    this.stopping.abort(new StoppedError(why));
    this.after(createMs, () => this.creating.abort(new StoppedError(why)));
  }

  private abandonAfter(ms: number): void {
    this.after(ms, () => this.abandon('the time for cleaning up is over'));
  }

  private abandon(why: string): void {
    this.creating.abort(new StoppedError(why));
    this.cutting.abort(new StoppedError(why));
  }

  private after(ms: number, work: () => void): void {
    this.timers.push(setTimeout(work, ms));
  }
}
