import type { Contract, CredentialPlace } from '../api/contract.ts';
import { fieldValue, requestIdOf } from '../api/http.ts';
import { idName, type Operation, type Parameter } from '../api/operations.ts';
import type { CallOptions } from '../client/call.ts';
import type { Client, RawAnswer } from '../client/client.ts';
import { askedId, type CallInput, type FieldChanges, toAcceptedInput } from '../client/request.ts';
import { monotonicMs } from '../process/deadline.ts';
import { messageOf } from '../process/errors.ts';
import { type JsonValue, parseJson } from '../process/exact-json.ts';
import { durationText } from '../process/text.ts';
import { type Details, fail, type Latency, statusText, VerdictError } from './check.ts';
import type { Condition } from './condition.ts';
import type { Sockets } from './sockets.ts';

/** The most that a statistic of the latency of an operation may be. */
interface LatencyLimit {
  readonly ms: number;
  readonly statistic: keyof Latency;
}

/** The selection of checks, and their limits. */
export interface SmokeOptions {
  /** Globs of check ids; no `only` means all. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
  /** Whether warnings, flaky passes, and failures of beta and experimental operations are failures. */
  readonly strict: boolean;
  /** Undefined if latency is not measured. */
  readonly maxLatency?: LatencyLimit | undefined;
  readonly write: boolean;
  /** How long to wait for the service to come up; 0 to not wait. */
  readonly waitMs: number;
  /** Conditions that end the wait. */
  readonly waitFor: readonly Condition[];
  /** The user's own checks. */
  readonly expect: readonly Condition[];
  /** How often to run, and for how long; only one of the two is set. */
  readonly repeat?: number | undefined;
  readonly forMs?: number | undefined;
  /** From the start of one run to the start of the next. */
  readonly everyMs: number;
  /** Deadline of one check, with all its requests. */
  readonly timeoutMs: number;
  readonly retries: number;
  /** The place of the profile's credential in requests. */
  readonly credentialPlace: CredentialPlace;
}

/** The service under test, and how to test it. */
export interface SmokeTarget {
  readonly client: Client;
  readonly options: SmokeOptions;
  readonly sockets: Sockets;
  /** Masks the known secrets. */
  mask(text: string): string;
  now(): Date;
}

/** What the checks of one run of the list share. */
export interface Round extends SmokeTarget {
  /** The answers to GETs that several checks look at, by operation and id. */
  readonly visits: Map<string, Promise<Reply>>;
  /** Gets each answer of the service, for the conditions on headers. */
  onAnswer(answer: Pick<RawAnswer, 'status' | 'fields'>): void;
}

/** The answer to a request, whatever its status. */
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
  /** Of the last attempt. */
  readonly elapsedMs: number;
  /** The id of the record that was asked for. */
  readonly asked?: bigint | undefined;
}

interface AskOptions extends Pick<CallOptions, 'signal' | 'parameter' | 'isUnchecked'> {
  /** Replace the fields of the request; undefined removes one. */
  readonly changes?: FieldChanges | undefined;
  /** Whether a status is the wanted one, so that it is not retried. */
  isExpected?(status: number): boolean;
}

/** One check while it is carried out. All its requests end within its time. */
export interface CheckRun extends Round {
  readonly signal: AbortSignal;
  /** Aborted later than `signal`, so that the answer to a create can still name the record to remove. */
  readonly createSignal: AbortSignal;
  /** What came first, if a request of this check needed another attempt. */
  readonly first: string | undefined;
  /** The options of a call of the client: the time that is left, the retries, the signal. */
  callOptions(options?: AskOptions): CallOptions;
  /** Sends an operation, with retries if they may help. @throws UnavailableError if no answer came. */
  ask(operation: Operation, input: CallInput, options?: AskOptions): Promise<Reply>;
  /** Sends a GET of a path below the base URL, or of a URL of the service, in the same way. */
  get(path: string, options?: AskOptions): Promise<Reply>;
  /** The answer to a GET that several checks look at, sent once in a round. */
  visit(operation: Operation, input?: CallInput): Promise<Reply>;
}

interface Limits {
  readonly signal: AbortSignal;
  readonly createSignal?: AbortSignal;
  /** For all requests of the check together. */
  readonly timeoutMs?: number;
  readonly retries?: number;
  /** Sends each request on a connection of its own. */
  readonly isAlone?: boolean;
}

