import type { Contract, CredentialPlace } from '../api/contract.ts';
import { fieldValue, requestIdOf } from '../api/http.ts';
import type { Operation, Parameter } from '../api/operations.ts';
import type { Attempt } from '../client/attempt.ts';
import type { CallOptions } from '../client/call.ts';
import type { Client, RawAnswer } from '../client/client.ts';
import { type CallInput, type FieldChanges, recordIdOf, toAcceptedInput } from '../client/request.ts';
import { messageOf } from '../process/errors.ts';
import { type JsonValue, parseJson } from '../process/exact-json.ts';
import type { Details } from './check.ts';
import type { Condition } from './condition.ts';
import type { Deployment } from './deployment.ts';
import type { Sockets } from './sockets.ts';

/** The selection of checks, and their limits. */
export interface SmokeOptions {
  /** Globs of check ids. An empty `only` selects all checks. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
  /** Whether warnings, flaky passes, and failures of beta and experimental operations are failures. */
  readonly strict: boolean;
  /** The most that the median of the latency of an operation may be; undefined if it is not measured. */
  readonly maxLatencyMs?: number | undefined;
  readonly write: boolean;
  /** How long the read checks are repeated until they pass; 0 if they run once. */
  readonly waitMs: number;
  /** The conditions that the answers of this deployment meet. */
  readonly waitFor: readonly Condition[];
  /** The user's own checks. */
  readonly expect: readonly Condition[];
  /** How often to run, or for how long. At most one of the two is set. */
  readonly repeat?: number | undefined;
  readonly forMs?: number | undefined;
  /** The time from the start of one run to the start of the next. */
  readonly everyMs: number;
  /** The longest time of the whole run; undefined if it has no limit. */
  readonly maxTimeMs?: number | undefined;
  /** The deadline of one call, with its retries. */
  readonly timeoutMs: number;
  readonly retries: number;
  /** The place of the profile's credential in requests. */
  readonly credentialPlace: CredentialPlace;
}

/** The options of a run without flags. */
export const plainOptions = {
  only: [],
  skip: [],
  strict: false,
  write: false,
  waitMs: 0,
  waitFor: [],
  expect: [],
  everyMs: 0,
} as const;

/** One pass through the checks: the service under test, the options, and the answers that several checks share. */
export interface Round {
  readonly client: Client;
  readonly options: SmokeOptions;
  readonly sockets: Sockets;
  /** Masks the known secrets. */
  mask(text: string): string;
  now(): Date;
  /** The answers to GETs, by operation and id. */
  readonly visits: Map<string, Promise<Reply>>;
  readonly deployment: Deployment;
}

/** The answer to a request, with any status. */
export interface Reply extends RawAnswer {
  readonly method: string;
  /** In lower case and without parameters; empty if there is none. */
  readonly mediaType: string;
  /** Bytes that are not UTF-8 become U+FFFD. */
  readonly text: string;
  /** The value of the body; undefined if it is not JSON. */
  readonly json?: JsonValue;
  /** Why it is not JSON. */
  readonly jsonFault?: string;
  /** The id of the record that was asked for. */
  readonly recordId?: bigint | undefined;
}

export interface AskOptions
  extends Pick<CallOptions, 'signal' | 'parameter' | 'isUnchecked' | 'retries' | 'timeoutMs'> {
  /** Fields that replace those of the request; undefined removes one. */
  readonly changes?: FieldChanges | undefined;
  /** Whether a status is expected, so that it is not retried. */
  isExpected?(status: number): boolean;
}

/** Sends the requests of one check. Each call has the deadline and the retries of the options. */
export interface CheckContext {
  readonly round: Round;
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal;
  /** Sends an operation. @throws CliError if no answer came. */
  ask(operation: Operation, input: CallInput, options?: AskOptions): Promise<Reply>;
  /** Sends a GET of a path below the base URL, or of a URL of the service. */
  get(path: string, options?: AskOptions): Promise<Reply>;
  /** The answer to a GET that several checks look at, sent once in a round. */
  visit(operation: Operation, input?: CallInput): Promise<Reply>;
  /** The options of a call of the client, for lists that are read page by page. */
  callOptions(options?: AskOptions): CallOptions;
}

