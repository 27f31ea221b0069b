import { STATUS_CODES } from 'node:http';
import type { Operation } from '../api/operations.ts';
import { errorMessage } from '../output/error.ts';
import { CliError, type ExitCode, InterruptedError, messageOf } from '../process/errors.ts';

/**
 * The states of a check, gravest first. `error`: the check could not run, because the description cannot be used or the
 * program has a defect. `flaky`: the check failed once, then passed. `skip`: the check does not apply to the service, or a
 * check that it needs failed.
 */
export const states = ['fail', 'error', 'warn', 'flaky', 'pass', 'skip'] as const;
export type State = (typeof states)[number];

/**
 * One observation of a check. Its texts may contain text of the service: result.ts masks secrets in them, and the
 * reports escape them.
 */
export interface Finding {
  readonly state: State;
  /** The observation, the fault, or the reason why the check was skipped; one clause. */
  readonly reason: string;
  /** A remedy, one clause. */
  readonly hint?: string | undefined;
  readonly expected?: string | undefined;
  /** The actual value. A report shows at most 200 bytes of it. */
  readonly got?: string | undefined;
  /** JSON pointer to the fault in the response body. */
  readonly pointer?: string | undefined;
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly status?: number | undefined;
  /** The id that the service gave the request. */
  readonly requestId?: string | undefined;
  /** The operation at fault, if it is not the operation of the check. */
  readonly operation?: Operation | undefined;
  /** True if the failure does not pass with time, so that `--wait` ends: a refused credential, or a TLS error. */
  readonly isLasting?: boolean | undefined;
  /** The exit code of the failure; 7 if undefined. */
  readonly exitCode?: ExitCode | undefined;
}

/** The members of a finding besides its state and reason. */
export type Details = Partial<Omit<Finding, 'state' | 'reason'>>;

export const pass = createFindingFactory('pass');
export const flaky = createFindingFactory('flaky');
export const warn = createFindingFactory('warn');
export const fail = createFindingFactory('fail');
export const skip = createFindingFactory('skip');

function createFindingFactory(state: State): (reason: string, details?: Details) => Finding {
  // The details may be another finding.
  return (reason, details) => ({ ...details, state, reason });
}

/** Returns true if a finding or a verdict makes the command fail. */
export function isRed({ state }: { readonly state: State }): boolean {
  return state === 'fail' || state === 'error';
}

/** Ends a check with a finding, such as a failure. */
export class FindingError extends Error {
  readonly finding: Finding;

  constructor(finding: Finding) {
    super(finding.reason);
    this.finding = finding;
  }
}

/** Makes the error that ends a check with a failure. */
export function failure(reason: string, details?: Details): FindingError {
  return new FindingError(fail(reason, details));
}

/**
 * Makes the finding for an error that a check threw: a failure if no answer came or the service refused the request, else
 * the state `error`.
 */
export function findingOfError(error: unknown): Finding {
  if (error instanceof InterruptedError) throw error;
  if (error instanceof FindingError) return error.finding;
  if (!(error instanceof CliError)) return { state: 'error', reason: `internal: ${messageOf(error)}` };
  const { method, url, status, requestId, hint, reason: cause } = error.details;
  const { kind, exitCode } = error;
  const reason = errorMessage(error);
  const state = kind === 'unavailable' || status !== undefined ? 'fail' : 'error';
  const isLasting = cause === 'tls' || undefined;
  return { state, reason, hint, method, url, status, requestId, exitCode, isLasting };
}

/** Returns a status with its reason phrase: `404 Not Found`. */
export function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}