const retriedStatuses = [429, 502, 503, 504];

export function startCheck(round: Round, limits: Limits): CheckRun {
  const { client, options } = round;
  const { signal, timeoutMs = options.timeoutMs, retries = options.retries } = limits;
  const endMs = monotonicMs() + timeoutMs;
  let first: string | undefined;
  const send = async (
    asked: AskOptions,
    work: (callOptions: CallOptions, changes: FieldChanges) => Promise<RawAnswer>,
  ) => {
    let elapsedMs = 0;
    const answer = await work(
      {
        ...run.callOptions(asked),
        afterAttempt(attempt) {
          elapsedMs = attempt.elapsedMs;
          const { response, error, nextDelayMs } = attempt;
          if (nextDelayMs !== undefined) first ??= response ? statusText(response.status) : error?.message;
          if (response) round.onAnswer(response);
        },
      },
      { ...(limits.isAlone && { connection: 'close' }), ...asked.changes },
    );
    return { ...answer, ...readBody(answer), elapsedMs };
  };
  const run: CheckRun = {
    ...round,
    signal,
    createSignal: limits.createSignal ?? signal,
    get first() {
      return first;
    },
    callOptions({ isExpected = () => false, changes, ...asked } = {}) {
      const leftMs = endMs - monotonicMs();
      if (leftMs <= 0)
        throw new VerdictError(
          fail(`not done within ${durationText(timeoutMs)}`, { hint: 'allow more time with --timeout' }),
        );
      const statuses = new Set(retriedStatuses.filter((status) => !isExpected(status)));
      return { signal, timeoutMs: leftMs, retries, retriedStatuses: statuses, skipsNotices: true, ...asked };
    },
    async ask(operation, given, asked = {}) {
      const { id, method } = operation;
      const input = toAcceptedInput(operation, given);
      const reply = await send(asked, (callOptions, changes) => client.send(id, input, callOptions, changes));
      return { ...reply, method, asked: askedId(operation, input) };
    },
    async get(path, asked = {}) {
      const reply = await send(asked, (callOptions, fields) =>
        client.request({ method: 'GET', path, fields }, callOptions),
      );
      return { ...reply, method: 'GET' };
    },
    visit(operation, input = {}) {
      const key = `${operation.id} ${askedId(operation, input)}`;
      const visit = round.visits.get(key) ?? run.ask(operation, input);
      round.visits.set(key, visit);
      return visit;
    },
  };
  return run;
}

function readBody({ fields, body }: RawAnswer): Pick<Reply, 'mediaType' | 'text' | 'json' | 'jsonFault'> {
  const [type = ''] = (fieldValue(fields, 'content-type') ?? '').split(';', 1);
  const mediaType = type.trim().toLowerCase();
  const text = Buffer.from(body).toString('utf8');
  try {
    return { mediaType, text, json: parseJson(text) };
  } catch (error) {
    return { mediaType, text, jsonFault: messageOf(error) };
  }
}

/** The request and the answer behind a verdict, for its report. */
export function detailsOf({ method, url, status, fields }: Reply): Details {
  return { method, url, status, requestId: requestIdOf(fields), cache: cacheOf(fields) };
}

/** The cache that answered, by its headers: `Age: 30, X-Cache: HIT`; undefined if none says so. */
export function cacheOf(fields: RawAnswer['fields']): string | undefined {
  const found = (['Age', 'X-Cache'] as const).flatMap((name) => {
    const value = fieldValue(fields, name.toLowerCase());
    return value === undefined ? [] : [`${name}: ${value.slice(0, 100)}`];
  });
  return found.join(', ') || undefined;
}

/** The operations that only read, in the contract's order. */
export function readsOf(contract: Contract): Operation[] {
  return [...contract.operations.values()].filter(({ method }) => method === 'GET');
}

/** The operation that is easiest to ask, and its input: one without an id, else the id is a guess. */
export function easiestOf(operations: readonly Operation[]) {
  const operation = operations.find((each) => idParameter(each) === undefined) ?? operations[0];
  const name = operation && idParameter(operation)?.name;
  return operation && { operation, input: name === undefined ? {} : { [name]: 1n } };
}

/** The parameter with the id of the record, at whatever place in the request. */
export function idParameter({ id, parameters }: Operation): Parameter | undefined {
  return parameters.find(({ name }) => name === idName(id));
}
