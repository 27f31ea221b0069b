import type { Interrupts } from '../interrupts.ts';
import type { Signal } from '../io.ts';

/** The effect of signals on a run: the first ends the checks and starts the cleaning up; the second ends that too. */
export interface Stops {
  /** Aborted by the first signal. */
  readonly checks: AbortSignal;
  /** Aborted a little later, so that a pending create can still be answered. */
  readonly creating: AbortSignal;
  /** Aborted by the second signal, or when the time for cleaning up is over. */
  readonly cleaning: AbortSignal;
  /** The first signal, once it came. */
  readonly signal: Signal | undefined;
  /** How long to look for a record that an unanswered create may still make. */
  readonly lookMs: number;
  /** Starts the time limit for cleaning up. */
  startCleaning(): void;
  release(): void;
}

interface Patience {
  readonly creatingMs: number;
  readonly lookMs: number;
  readonly cleaningMs: number;
}

const unhurried: Patience = { creatingMs: 0, lookMs: 2000, cleaningMs: 30_000 };

/** A person at the keyboard waits longer than a supervisor, which kills the process soon. */
function patienceOf(signal: Signal): Patience {
  return signal === 'SIGINT'
    ? { creatingMs: 3000, lookMs: 2000, cleaningMs: 10_000 }
    : { creatingMs: 400, lookMs: 500, cleaningMs: 1200 };
}

/** @param onFirst called with the first signal. */
export function takeSignals(interrupts: Interrupts, onFirst: (signal: Signal) => void): Stops {
  const checks = new AbortController();
  const creating = new AbortController();
  const cleaning = new AbortController();
  let first: Signal | undefined;
  let patience = unhurried;
  let cleaningTimer: NodeJS.Timeout | undefined;
  let creatingTimer: NodeJS.Timeout | undefined;
  const startCleaning = () => {
    clearTimeout(cleaningTimer);
    const late = () => cleaning.abort(new Error('the time for cleaning up is over'));
    cleaningTimer = setTimeout(late, patience.cleaningMs);
  };
  const giveBack = interrupts.take((signal) => {
    if (first) {
      const reason = new Error('stopped by a second signal');
      creating.abort(reason);
      return cleaning.abort(reason);
    }
    first = signal;
    patience = patienceOf(signal);
    const reason = new Error(`stopped by ${signal}`);
    checks.abort(reason);
    creatingTimer = setTimeout(() => creating.abort(reason), patience.creatingMs);
    if (cleaningTimer) startCleaning();
    onFirst(signal);
  });
  return {
    checks: checks.signal,
    creating: creating.signal,
    cleaning: cleaning.signal,
    get signal() {
      return first;
    },
    get lookMs() {
      return patience.lookMs;
    },
    startCleaning,
    release() {
      clearTimeout(cleaningTimer);
      clearTimeout(creatingTimer);
      giveBack();
    },
  };
}
