import type { Attempt, CallOptions } from '../client/call.ts';
import { mayHaveBeenApplied } from '../client/retry.ts';
import { UnavailableError } from '../process/errors.ts';
import type { Stop } from '../process/signals.ts';
import { maxRetryWaitMs, type Pace, type StopReason } from './pace.ts';

/** The call of one row, or of one reading: obeys the shared pace, and knows whether it may have been applied. */
export class PacedCall implements CallOptions {
  readonly signal: AbortSignal;
  readonly maxRetryAfterMs = maxRetryWaitMs;
  readonly retries: number | undefined;
  ifMatch: string | undefined;
  /** Awaited before each attempt but the first; it may throw, which ends the call. */
  checkAgain: (() => Promise<unknown>) | undefined;
  attempts = 0;
  /** True if an attempt was not refused. An answer to a later one does not take that back. */
  mayBeApplied = false;
  private readonly pace: Pace;
  private isInFlight = false;
  private last: Attempt | undefined;

  constructor(pace: Pace, { cut }: Stop<StopReason>, retries?: number) {
    this.pace = pace;
    this.signal = cut;
    this.retries = retries;
  }

  // Own properties, so that a copy of these options keeps them.
  readonly beforeAttempt = (): Promise<void> | undefined => {
    const { checkAgain } = this;
    if (checkAgain && this.attempts > 0) return checkAgain().then(() => this.begin());
    return this.begin();
  };

  readonly afterAttempt = (attempt: Attempt): void => {
    const { request, response, error } = attempt;
    this.isInFlight = false;
    this.last = attempt;
    const sent = error instanceof UnavailableError && error.sent;
    if (mayHaveBeenApplied(request.method, response ?? { sent })) this.mayBeApplied = true;
    this.pace.observe(attempt);
  };

  /** Whether it may have been applied if it ends now, without an answer. */
  get isUncertain(): boolean {
    return this.mayBeApplied || this.isInFlight;
  }

  /** The service's id of the last request, if it sent one. */
  get requestId(): string | undefined {
    return this.last?.requestId;
  }

  private begin(): Promise<void> | undefined {
    const start = () => {
      this.isInFlight = true;
      this.attempts += 1;
    };
    const wait = this.pace.gate();
    if (wait) return wait.then(start);
    start();
    return undefined;
  }
}
