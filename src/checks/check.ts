import type { CredentialPlace } from '../api/contract.ts';
import type { Operation } from '../api/operations.ts';
import type { CallOptions } from '../client/call.ts';
import type { Client, RawAnswer } from '../client/client.ts';
import type { CallInput, FieldChanges } from '../client/request.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import type { Deployment } from './deployment.ts';
import type { Finding } from './finding.ts';
import type { SocketAddress } from './sockets.ts';

// The checks of `smoke`, from the flags to the reports:
//
//   check-table.ts   the flags and the contract -> the checks (check.ts)
//   run-smoke.ts     runs them once, often, or until they pass (run-round.ts: one round; round.ts: their requests)
//   *-checks.ts      a CheckContext -> findings (finding.ts); judge-answer.ts compares an answer with the contract, and
//                    records.ts reads the records in it
//   verdict.ts       the findings of a check, and the attempts of its requests -> its result
//   report/          the results of all runs (tally.ts) -> one report (smoke-report.ts) -> its texts and files
//
// To add a check, write a function that gets a `CheckContext` and returns findings, and add a line to `check-table.ts`.

/** The groups of checks, in the order of reports. `run` has the failure of a run that was stopped. */
export const groups = [
  'reach',
  'tls',
  'op',
  'error',
  'lifecycle',
  'auth',
  'latency',
  'expect',
  'write',
  'run',
] as const;

/** The group of a check, by its id. */
export function groupOf(id: string): string {
  return id.split('/', 1)[0] ?? '';
}

/** The answer to a request, with any status. */
export interface RawReply extends RawAnswer {
  readonly method: string;
  /** In lower case and without parameters; empty if there is none. */
  readonly mediaType: string;
  /** Bytes that are not UTF-8 become U+FFFD. */
  readonly text: string;
  /** The value of the body; undefined if it is not JSON. */
  readonly json?: JsonValue;
  /** Why it is not JSON. */
  readonly jsonFault?: string;
}

/** The answer to a request of an operation. */
export interface Reply extends RawReply {
  readonly operation: Operation;
  /** The id of the record that was asked for. */
  readonly recordId?: bigint | undefined;
  /** The schemas to which those of the operation refer, if it is bound to a description. */
  readonly definitions?: JsonObject | undefined;
}

export interface AskOptions
  extends Pick<CallOptions, 'signal' | 'parameter' | 'isUnchecked' | 'retries' | 'timeoutMs'> {
  /** Fields that replace those of the request; undefined removes one. */
  readonly changes?: FieldChanges | undefined;
  /** Whether a status is expected, so that it is not retried. */
  isExpected?(status: number): boolean;
}

/** What a check works with. It sends requests; each call has the deadline and the retries of the run. */
export interface CheckContext {
  readonly client: Client;
  /** The operations of the service that only read. */
  readonly reads: readonly Operation[];
  /** The address of the service, for checks of its socket. */
  readonly address: SocketAddress;
  /** The place of the credential in requests. */
  readonly credentialPlace: CredentialPlace;
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal;
  /** Aborted a little later, so that the answer to a create can still name the record to remove. */
  readonly createSignal: AbortSignal;
  /** The deployment of `--wait-for`, with which every answer is compared. */
  readonly deployment: Deployment;
  now(): Date;
  /** Masks the known secrets. */
  mask(text: string): string;
  /** Sends an operation. @throws CliError if no answer came. */
  ask(operation: Operation, input: CallInput, options?: AskOptions): Promise<Reply>;
  /** Sends a GET of a path below the base URL, or of a URL of the service. */
  get(path: string, options?: AskOptions): Promise<RawReply>;
  /** The answer to a GET that several checks look at, sent once in a round. */
  askOnce(operation: Operation, input?: CallInput): Promise<Reply>;
  /** The options of a call of the client, for lists that are read page by page. */
  callOptions(options?: AskOptions): CallOptions;
}

/** One check of a service. */
export interface Check {
  /** Stable: `group/name`. */
  readonly id: string;
  /** The operation that it tests. If that is not stable, a failure is a warning. */
  readonly operation?: Operation | undefined;
  /** Ids of checks that run before. If one of them fails, this check is skipped. */
  readonly needs?: readonly string[] | undefined;
  /** True if only an answer shows whether there is something to check, so that `--dry-run` does not list it. */
  readonly isOptional?: boolean | undefined;
  /** Returns what it finds. A check without findings had nothing to check, and no report has it. */
  run(context: CheckContext): Promise<Finding | readonly Finding[]>;
}

/** The result of a check: the gravest of its findings, weighed. */
export interface CheckResult extends Finding {
  readonly id: string;
  readonly elapsedMs: number;
  /** The outcome of the first attempt, if a later one passed. */
  readonly first?: string | undefined;
  /** Set if it is a failure only because of `--strict`. */
  readonly isStrictFailure?: true | undefined;
  /** Why the check never began, a short clause; undefined if it began. */
  readonly obstacle?: string | undefined;
  /** The duration of each of its requests. */
  readonly requestsMs?: readonly number[] | undefined;
  /** The number of its runs and of its failures; undefined without `--repeat` or `--for`. */
  readonly runs?: number | undefined;
  readonly failures?: number | undefined;
  /** The latency of its requests over several runs, in milliseconds. */
  readonly latency?: { readonly median: number; readonly max: number } | undefined;
}
