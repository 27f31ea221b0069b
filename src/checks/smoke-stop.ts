import { longestTimerMs } from '../process/deadline.ts';
import type { Signal } from '../process/errors.ts';
import { type Interrupts, StoppedError } from '../process/signals.ts';
import { durationText } from '../process/text.ts';

/** A pending create may still be answered for this long after the run was stopped. */
const createMs = 2000;
/** The longest time of the cleaning up of a run. */
const cleanUpMs = 10_000;

/**
 * Ends a run early. The first signal, or the end of its time, stops the checks, and the cleaning up begins; another
 * signal abandons that too.
 */
export class SmokeStop {
  /** The first signal; undefined if none came. */
  signal: Signal | undefined;
  /** Ends the handling of signals. */
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
    const reason = `the time of ${durationText(maxTimeMs)} is over (--max-time)`;
    setTimeout(() => this.stop(reason), Math.min(maxTimeMs, longestTimerMs)).unref();
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
    const abort = () => limit.abort(new StoppedError('the time for cleaning up is over'));
    setTimeout(abort, cleanUpMs).unref();
    return AbortSignal.any([this.abandoning.signal, limit.signal]);
  }

  private stop(reason: string): void {
    if (this.stopped.aborted) return;
    const error = new StoppedError(reason);
    this.stopping.abort(error);
    setTimeout(() => this.creating.abort(error), createMs).unref();
  }

  private abandon(): void {
    const error = new StoppedError('stopped by a second signal');
    this.creating.abort(error);
    this.abandoning.abort(error);
  }
}
