import { type Contract, mayHaveMore, offeredOperation } from '../api/contract.ts';
import {
  fieldValue,
  type HttpFields,
  type HttpRequest,
  type HttpResponse,
  type Transport,
} from '../api/http.ts';
import { linkTarget } from '../api/links.ts';
import type { Input, ListId, Operation, OperationId, Query, ReadId, Result } from '../api/operations.ts';
import type { ApiError, UnavailableError } from '../process/errors.ts';
import { maskUrl } from '../process/secrets.ts';
import { checkInput } from './bounds.ts';
import { Call, type CallOptions, type ClientOptions } from './call.ts';
import { answeredError, callError, mismatchError } from './call-error.ts';
import {
  askedId,
  type CallInput,
  type FieldChanges,
  type RawRequest,
  type RequestBase,
  toRawRequest,
  toRequest,
  withChanges,
  withId,
  withMaskedParameter,
} from './request.ts';
import { accepted, checkStatus, differences, readResult } from './response.ts';
import { invalidAnswer } from './transport/answer.ts';

export interface Client {
  readonly contract: Contract;
  readonly baseUrl: string;
  /** The source of the credential, for messages; undefined if none is sent. */
  readonly credential: string | undefined;
  /**
   * Sends one operation and returns its validated answer.
   *
   * @throws UsageError before any request if the contract lacks the operation or the input breaks its bounds; ApiError
   *   if the service answered with an error; UnavailableError if there is no valid answer.
   */
  call<K extends OperationId>(id: K, input: Input<K>, options?: CallOptions): Promise<Answer<Answered<K>>>;
  /** The pages of a list, each fetched when it is needed. Follows `Link: rel="next"` only. */
  list<K extends ListId>(id: K, query?: Query<K>, options?: CallOptions): AsyncIterable<Result<K>[]>;
  /** The request that `call` would send, without a credential; for `--dry-run`. */
  toRequest<K extends OperationId>(id: K, input: Input<K>, options?: CallOptions): HttpRequest;
  /** The request that `request` would send, without a credential. */
  toRawRequest(request: RawRequest): HttpRequest;
  /**
   * Sends one operation and returns any answer, also an error status.
   *
   * @param changes fields that replace those of the request; undefined removes one.
   * @throws as `call`, but not for what was answered.
   */
  send(id: OperationId, input: CallInput, options?: CallOptions, changes?: FieldChanges): Promise<RawAnswer>;
  /** Sends an arbitrary request below the base URL; returns any answer, also an error status. */
  request(request: RawRequest, options?: CallOptions): Promise<RawAnswer>;
  /** That of the transport. */
  readonly exclusively: Transport['exclusively'];
  close(): Promise<void>;
}

/** The value of a call: the record. A write may be answered with a bare 2xx, without a record. */
type Answered<K extends OperationId> = K extends ReadId ? Result<K> : Result<K> | undefined;

/** A valid answer: the record with all fields in the service's order, ids as bigints. */
export interface Answer<Value> {
  readonly value: Value;
  readonly status: number;
  readonly fields: HttpFields;
  readonly etag: string | undefined;
  readonly attempts: number;
  /** True if the service will do the write later, or not (202). */
  readonly isAccepted: boolean;
  /** Names the fields of a write that the service answered with other values than those that were sent. */
  readonly mismatch: ApiError | undefined;
}

/** The answer to a raw request, with its content encodings decoded. */
export interface RawAnswer extends HttpResponse {
  readonly body: Uint8Array;
  /** The URL that answered, after redirects. */
  readonly url: string;
  readonly attempts: number;
  /** The answer as an error, if its status is not that of a success, nor 304. */
  readonly error: ApiError | UnavailableError | undefined;
}

/** A client of one service; it owns the transport and closes it. */
export function createClient(options: ClientOptions): Client {
  const { contract, baseUrl, fields, parameter, transport, secrets } = options;
  const shown: RequestBase = { baseUrl, fields: secrets.maskFields(fields) };
  return {
    contract,
    baseUrl,
    credential: options.credential,
    call: ((id, given, callOptions = {}) => {
      // Not `async`: one more promise per call is measurable at a million rows.
      try {
        const { operation, input } = checked(options, id, given, callOptions);
        const request = withIfMatch(toRequest(operation, input, options), callOptions);
        const call = new Call(options, request, callOptions, operation);
        return fetchAnswer(call, operation, askedId(operation, input), input.body);
      } catch (error) {
        return Promise.reject(error);
      }
    }) as Client['call'],
    list: ((id, query, callOptions) => list(options, id, query, callOptions)) as Client['list'],
    toRequest(id, given, callOptions = {}) {
      const { operation, input } = checked(options, id, given, callOptions);
      return withMaskedParameter(withIfMatch(toRequest(operation, input, shown), callOptions), parameter);
    },
    async send(id, given, callOptions = {}, changes = {}) {
      const { operation, input } = checked(options, id, given, callOptions);
      const request = toRequest(operation, input, options);
      const fields = withChanges(request.fields, changes);
      return fetchRaw(new Call(options, { ...request, fields }, callOptions, operation));
    },
    toRawRequest: (raw) => withMaskedParameter(toRawRequest(raw, shown), parameter),
    request: async (raw, callOptions = {}) =>
      fetchRaw(new Call(options, toRawRequest(raw, options), callOptions)),
    exclusively: transport.exclusively,
    close: () => transport.close(),
  };
}

