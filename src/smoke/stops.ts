import type { Interrupts } from '../interrupts.ts';
import type { Signal } from '../io.ts';

/** What signals do to a run: the first ends the checks, then what was written is cleaned up; the second ends that too. */
export interface Stops {
  /** Aborted by the first signal. */
  readonly checks: AbortSignal;
  /** Aborted by the second signal, or when cleaning has taken its time. */
  readonly cleaning: AbortSignal;
  /** The first signal, once it came. */
  readonly signal: Signal | undefined;
  /** Starts the time that cleaning may take. */
  startCleaning(): void;
  release(): void;
}

const cleanupMs = 30_000;
/** After a signal somebody waits: a person at the keyboard longer than a supervisor that is about to kill. */
const cleanupAfterMs: Readonly<Record<Signal, number>> = { SIGINT: 10_000, SIGTERM: 1_500 };

/** @param onFirst told the first signal. */
export function takeSignals(interrupts: Interrupts, onFirst: (signal: Signal) => void): Stops {
  const checks = new AbortController();
  const cleaning = new AbortController();
  let first: Signal | undefined;
  let timer: NodeJS.Timeout | undefined;
  const limit = () => {
    clearTimeout(timer);
    const ms = first ? cleanupAfterMs[first] : cleanupMs;
    timer = setTimeout(() => cleaning.abort(new Error('the time for cleaning up is over')), ms);
  };
  const giveBack = interrupts.take((signal) => {
    if (first) return cleaning.abort(new Error('stopped by a second signal'));
    first = signal;
    checks.abort(new Error(`stopped by ${signal}`));
    if (timer) limit();
    onFirst(signal);
  });
  return {
    checks: checks.signal,
    cleaning: cleaning.signal,
    get signal() {
      return first;
    },
    startCleaning: limit,
    release() {
      clearTimeout(timer);
      giveBack();
    },
  };
}
