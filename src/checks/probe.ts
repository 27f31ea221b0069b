import { isUtf8 } from 'node:buffer';
import type { Contract } from '../api/contract.ts';
import { fieldValue, type HttpFields, requestIdOf } from '../api/http.ts';
import { type Operation, type OperationId, operations, type Parameter } from '../api/operations.ts';
import type { Client } from '../client/client.ts';
import type { RawRequest } from '../client/request.ts';
import { type CallInput, toRequest, withId } from '../client/request.ts';
import { retryAfter } from '../client/retry.ts';
import { monotonicMs } from '../clock.ts';
import { sleep } from '../deadline.ts';
import { type ApiError, UnavailableError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../json.ts';
import type { CheckResult, Details } from './check.ts';
import type { SmokeOptions } from './options.ts';
import type { Sockets } from './sockets.ts';
import { statusText } from './text.ts';

/** The answer to a request, whatever its status. */
export interface Reply {
  readonly request: RawRequest;
  /** The URL that answered, after redirects. */
  readonly url: string;
  readonly status: number;
  readonly fields: HttpFields;
  /** Bytes that are not UTF-8 become U+FFFD. */
  readonly text: string;
  readonly isUtf8: boolean;
  /** Of the last attempt. */
  readonly elapsedMs: number;
  /** The result of the first attempt, if there was more than one. */
  readonly first?: string | undefined;
  /** The error, if the status is 400 or above. */
  readonly refusal: ApiError | undefined;
}

/** A reply that checks of the same operation share, or the reason why there is none. */
type Visit = { readonly reply: Reply } | { readonly none: string };

interface ProbeParts {
  readonly client: Client;
  readonly options: SmokeOptions;
  readonly sockets: Sockets;
  /** Aborts pending requests. */
  readonly signal: AbortSignal;
  /** Results so far, by id. */
  readonly results: ReadonlyMap<string, CheckResult>;
  /** Why the wait for the service ended without success. */
  readonly late?: string | undefined;
  /** Masks the known secrets. */
  mask(text: string): string;
  now(): Date;
}

interface SendOptions {
  /** Leaves out a credential in the query. */
  readonly withoutParameter?: boolean;
  /** Used instead of the probe's own. */
  readonly signal?: AbortSignal;
}

/** The shared state of the checks of one run. */
export interface Probe extends ProbeParts {
  /** Parts of answers that could not be checked, a clause each: a check with a remark does not pass. */
  readonly remarks: string[];
  /** The first result of each request that needed another attempt. */
  readonly firsts: string[];
  /**
   * The request of an operation, without the fields that the client adds. @throws UsageError if the input breaks the
   * contract.
   */
  toRequest(operation: Operation, input: CallInput): RawRequest;
  /** Sends a request, with retries if they may help. @throws UnavailableError if no answer came. */
  send(request: RawRequest, options?: SendOptions): Promise<Reply>;
  /** Sends a request once. */
  sendOnce(request: RawRequest, timeoutMs?: number): Promise<Reply>;
  /** The reply to a plain GET of an operation, sent once in a run; or the reason why it cannot be sent. */
  visit(operation: Operation): Promise<Visit>;
}

const firstPauseMs = 250;
/** The longest wait for the service's rate limit, for one request. */
const patienceMs = 30_000;

export function createProbe(parts: ProbeParts): Probe {
  const { client, options } = parts;
  const visits = new Map<OperationId, Promise<Visit>>();
  const probe: Probe = {
    ...parts,
    remarks: [],
    firsts: [],
    toRequest(operation, input) {
      client.toRequest(operation.id, input as never);
      const { method, url, fields, body } = toRequest(operation, withId(operation, input), {
        baseUrl: client.baseUrl,
        fields: {},
      });
      return { method, path: url, fields, body };
    },
    /** A retried write may be applied twice; the caller must expect that. */
    async send(request, sendOptions = {}) {
      let first: string | undefined;
      for (let attempt = 0; ; attempt += 1) {
        const isLast = attempt >= options.retries;
        try {
          const reply = await sendPatiently(probe, request, sendOptions);
          if (isLast || !isGatewayStatus(reply.status)) return { ...reply, first };
          first ??= statusText(reply.status);
        } catch (error) {
          if (isLast || !mayPass(error)) throw error;
          first ??= (error as Error).message;
        }
        if (attempt === 0) probe.firsts.push(first);
        await pause(firstPauseMs * 2 ** attempt, sendOptions.signal ?? parts.signal);
      }
    },
    sendOnce: (request, timeoutMs) => sendOnce(probe, request, { timeoutMs }),
    visit(operation) {
      const visit = visits.get(operation.id) ?? makeVisit(probe, operation);
      visits.set(operation.id, visit);
      return visit;
    },
  };
  return probe;
}

/** Sends a request, and again while the service answers that requests come too fast and says how long to wait. */
async function sendPatiently(probe: Probe, request: RawRequest, options: SendOptions): Promise<Reply> {
  const endMs = monotonicMs() + patienceMs;
  for (;;) {
    const reply = await sendOnce(probe, request, options);
    const waitMs = reply.status === 429 ? retryAfter(reply.fields, probe.now) : undefined;
    if (waitMs === undefined || monotonicMs() + waitMs > endMs) return reply;
    await pause(Math.max(waitMs, firstPauseMs), options.signal ?? probe.signal);
  }
}

async function sendOnce(
  { client, signal, options }: Probe,
  request: RawRequest,
  given: SendOptions & { readonly timeoutMs?: number | undefined } = {},
): Promise<Reply> {
  const startedMs = monotonicMs();
  const answer = await client.request(request, {
    signal: given.signal ?? signal,
    timeoutMs: given.timeoutMs ?? options.timeoutMs,
    withoutParameter: given.withoutParameter,
    retries: 0,
  });
  const elapsedMs = monotonicMs() - startedMs;
  const { url, status, fields, error: refusal } = answer;
  const body = Buffer.from(answer.body);
  const text = body.toString('utf8');
  return { request, url, status, fields, text, isUtf8: isUtf8(body), elapsedMs, refusal };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, signal);
}

