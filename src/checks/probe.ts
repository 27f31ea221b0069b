import { isUtf8 } from 'node:buffer';
import type { Contract, Operation, Parameter } from '../api/contract.ts';
import { fieldValue, type HttpFields, requestIdOf } from '../api/http.ts';
import { type OperationId, operations } from '../api/operations.ts';
import type { Client, RawRequest } from '../client/client.ts';
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
  /** Where the answer came from, redirects followed. */
  readonly url: string;
  readonly status: number;
  readonly fields: HttpFields;
  /** Bytes that are not UTF-8 show as U+FFFD. */
  readonly text: string;
  readonly isUtf8: boolean;
  /** Of the last attempt. */
  readonly elapsedMs: number;
  /** What the first attempt came to, if there was more than one. */
  readonly first?: string | undefined;
  /** The error that it is, if its status is 400 or above. */
  readonly refusal: ApiError | undefined;
}

/** A call and, once it was made, its reply: checks of the same operation share one. */
type Visit = { readonly reply: Reply } | { readonly none: string };

interface ProbeParts {
  readonly client: Client;
  readonly options: SmokeOptions;
  readonly sockets: Sockets;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
  /** Results so far, by id. */
  readonly results: ReadonlyMap<string, CheckResult>;
  /** Why the wait for the service ended without success. */
  readonly late?: string | undefined;
  /** Masks the secrets of this run. */
  mask(text: string): string;
  now(): Date;
}

interface SendOptions {
  /** Leaves out the credential that requests carry in their query. */
  readonly withoutParameter?: boolean;
  /** In place of the probe's own. */
  readonly signal?: AbortSignal;
}

/** What the checks of one run work with. */
export interface Probe extends ProbeParts {
  /** What could not be checked of the answers so far, a clause each: a check that looks at them does not pass. */
  readonly remarks: string[];
  /** What came first, of each request that took another attempt. */
  readonly firsts: string[];
  /** The request of an operation, without what the client adds. @throws UsageError if the input breaks the contract. */
  toRequest(operation: Operation, input: CallInput): RawRequest;
  /** Sends a request, and again if that may help. @throws UnavailableError if no answer came. */
  send(request: RawRequest, options?: SendOptions): Promise<Reply>;
  /** Sends a request once. */
  sendOnce(request: RawRequest, timeoutMs?: number): Promise<Reply>;
  /** The reply to a plain GET of an operation, which is sent once in a run; or why there is nothing to get. */
  visit(operation: Operation): Promise<Visit>;
}

const firstPauseMs = 250;
/** Longest that a rate limit of the service may hold up one request. */
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
    /** A write that is sent again may have been applied twice: its sender must be ready for that. */
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

/** Sends a request, and again for as long as the service says that it is asked too fast and how long to wait. */
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
  const { url, status, fields, refusal } = answer;
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

/** Whether a status is a gateway's word that the service behind it does not answer. */
export function isGatewayStatus(status: number): boolean {
  return status >= 502 && status <= 504;
}

/** The operations that only read, in the contract's order. */
export function readsOf(contract: Contract): Operation[] {
  return [...contract.operations.values()].filter(({ method }) => method === 'GET');
}

/** The parameter that names the record of an operation, wherever the service takes it. */
export function idParameter({ id, parameters }: Operation): Parameter | undefined {
  return parameters.find(({ name }) => operations[id].path.includes(`{${name}}`));
}

/** The records of a list's answer; none if it is not a list. */
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

/** The media type of an answer, in lower case and without parameters; empty if it names none. */
export function mediaTypeOf({ fields }: Pick<Reply, 'fields'>): string {
  return (fieldValue(fields, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Where and to what a verdict's answer came, for its report. */
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

/** Looks in the list of the operation's own noun first, then for the same name in the other lists; or why it found none. */
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
  return problem ?? `no list has a record whose ${name} could be asked for`;
}
