import type { ErrorKind } from '../errors.ts';

/** Why a run ended before its last row. */
export interface StopReason {
  /** Decides the exit code. */
  readonly kind: ErrorKind;
  /** A clause without a full stop. */
  readonly message: string;
  /** What to do before it can go on. */
  readonly hint?: string | undefined;
}

/** What ends a run: first no new request is sent, then, where that is not enough, those in flight are given up. */
export class Stop {
  reason: StopReason | undefined;
  private readonly stopping = new AbortController();
  private readonly cutting = new AbortController();

  /** Aborted when no new request may be sent. */
  get stopped(): AbortSignal {
    return this.stopping.signal;
  }

  /** Aborted when requests in flight are given up. */
  get cut(): AbortSignal {
    return this.cutting.signal;
  }

  /** The first reason counts. */
  stop(reason: StopReason): void {
    this.reason ??= reason;
    this.stopping.abort(new StoppedError());
  }

  giveUp(): void {
    this.cutting.abort(new StoppedError());
  }
}

/** Ends a call whose run has stopped; no failure of the row. */
export class StoppedError extends Error {}
