import { STATUS_CODES } from 'node:http';
import type { HttpResponse } from '../api/http.ts';
import type { Operation, TokenHeader } from '../api/operations.ts';
import type { Answer, CallInput, CallOptions } from '../client/call.ts';
import type { Client } from '../client/client.ts';
import type { TlsFiles } from '../client/transport/tls.ts';
import type { Context } from '../context.ts';
import { errorMessage } from '../output/messages.ts';
import { CliError, type ExitCode, isInterruption, messageOf } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { Mask } from '../process/secrets.ts';

export function groupOf(id: string): string {
  return id.split('/', 1)[0] ?? '';
}

/** The answer to a request of an operation, with any status. */
export interface CheckAnswer extends Answer {
  readonly operation: Operation;
  /** In lower case and without parameters; empty if there is none. */
  readonly mediaType: string;
  /** Bytes that are not UTF-8 become U+FFFD. */
  readonly text: string;
  /** The value of the body, if the body is JSON in UTF-8. */
  readonly json?: JsonValue | undefined;
}

/** The options of one request of a check. */
export interface AskOptions extends Pick<CallOptions, 'isFinalStatus'>, Pick<CallInput, 'headers'> {}

/** The service under test, and the limits of each call. */
export interface ServiceUnderTest extends Pick<Context, 'flags'> {
  readonly client: Client;
  /** The files for a TLS connection to the service, or a clause that says why the checks open no socket. */
  readonly tls: TlsFiles | string;
  readonly tokenHeader: TokenHeader;
  /** True if warnings, flaky passes, and failures of operations that are not stable are failures. */
  readonly strict: boolean;
  /** Masks the known secrets. */
  readonly mask: Mask;
}

/** The service and the functions that a check uses. */
export interface CheckContext extends ServiceUnderTest {
  /** The GET operations of the service. */
  readonly gets: readonly Operation[];
  /** Aborted when the checks are stopped. */
  readonly signal: AbortSignal;
  /** Sends the request of an operation, by default with a guessed id if it takes one. @throws CliError if no answer came. */
  ask(operation: Operation, input?: CallInput, options?: AskOptions): Promise<CheckAnswer>;
  /** Sends a GET for a path below the base URL, or for a URL of the service. */
  get(path: string, options?: AskOptions): Promise<Omit<CheckAnswer, 'operation'>>;
}

/** A check and its place in the reports. */
export interface Check {
  /** Stable: `group/name`. */
  readonly id: string;
  /** The operation under test. If the operation is not stable, a failure is a warning. */
  readonly operation?: Operation | undefined;
  /** True if all later checks are skipped if this check fails. The command then exits with the code of this check. */
  readonly isPrerequisite?: boolean | undefined;
  /** Runs the check. If it returns no finding, there was nothing to check. */
  run(context: CheckContext): Promise<Finding | readonly Finding[]>;
  /** Finds a fault of any answer to a request of the check. @param mask masks the known secrets */
  findFault?(answer: HttpResponse, mask: Mask): Finding | undefined;
}

/**
 * The states of a check, gravest first. `error`: the check could not run, because the description cannot be used or the program has a
 * defect. `flaky`: the check failed once, then passed. `skip`: the check does not apply to the service, or another check failed first.
 */
export const checkStates = ['fail', 'error', 'warn', 'flaky', 'pass', 'skip'] as const;
export type CheckState = (typeof checkStates)[number];

/**
 * One observation of a check. Its texts may contain text of the service: run-checks.ts masks secrets in them, and the
 * reports escape them.
 */
export interface Finding {
  readonly state: CheckState;
  /** The observation, the mismatch, or the reason why the check was skipped; one clause. */
  readonly reason: string;
  /** A remedy, one clause. */
  readonly hint?: string | undefined;
  readonly expected?: string | undefined;
  /** The actual value. A report shows at most 200 characters of it. */
  readonly got?: string | undefined;
  /** JSON pointer to the mismatch in the response body. */
  readonly pointer?: string | undefined;
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly status?: number | undefined;
  /** The id that the service gave the request. */
  readonly requestId?: string | undefined;
  /** The operation that failed, if it is not the operation of the check. */
  readonly operation?: Operation | undefined;
  /** True if `--wait` ends at this failure, because waiting does not help: a refused credential, or a TLS error. */
  readonly endsWait?: boolean | undefined;
  /** The exit code of the failure; 7 if undefined. */
  readonly exitCode?: ExitCode | undefined;
}

export const pass = createFindingFactory('pass');
export const flaky = createFindingFactory('flaky');
export const warn = createFindingFactory('warn');
export const fail = createFindingFactory('fail');
export const skip = createFindingFactory('skip');

/** The details may be a whole finding, whose state and reason are replaced. */
function createFindingFactory(state: CheckState): (reason: string, details?: Partial<Finding>) => Finding {
  return (reason, details) => ({ ...details, state, reason });
}

/** Returns true if a finding makes the command fail. */
export function isFailure({ state }: { readonly state: CheckState }): boolean {
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

/**
 * Makes the finding for an error that a check threw: a failure if no answer came or the service refused the request, else
 * the state `error`.
 */
export function findingOfError(error: unknown): Finding {
  if (isInterruption(error)) throw error;
  if (error instanceof FindingError) return error.finding;
  if (!(error instanceof CliError)) return { state: 'error', reason: `internal: ${messageOf(error)}` };
  const { method, url, status, requestId, hint, noAnswer } = error.details;
  const { kind, exitCode } = error;
  const reason = errorMessage(error);
  const state = kind === 'unavailable' || status !== undefined ? 'fail' : 'error';
  const endsWait = noAnswer === 'tls' || undefined;
  return { state, reason, hint, method, url, status, requestId, exitCode, endsWait };
}

/** Returns a status with its reason phrase: `404 Not Found`. */
export function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}
