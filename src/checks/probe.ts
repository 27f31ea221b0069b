import type { Contract } from '../api/contract.ts';
import { fieldValue, requestIdOf } from '../api/http.ts';
import { idName, type Operation, type OperationId, type Parameter } from '../api/operations.ts';
import { int64Max } from '../api/values.ts';
import type { CallOptions } from '../client/call.ts';
import type { Client, RawAnswer } from '../client/client.ts';
import { askedId, type CallInput, type RawRequest, toAcceptedInput, toRequest } from '../client/request.ts';
import { fromWire } from '../client/response.ts';
import { retriedReasons, retryAfter } from '../client/retry.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { messageOf, UnavailableError, type UnavailableReason } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../process/exact-json.ts';
import { type Check, type CheckResult, type Details, skip, type Verdict, VerdictError } from './check.ts';
import { Traces } from './creations.ts';
import type { SmokeOptions } from './options.ts';
import type { Sockets } from './sockets.ts';
import type { SmokeStop } from './stop.ts';
import { statusText } from './text.ts';

/** The answer to a request, whatever its status. */
export interface Reply extends RawAnswer {
  readonly request: RawRequest;
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
  /** The result of the first attempt, if there was more than one. */
  readonly first?: string | undefined;
  /** The id of the record that was asked for. */
  readonly asked?: bigint | undefined;
}

/** The service under test, and how to test it. */
export interface SmokeSubject {
  readonly client: Client;
  readonly options: SmokeOptions;
  readonly sockets: Sockets;
  /** Masks the known secrets. */
  mask(text: string): string;
  now(): Date;
}

type SendOptions = Pick<CallOptions, 'signal' | 'timeoutMs' | 'parameter'>;

/** The shared state of the checks of one run. */
export interface Probe extends SmokeSubject {
  readonly stop: SmokeStop;
  /** Aborts pending requests. */
  signal: AbortSignal;
  /** Results so far, by id. */
  readonly results: Map<string, CheckResult>;
  /** The records that the run has created. */
  readonly traces: Traces;
  /** What the current check could not look at, a clause each: a check with a remark does not pass. */
  readonly remarks: Set<string>;
  /** The first result of a request of the current check that needed another attempt. */
  first?: string | undefined;
  /** The failure, if the wait for the service ended without success. */
  late?: Verdict | undefined;
  /**
   * The request of an operation, without the fields that the client adds. @throws UsageError if the input breaks the
   * contract.
   */
  toRequest(operation: Operation, input: CallInput): RawRequest;
  /** Sends a request, with retries if they may help. @throws UnavailableError if no answer came. */
  send(request: RawRequest, options?: SendOptions): Promise<Reply>;
  /** Sends the request of an operation in the same way. */
  call(operation: Operation, input: CallInput): Promise<Reply>;
  /** Sends a request once. */
  sendOnce(request: RawRequest, options?: SendOptions): Promise<Reply>;
  /**
   * The reply to a plain GET of an operation, sent once in a run. @throws VerdictError, a skip, if there is no id to
   * ask for.
   */
  visit(operation: Operation): Promise<Reply>;
}

const firstPauseMs = 250;
/** The longest wait for the service's rate limit, for one request. */
const patienceMs = 30_000;

export function createProbe(subject: SmokeSubject, stop: SmokeStop): Probe {
  const { client, options } = subject;
  const visits = new Map<OperationId, Promise<Reply>>();
  const probe: Probe = {
    ...subject,
    stop,
    signal: stop.stopped,
    results: new Map(),
    traces: new Traces(),
    remarks: new Set(),
    toRequest(operation, given) {
      const input = toAcceptedInput(operation, given);
      // Only for its checks of the input: the fields of this request are those of the client.
      client.toRequest(operation.id, input as never);
      const { method, url, fields, body } = toRequest(operation, input, {
        baseUrl: client.baseUrl,
        fields: {},
      });
      return { method, path: url, fields, body };
    },
    send: (request, sendOptions = {}) => sendWithRetries(probe, request, sendOptions),
    async call(operation, input) {
      const reply = await probe.send(probe.toRequest(operation, input));
      return { ...reply, asked: askedId(operation, input) };
    },
    async sendOnce(request, { signal = probe.signal, timeoutMs = options.timeoutMs, parameter } = {}) {
      const startedMs = monotonicMs();
      const answer = await client.request(request, { signal, timeoutMs, parameter, retries: 0 });
      const elapsedMs = monotonicMs() - startedMs;
      const [mediaType = ''] = (fieldValue(answer.fields, 'content-type') ?? '').split(';', 1);
      const text = Buffer.from(answer.body).toString('utf8');
      const parsed = parse(text);
      return { ...answer, request, mediaType: mediaType.trim().toLowerCase(), text, ...parsed, elapsedMs };
    },
    visit(operation) {
      const visit = visits.get(operation.id) ?? makeVisit(probe, operation);
      visits.set(operation.id, visit);
      return visit;
    },
  };
  return probe;
}

