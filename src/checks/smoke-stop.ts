import { longestTimerMs } from '../process/deadline.ts';
import type { Signal } from '../process/errors.ts';
import { type Interrupts, StoppedError } from '../process/signals.ts';
import { durationText } from '../process/text.ts';

/** How long a pending create may still be answered after the run was stopped. */
const createMs = 2000;
/** How long the cleaning up of a run may take. */
const cleanUpMs = 10_000;

/**
 * Ends a run early. The first signal, or the end of its time, stops the checks, and the cleaning up begins; another
 * signal abandons that too.
 */
export class SmokeStop {
  /** The signal that came first. */
  signal: Signal | undefined;
  /** Gives the signals back. */
  readonly release: () => void;
  private readonly stopping = new AbortController();
  private readonly creating = new AbortController();
  private readonly abandoning = new AbortController();

  /** @param onSignal called with the first signal. */
  constructor(interrupts: Interrupts, maxTimeMs: number | undefined, onSignal: (signal: Signal) => void) {
    this.release = interrupts.take((signal) => {
      if (this.signal) return this.abandon();
      this.signal = signal;
      this.stop('the run was interrupted');
      onSignal(signal);
    });
    if (maxTimeMs === undefined) return;
    const why = `the time of ${durationText(maxTimeMs)} is over (--max-time)`;
    setTimeout(() => this.stop(why), Math.min(maxTimeMs, longestTimerMs)).unref();
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

  /** The signal for a cleaning up that begins now: aborted when its time is over, or when it is abandoned. */
  cleanUpSignal(): AbortSignal {
    const limit = new AbortController();
    const late = () => limit.abort(new StoppedError('the time for cleaning up is over'));
    setTimeout(late, cleanUpMs).unref();
    return AbortSignal.any([this.abandoning.signal, limit.signal]);
  }

  private stop(why: string): void {
    if (this.stopped.aborted) return;
    this.stopping.abort(new StoppedError(why));
    setTimeout(() => this.creating.abort(new StoppedError(why)), createMs).unref();
  }

  private abandon(): void {
    const why = new StoppedError('stopped by a second signal');
    this.creating.abort(why);
    this.abandoning.abort(why);
  }
}