function mayPass(error: unknown): boolean {
  const passing = ['refused', 'dns', 'reset', 'timeout', 'proxy'];
  return error instanceof UnavailableError && passing.includes(error.reason);
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
  return parameters.find(({ name }) => operations[id].path.includes(`{${name}}`));
}

/** The records in a list's answer; empty if it is not a list. */
export function recordsOf(reply: Pick<Reply, 'text'>): JsonObject[] {
  const body = jsonOf(reply);
  return Array.isArray(body) ? body.filter(isJsonObject) : [];
}

/** The value of an answer's JSON body; undefined if it is not JSON. */
export function jsonOf({ text }: Pick<Reply, 'text'>): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The media type of an answer, in lower case and without parameters; empty if it has none. */
export function mediaTypeOf({ fields }: Pick<Reply, 'fields'>): string {
  return (fieldValue(fields, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** The request and the answer behind a verdict, for its report. */
export function detailsOf({ request, url, status, fields }: Reply): Details {
  return { method: request.method, url, status, requestId: requestIdOf(fields) };
}

export function toId(value: JsonValue | undefined): bigint | undefined {
  const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
  return isInteger ? BigInt(value) : undefined;
}

async function makeVisit(probe: Probe, operation: Operation): Promise<Visit> {
  const name = idParameter(operation)?.name;
  if (name === undefined) return { reply: await probe.send(probe.toRequest(operation, {})) };
  const found = await findId(probe, operation, name);
  if (typeof found === 'string') return { none: found };
  return { reply: await probe.send(probe.toRequest(operation, { [name]: found })) };
}

/**
 * Looks in the list of the operation's own noun first, then for the same id field in other lists. Returns a text if it
 * finds none.
 */
async function findId(probe: Probe, operation: Operation, name: string): Promise<bigint | string> {
  const lists = readsOf(probe.client.contract).filter(({ many }) => many);
  const own = lists.filter(({ noun }) => noun === operation.noun);
  let problem: string | undefined;
  for (const list of [...own, ...lists.filter((each) => !own.includes(each))]) {
    const isOwn = own.includes(list);
    const visit = await probe.visit(list).catch(() => undefined);
    const reply = visit && 'reply' in visit ? visit.reply : undefined;
    if (isOwn && !(reply && list.success.includes(reply.status)))
      problem = `${list.id} ${reply ? `answered ${statusText(reply.status)}` : 'gave no answer'}, so there is no ${name} to ask for`;
    const records = reply ? recordsOf(reply) : [];
    const ids = records.map((record) => toId(record[name] ?? (isOwn ? record.id : undefined)));
    const id = ids.find((each) => each !== undefined && each >= 0n);
    if (id !== undefined) return id;
  }
  return problem ?? `no list has a record that gives ${name}`;
}