const retriedStatuses = [429, 502, 503, 504];

/** Makes the context of one check, and the list to which the attempts of its requests are added. */
export function startCheck(
  round: Round,
  signal: AbortSignal,
): { readonly context: CheckContext; readonly attempts: readonly Attempt[] } {
  const { client, deployment } = round;
  const attempts: Attempt[] = [];
  const context: CheckContext = {
    round,
    signal,
    callOptions({ isExpected = () => false, changes, ...limits } = {}) {
      const statuses = new Set(retriedStatuses.filter((status) => !isExpected(status)));
      const { timeoutMs, retries } = round.options;
      return {
        ...{ signal, timeoutMs, retries, retriedStatuses: statuses, skipsNotices: true, ...limits },
        afterAttempt(attempt) {
          attempts.push(attempt);
          deployment.add(attempt);
        },
      };
    },
    async ask(operation, values, options = {}) {
      const { id, method } = operation;
      const input = toAcceptedInput(operation, values);
      const answer = await client.send(id, input, context.callOptions(options), options.changes);
      return { ...answer, ...decodeBody(answer), method, recordId: recordIdOf(operation, input) };
    },
    async get(path, options = {}) {
      const request = { method: 'GET', path, fields: options.changes };
      const answer = await client.request(request, context.callOptions(options));
      return { ...answer, ...decodeBody(answer), method: 'GET' };
    },
    visit(operation, input = {}) {
      const key = `${operation.id} ${recordIdOf(operation, input)}`;
      const visit = round.visits.get(key) ?? context.ask(operation, input);
      round.visits.set(key, visit);
      return visit;
    },
  };
  return { context, attempts };
}

function decodeBody({ fields, body }: RawAnswer): Pick<Reply, 'mediaType' | 'text' | 'json' | 'jsonFault'> {
  const [type = ''] = (fieldValue(fields, 'content-type') ?? '').split(';', 1);
  const mediaType = type.trim().toLowerCase();
  const text = Buffer.from(body).toString('utf8');
  try {
    return { mediaType, text, json: parseJson(text) };
  } catch (error) {
    return { mediaType, text, jsonFault: messageOf(error) };
  }
}

/** The request and the answer behind a finding, for its report. */
export function detailsOf({ method, url, status, fields }: Reply): Details {
  return { method, url, status, requestId: requestIdOf(fields), cache: cacheOf(fields) };
}

/** The cache that answered, by its headers: `Age: 30, X-Cache: HIT`; undefined if none says so. */
export function cacheOf(fields: RawAnswer['fields']): string | undefined {
  const texts = (['Age', 'X-Cache'] as const).flatMap((name) => {
    const value = fieldValue(fields, name.toLowerCase());
    return value === undefined ? [] : [`${name}: ${value.slice(0, 100)}`];
  });
  return texts.join(', ') || undefined;
}

/** The operations that only read, in the contract's order. */
export function readsOf(contract: Contract): Operation[] {
  return [...contract.operations.values()].filter(({ method }) => method === 'GET');
}

/** An operation that only reads, and an input for it. */
export interface SampleRead {
  readonly operation: Operation;
  readonly input: CallInput;
}

/** The GET that reach sends: the first without an id, else the first, whose id is then a guess. */
export function firstRead(contract: Contract): SampleRead | undefined {
  const reads = readsOf(contract);
  const operation = reads.find((candidate) => idParameter(candidate) === undefined) ?? reads[0];
  return operation && { operation, input: idParameter(operation) ? { id: 1n } : {} };
}

/** The parameter with the id of the record. */
export function idParameter({ parameters }: Operation): Parameter | undefined {
  return parameters.find(({ name }) => name === 'id');
}
