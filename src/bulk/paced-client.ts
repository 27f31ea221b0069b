import { requestIdOf } from '../api/http.ts';
import type { Attempt, CallOptions } from '../client/call.ts';
import type { Client } from '../client/client.ts';
import { mayHaveBeenApplied } from '../client/retry.ts';
import { UnavailableError } from '../process/errors.ts';
import type { Stop } from '../process/signals.ts';
import type { Pace, StopReason } from './pace.ts';

interface Paced {
  readonly pace: Pace;
  readonly stop: Stop<StopReason>;
}

/** The client of a session: it obeys the pace, and its requests are counted. */
export function pacedClient(client: Client, session: Paced): Client {
  const paced = (options?: CallOptions) =>
    options instanceof PacedCall ? options : Object.assign(new PacedCall(session), options);
  return {
    ...client,
    call: (id, input, options) => client.call(id, input, paced(options)),
    list: (id, query, options) => client.list(id, query, paced(options)),
  };
}

/** One call: obeys the shared pace, and records whether it may have changed something. */
export class PacedCall implements CallOptions {
  readonly signal: AbortSignal;
  readonly maxRetryAfterMs: number;
  ifMatch: string | undefined;
  /** True if requests from now on change something. */
  isWrite = false;
  /** True if a write may have been applied although no answer said so. */
  mayBeApplied = false;
  attempts = 0;
  private readonly pace: Pace;
  private isInFlight = false;
  private last: Attempt | undefined;

  constructor({ pace, stop }: Paced, ifMatch?: string) {
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
    const { request, response, error } = attempt;
    const sent = error instanceof UnavailableError && error.sent;
    if (this.isWrite && mayHaveBeenApplied(request.method, response ?? { sent })) this.mayBeApplied = true;
    this.pace.observe(attempt);
  }

  /** Whether a write may have been applied, including one in flight. */
  get isUncertain(): boolean {
    return this.mayBeApplied || (this.isWrite && this.isInFlight);
  }

  /** The service's id of the last request, if it sent one. */
  get requestId(): string | undefined {
    return this.last?.response && requestIdOf(this.last.response.fields);
  }
}