/** A retried write may be applied twice; the caller must expect that. */
async function sendWithRetries(probe: Probe, request: RawRequest, sendOptions: SendOptions): Promise<Reply> {
  const { options, now } = probe;
  const { signal = probe.signal } = sendOptions;
  const patientUntilMs = monotonicMs() + patienceMs;
  let first: string | undefined;
  for (let attempt = 0; ; ) {
    const isLast = attempt >= options.retries;
    try {
      const reply = await probe.sendOnce(request, sendOptions);
      const waitMs = reply.status === 429 ? retryAfter(reply.fields, now().getTime()) : undefined;
      if (waitMs !== undefined && monotonicMs() + waitMs <= patientUntilMs) {
        // Waiting for the rate limit is not an attempt.
        await sleep(Math.max(waitMs, firstPauseMs), signal);
        continue;
      }
      if (isLast || !isGatewayStatus(reply.status)) return { ...reply, first };
      first ??= statusText(reply.status);
    } catch (error) {
      if (isLast || !mayPass(error)) throw error;
      first ??= messageOf(error);
    }
    probe.first ??= first;
    await sleep(firstPauseMs * 2 ** attempt, signal);
    attempt += 1;
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof UnavailableError && retriedReasons.has(error.reason);
}

/** Whether only one operation failed. After any other failure, the host itself does not answer. */
export function isOfOneOperation(error: unknown): boolean {
  const ofOne: readonly UnavailableReason[] = ['invalid-response', 'reset', 'redirect'];
  return error instanceof UnavailableError && ofOne.includes(error.reason);
}

/** Whether a status means that a gateway got no answer from the service behind it. */
export function isGatewayStatus(status: number): boolean {
  return status >= 502 && status <= 504;
}

/** The operations that only read, in the contract's order. */
export function readsOf(contract: Contract): Operation[] {
  return [...contract.operations.values()].filter(({ method }) => method === 'GET');
}

/** The parameter with the id of the record, at whatever place in the request. */
export function idParameter({ id, parameters }: Operation): Parameter | undefined {
  return parameters.find(({ name }) => name === idName(id));
}

/** One check for every GET. */
export function readChecks(
  group: string,
  contract: Contract,
  run: (probe: Probe, operation: Operation) => Promise<Verdict>,
): Check<Probe>[] {
  return readsOf(contract).map((operation) => ({
    id: `${group}/${operation.id}`,
    operation,
    run: (probe) => run(probe, operation),
  }));
}

/** The records in a list's answer, by our names; empty if it is not a list. */
export function recordsOf(operation: Operation, { json = null }: Reply): JsonObject[] {
  const records = fromWire(operation, json);
  return Array.isArray(records) ? records.filter(isJsonObject) : [];
}

/** The record in an answer, by our names; undefined if there is none. */
export function recordOf(operation: Operation, { json = null }: Reply): JsonObject | undefined {
  const record = fromWire(operation, json);
  return isJsonObject(record) ? record : undefined;
}

function parse(text: string): Pick<Reply, 'json' | 'jsonFault'> {
  try {
    return { json: parseJson(text) };
  } catch (error) {
    return { jsonFault: messageOf(error) };
  }
}

/** The request and the answer behind a verdict, for its report. */
export function detailsOf({ request, url, status, fields }: Reply): Details {
  return { method: request.method, url, status, requestId: requestIdOf(fields) };
}

/** The id that a field of a record holds; undefined if the value is not an integer. */
export function jsonId(value: JsonValue | undefined): bigint | undefined {
  const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
  return isInteger ? BigInt(value) : undefined;
}

async function makeVisit(probe: Probe, operation: Operation): Promise<Reply> {
  const name = idParameter(operation)?.name;
  return probe.call(operation, name === undefined ? {} : { [name]: await findId(probe, operation, name) });
}

/** Looks for an id in the list of the operation's own noun first, then for the same id field in other lists. */
async function findId(probe: Probe, operation: Operation, name: string): Promise<bigint> {
  const lists = readsOf(probe.client.contract).filter(({ many }) => many);
  const own = lists.filter(({ noun }) => noun === operation.noun);
  let problem = `no list has a record that gives ${name}`;
  for (const list of new Set([...own, ...lists])) {
    const isOwn = own.includes(list);
    const reply = await probe.visit(list).catch(() => undefined);
    if (isOwn && !(reply && list.success.includes(reply.status)))
      problem = `${list.id} ${reply ? `answered ${statusText(reply.status)}` : 'gave no answer'}, so there is no ${name} to ask for`;
    const records = reply ? recordsOf(list, reply) : [];
    const ids = records.map((record) => jsonId(record[name] ?? (isOwn ? record.id : undefined)));
    const id = ids.find((each) => each !== undefined && each >= 0n && each <= int64Max);
    if (id !== undefined) return id;
  }
  throw new VerdictError(skip(problem));
}
