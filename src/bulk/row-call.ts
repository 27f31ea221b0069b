import type { Attempt, CallOptions } from '../client/client.ts';
import { UnavailableError } from '../errors.ts';
import type { Outcome } from './outcome.ts';
import type { Pace } from './pace.ts';
import type { Stop } from './stop.ts';

/** The call of one row: keeps the pace of all of them, and knows what is certain when it is broken off. */
export class RowCall implements CallOptions {
  readonly signal: AbortSignal;
  ifMatch: string | undefined;
  /** Whether what is sent from now on changes anything. */
  isWrite = false;
  readonly maxRetryAfterMs: number;
  private readonly pace: Pace;
  private isInFlight = false;
  private attempts = 0;
  private last: Attempt | undefined;

  constructor({ pace, stop }: { readonly pace: Pace; readonly stop: Stop }, ifMatch?: string) {
    this.pace = pace;
    this.signal = stop.cut;
    this.ifMatch = ifMatch;
    this.maxRetryAfterMs = pace.maxRetryWaitMs;
  }

  beforeAttempt(): Promise<void> | undefined {
    const wait = this.pace.gate();
    if (wait) return wait.then(() => this.begin());
    this.begin();
    return undefined;
  }

  private begin(): void {
    this.isInFlight = true;
    this.attempts += 1;
  }

  afterAttempt(attempt: Attempt): void {
    this.isInFlight = false;
    this.last = attempt;
    this.pace.observe(attempt);
  }

  /** Unknown where a request may have been applied; undefined where none was, and the row is as it was. */
  interrupted(): Outcome | undefined {
    const error = this.last?.error;
    const mayBeApplied =
      this.isWrite && (this.isInFlight || (error instanceof UnavailableError && error.sent));
    if (!mayBeApplied) return undefined;
    const message = 'the run stopped before the answer came; it may or may not have been applied';
    return { state: 'unknown', code: 'interrupted', message, attempts: this.attempts };
  }
}
