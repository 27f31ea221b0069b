import type { Ledger } from './ledger.ts';
import type { FailureKind } from './outcome.ts';
import type { Pace } from './pace.ts';
import type { State } from './states.ts';
import type { StopReason } from './stop.ts';

/** A run as it ended. Its rows are always the sum of its states. */
export interface Summary extends Readonly<Record<State, number>> {
  /** Undefined where there was nothing to write and nothing failed. */
  readonly run: string | undefined;
  /** The input, or what was taken back. */
  readonly name: string;
  readonly target: string;
  readonly rows: number;
  /** Of this session, as the three below. */
  readonly requests: number;
  readonly retries: number;
  readonly seconds: number;
  readonly rowsPerSecond: number;
  readonly failures: readonly FailureKind[];
  /** Rows that were read back; undefined without `--verify`. */
  readonly verified: number | undefined;
  readonly stop: StopReason | undefined;
}

interface SummaryFacts extends Pick<Summary, 'run' | 'name' | 'target' | 'verified' | 'stop'> {
  readonly ledger: Ledger;
  readonly pace: Pace;
  readonly elapsedMs: number;
}

export function summarise({ ledger, pace, elapsedMs, ...facts }: SummaryFacts): Summary {
  const { rows, settledCount } = ledger;
  const seconds = Math.round(elapsedMs) / 1000;
  return {
    ...facts,
    rows: rows.length,
    ...rows.countStates(),
    requests: pace.requests,
    retries: pace.retries,
    seconds,
    rowsPerSecond: seconds > 0 ? Math.round(settledCount / seconds) : 0,
    failures: ledger.failures(),
  };
}
