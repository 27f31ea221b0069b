import { ApiError, messageOf, UnavailableError, type UnavailableReason } from '../errors.ts';
import type { Stop, StopReason } from './stop.ts';

const mostTransportFailures = 20;
/** What no further row can be spared. */
const hopelessReasons: Partial<Record<UnavailableReason, string>> = {
  tls: 'TLS failed',
  redirect: 'the service redirects writes',
};

/** Says when so much has gone wrong that a run had better end. */
export class StopRules {
  private readonly stop: Stop;
  private transportFailures = 0;

  constructor(stop: Stop) {
    this.stop = stop;
  }

  succeeded(): void {
    this.transportFailures = 0;
  }

  /** Told of each row that did not succeed, and of the error where there was one. */
  failed(error?: unknown): void {
    const isTransport = error instanceof UnavailableError && error.details.status === undefined;
    this.transportFailures = isTransport ? this.transportFailures + 1 : 0;
    const reason = fatalReason(error) ?? this.noAnswers(error);
    if (reason) this.stop.stop(reason);
  }

  private noAnswers(last: unknown): StopReason | undefined {
    if (this.transportFailures < mostTransportFailures) return undefined;
    return {
      kind: 'unavailable',
      message: `${mostTransportFailures} rows in a row got no answer: ${messageOf(last)}`,
    };
  }
}

/** Ends the run with the row that makes so many of failed and unknown ones. */
export function stopAtErrors(stop: Stop, errorCount: number, mostErrors: number): void {
  if (errorCount < mostErrors) return;
  const rows = errorCount === 1 ? '1 row failed' : `${errorCount} rows failed`;
  stop.stop({ kind: 'partial', message: `${rows}, as many as --max-errors allows` });
}

function fatalReason(error: unknown): StopReason | undefined {
  if (error instanceof ApiError && error.kind === 'auth')
    return { kind: 'auth', message: error.message, hint: error.details.hint };
  const hopeless = error instanceof UnavailableError ? hopelessReasons[error.reason] : undefined;
  if (hopeless === undefined) return undefined;
  const { hint } = (error as UnavailableError).details;
  return { kind: 'unavailable', message: `${hopeless}: ${messageOf(error)}`, hint };
}