/** @throws UsageError if the contract lacks the operation, or the input breaks its bounds. */
function checked(
  { contract, fields }: ClientOptions,
  id: OperationId,
  given: CallInput,
  { ifMatch, isUnchecked }: CallOptions,
) {
  const operation = offeredOperation(contract, id);
  const input = withId(operation, given);
  if (!isUnchecked)
    checkInput(operation, input, ifMatch === undefined ? fields : { ...fields, 'if-match': ifMatch });
  return { operation, input };
}

function withIfMatch(request: HttpRequest, { ifMatch }: CallOptions): HttpRequest {
  return ifMatch === undefined ? request : { ...request, fields: { ...request.fields, 'if-match': ifMatch } };
}

/**
 * @param id the requested id, if the operation is about one record.
 * @param sent the body of the request.
 */
async function fetchAnswer(
  call: Call,
  operation: Operation,
  id?: bigint,
  sent?: unknown,
): Promise<Answer<unknown>> {
  try {
    const response = await call.send();
    const { status, fields } = response;
    if (!call.options.isAside) call.client.observe?.({ kind: 'answer', operation, response });
    let value: unknown;
    if (!call.isGone) {
      if (status >= 400) throw answeredError(call, response);
      value = readResult(call, operation, id, response);
      if (value instanceof Promise) value = await value;
    }
    return {
      value,
      status,
      fields,
      etag: fieldValue(fields, 'etag'),
      attempts: call.attempts,
      isAccepted: status === accepted,
      mismatch: mismatchError(call, response, differences(sent, value)),
    };
  } catch (error) {
    throw callError(call, error);
  } finally {
    call.end();
  }
}

async function fetchRaw(call: Call): Promise<RawAnswer> {
  try {
    const response = await call.send();
    const { status, fields } = response;
    const body = typeof response.body === 'string' ? Buffer.from(response.body) : response.body;
    const error = call.isGone ? undefined : rawError(call, response);
    return { status, fields, body, url: call.request.url, attempts: call.attempts, error };
  } catch (error) {
    throw callError(call, error);
  } finally {
    call.end();
  }
}

/** An answer that is not of success as an error; a 304 answers a condition of the user's own. */
function rawError(call: Call, response: HttpResponse): ApiError | UnavailableError | undefined {
  if (response.status >= 400) return answeredError(call, response);
  try {
    if (response.status !== 304) checkStatus(call.request.method, response.status);
    return undefined;
  } catch (error) {
    return callError(call, error) as UnavailableError;
  }
}

const mostEmptyPages = 1000;

/** Follows the `next` links of one list. */
async function* list(
  options: ClientOptions,
  id: ListId,
  query: Query<ListId> = {},
  callOptions: CallOptions = {},
): AsyncGenerator<unknown[]> {
  const { operation, input } = checked(options, id, { query }, callOptions);
  const first = toRequest(operation, input, options);
  const seen = new Set<string>();
  let emptyPages = 0;
  for (let next: string | undefined = first.url; next !== undefined; ) {
    const call = new Call(options, { ...first, url: next }, callOptions, operation);
    const answer = await fetchAnswer(call, operation);
    const records = answer.value as unknown[];
    yield records;
    seen.add(withoutHash(call.request.url));
    emptyPages = records.length === 0 ? emptyPages + 1 : 0;
    try {
      next = nextPage(answer.fields, call.request.url);
      if (next === undefined && seen.size === 1) noteFullPage(options, operation, input, records.length);
      if (next !== undefined && seen.has(next))
        throw invalidAnswer(`the link to the next page repeats: ${maskUrl(next)}`);
      if (next !== undefined && emptyPages > mostEmptyPages)
        throw invalidAnswer(`more than ${mostEmptyPages} empty pages in a row`);
    } catch (error) {
      throw callError(call, error);
    }
  }
}

const told = new WeakSet<Operation>();

/** Notes once that a list may be longer than what was read of it. */
function noteFullPage(
  { observe }: ClientOptions,
  operation: Operation,
  input: CallInput,
  count: number,
): void {
  if (told.has(operation) || !mayHaveMore(operation, count, input.query?.limit as number | undefined)) return;
  told.add(operation);
  const line = `note: ${operation.id}: the service answered ${count}, a full page, without a link to a next one: there may be more`;
  observe?.({ kind: 'note', line });
}

/**
 * The URL of the next page; undefined after the last.
 *
 * @throws UnavailableError if the link is not a URL or leads to another origin.
 */
function nextPage(fields: HttpFields, url: string): string | undefined {
  const link = linkTarget(fieldValue(fields, 'link'), 'next');
  if (link === undefined) return undefined;
  if (!URL.canParse(link, url)) throw invalidAnswer(`the link to the next page is not a URL: ${link}`);
  const next = new URL(link, url);
  if (next.origin !== new URL(url).origin)
    throw invalidAnswer(`the link to the next page leads to another origin: ${maskUrl(next.href)}`);
  return withoutHash(next.href);
}

function withoutHash(url: string): string {
  const parsed = new URL(url);
  parsed.hash = '';
  return parsed.href;
}
