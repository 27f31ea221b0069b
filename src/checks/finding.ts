import { STATUS_CODES } from 'node:http';
import type { Operation } from '../api/operations.ts';
import { errorMessage } from '../output/error.ts';
import { CliError, type ExitCode, InterruptedError, messageOf } from '../process/errors.ts';

/**
 * The states of a check, gravest first. `error`: it could not be carried out, because the description cannot be used or
 * the program has a defect. `flaky`: it failed once, then passed. `skip`: it does not apply to the service, or a check that
 * it needs has failed.
 */
export const states = ['fail', 'error', 'warn', 'flaky', 'pass', 'skip'] as const;
export type State = (typeof states)[number];

/** One observation of a check. Its texts may hold what the service sent; `verdict` masks secrets, and reports escape. */
export interface Finding {
  readonly state: State;
  /** One clause: the observation, the fault, or the reason why the check was skipped. */
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
  /** The service's own id of the request. */
  readonly requestId?: string | undefined;
  /** The cache that answered, by its headers: `Age: 30, X-Cache: HIT`. */
  readonly cache?: string | undefined;
  /** The operation at fault, if it is not that of the check. */
  readonly operation?: Operation | undefined;
  /** The records that the check left in the service, or may have left, a clause each. */
  readonly left?: readonly string[] | undefined;
  /** The exit code of the failure, if it is not that of a failed check. */
  readonly exitCode?: ExitCode | undefined;
}

/** A finding without its state and reason. */
export type Details = Partial<Omit<Finding, 'state' | 'reason'>>;

export const pass = finder('pass');
export const flaky = finder('flaky');
export const warn = finder('warn');
export const fail = finder('fail');

function finder(state: State): (reason: string, details?: Details) => Finding {
  return (reason, details) => ({ ...details, state, reason });
}

export function skip(reason: string): Finding {
  return { state: 'skip', reason };
}

/** Whether a state makes the whole command fail. */
export function isRed({ state }: { readonly state: State }): boolean {
  return state === 'fail' || state === 'error';
}

/** Ends a check with a finding, such as the fault of an answer. */
export class FindingError extends Error {
  readonly finding: Finding;

  constructor(finding: Finding) {
    super(finding.reason);
    this.finding = finding;
  }
}

/** The finding of a check that threw. It is a failure if no valid answer came, else the check was not carried out. */
export function findingOfError(error: unknown): Finding {
  if (error instanceof InterruptedError) throw error;
  if (error instanceof FindingError) return error.finding;
  if (!(error instanceof CliError)) return { state: 'error', reason: `internal: ${messageOf(error)}` };
  const { method, url, status, requestId, hint } = error.details;
  const { kind, exitCode } = error;
  const reason = errorMessage(error);
  const isUnanswered = kind === 'unavailable' || status !== undefined;
  return { state: isUnanswered ? 'fail' : 'error', reason, hint, method, url, status, requestId, exitCode };
}

/** Whether a status is the one of a pattern: `200`, or `2xx` for any of a class. */
export function isStatus(status: number, pattern: string): boolean {
  return new RegExp(`^${pattern.replace('xx', '\\d\\d')}$`).test(String(status));
}

/** A status with its reason phrase: `404 Not Found`. */
export function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}
