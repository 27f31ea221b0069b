import type { Operation, TokenHeader } from '../api/operations.ts';
import type { CallOptions } from '../client/call.ts';
import type { Client, RawResponse } from '../client/client.ts';
import type { CallInput, HeaderChanges } from '../client/request.ts';
import type { TlsFiles } from '../client/transport/tls.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import type { Io } from '../process/io.ts';
import { type Finding, skip } from './finding.ts';

// How checks become reports, of `smoke` and of `doctor`:
//
//   run-smoke.ts     makes the checks from the flags and the contract; runs the read checks until they pass (`--wait`),
//                    then the write checks once
//   round.ts         runs checks one after another and sends their requests; result.ts weighs their findings
//   *-checks.ts      make findings (finding.ts) with a `CheckContext`; judge-answer.ts compares an answer with the
//                    contract, and reads the records in it
//   report/          prints the results
//
// To add a check, write a function that gets a `CheckContext` and returns findings, and add a line to `run-smoke.ts`.

/** The groups of checks, in the order of reports. `run` has the failure of a command that was stopped. */
export const groups = ['reach', 'tls', 'op', 'error', 'auth', 'expect', 'write', 'run'] as const;

/** Returns the group of a check from its id. */
export function groupOf(id: string): string {
  return id.split('/', 1)[0] ?? '';
}

/** The answer to a request, with any status. */
export interface RawAnswer extends RawResponse {
  readonly method: string;
  /** In lower case and without parameters; empty if there is none. */
  readonly mediaType: string;
  /** Bytes that are not UTF-8 become U+FFFD. */
  readonly text: string;
  /** The value of the body; undefined if the body is not JSON. */
  readonly json?: JsonValue;
}

/** The answer to a request of an operation. */
export interface CheckAnswer extends RawAnswer {
  readonly operation: Operation;
  /** The id of the requested record. */
  readonly recordId?: bigint | undefined;
  /** The schemas to which the schemas of the operation refer, if it is bound to a description. */
  readonly definitions?: JsonObject | undefined;
}

/** The options of one request of a check. */
export interface AskOptions extends Pick<CallOptions, 'isUnchecked' | 'timeoutMs'> {
  /** Headers that replace headers of the request; undefined removes a header. */
  readonly changes?: HeaderChanges | undefined;
  /** Returns true for a status that the check expects, which is not retried. */
  isExpected?(status: number): boolean;
}

/** The address of a service, and how its sockets are opened. */
export interface SocketAddress {
  readonly host: string;
  readonly port: number;
  /** The reason why the host and the port cannot be checked, a clause; undefined if they can. */
  readonly skipReason: string | undefined;
  readonly tls: TlsFiles;
  readonly env: Io['env'];
}

/** The service under test, and the limits of each call. */
export interface Service {
  readonly client: Client;
  /** The address of the service, for the checks of its socket. */
  readonly address: SocketAddress;
  /** The header of the token. */
  readonly tokenHeader: TokenHeader;
  /** The time limit of one call, with its retries. */
  readonly timeoutMs: number;
  readonly retries: number;
  /** False if the profile says that the ETags of the service are of no use. */
  readonly sendsEtags: boolean;
  /** True if warnings, flaky passes, and failures of operations that are not stable are failures. */
  readonly strict: boolean;
  now(): Date;
  /** Masks the known secrets. */
  mask(text: string): string;
}

/** The service and the functions that a check uses. */
export interface CheckContext extends Service {
  /** The GET operations of the service. */
  readonly reads: readonly Operation[];
  /** Aborted when the checks are stopped. */
  readonly signal: AbortSignal;
  /** Sends the request of an operation. @throws CliError if no answer came. */
  ask(operation: Operation, input: CallInput, options?: AskOptions): Promise<CheckAnswer>;
  /** Sends a GET for a path below the base URL, or for a URL of the service. */
  get(path: string, options?: AskOptions): Promise<RawAnswer>;
  /** Sends the request of a GET operation once. Further calls by the checks of a pass return the same answer. */
  askOnce(operation: Operation, input?: CallInput): Promise<CheckAnswer>;
}

/** One check. */
export interface Check {
  /** Stable: `group/name`. */
  readonly id: string;
  /** What JUnit reports name besides the id, such as the condition of `expect/1`. */
  readonly title?: string | undefined;
  /** The operation under test. If the operation is not stable, a failure is a warning. */
  readonly operation?: Operation | undefined;
  /** True if all later checks are skipped if this check fails. Its exit code is then that of the command. */
  readonly isPrerequisite?: boolean | undefined;
  /** Runs the check. If it returns no finding, there was nothing to check. */
  run(context: CheckContext): Promise<Finding | readonly Finding[]>;
}

/** Makes a check that is only listed. @param reason why it is skipped, a clause */
export function createSkippedCheck(id: string, reason: string): Check {
  return { id, run: async () => skip(reason) };
}
