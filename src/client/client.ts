import { type Contract, type Operation, offeredOperation } from '../api/contract.ts';
import {
  fieldValue,
  type HttpFields,
  type HttpRequest,
  type HttpResponse,
  type Transport,
} from '../api/http.ts';
import type { Input, ListId, OperationId, operations, Query, Result } from '../api/operations.ts';
import type { ApiError } from '../errors.ts';
import { maskFields } from '../mask.ts';
import { createSender } from './attempts.ts';
import { BodyError, decodeBody, isEncoded, maxAnswerBytes } from './body.ts';
import { checkInput } from './bounds.ts';
import { type CredentialParameter, withMaskedParameter } from './credential-parameter.ts';
import { type Failed, invalidResponse, refusalError } from './failures.ts';
import { createPages } from './pages.ts';
import { toRawRequest } from './raw.ts';
import { type CallInput, toRequest, withId } from './request.ts';
import { InvalidAnswerError, readResult } from './response.ts';

/** One attempt as it ended, for traces, rate limits and back-off. */
export interface Attempt {
  readonly request: HttpRequest;
  /** 1 for the first. */
  readonly number: number;
  readonly elapsedMs: number;
  /** What ended it: an answer, or the error of the transport. */
  readonly response?: HttpResponse | undefined;
  readonly error?: Error | undefined;
  /** The answer's Retry-After, in milliseconds from now. */
  readonly retryAfterMs?: number | undefined;
  /** Milliseconds until the next attempt; undefined where there will be none. */
  readonly nextDelayMs?: number | undefined;
}

export interface CallOptions {
  /** Sent as If-Match. */
  readonly ifMatch?: string | undefined;
  /** Deadline of the whole call in milliseconds, instead of the client's. */
  readonly timeoutMs?: number | undefined;
  /** Most retries, instead of the client's. */
  readonly retries?: number | undefined;
  /** Leaves out the credential that the client would put into the query. */
  readonly withoutParameter?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Longest Retry-After that is waited for, outside the deadline; a longer one ends the call. Where this is absent a
   * Retry-After counts against the deadline, and ends the call where it does not fit.
   */
  readonly maxRetryAfterMs?: number | undefined;
  /** Awaited before each attempt, outside the deadline, where it gives a promise: a rate limit or a pause of all workers. */
  beforeAttempt?(): Promise<void> | undefined;
  afterAttempt?(attempt: Attempt): void;
}

/** A valid answer: the record with the service's own fields and their order, ids as bigints. */
export interface Answer<Value> {
  readonly value: Value;
  readonly status: number;
  readonly fields: HttpFields;
  readonly etag: string | undefined;
  readonly attempts: number;
}

export interface Client {
  readonly contract: Contract;
  readonly baseUrl: string;
  /**
   * Sends one operation and gives its validated answer.
   *
   * @throws UsageError before any request where the contract lacks the operation or the input breaks its bounds;
   *   ApiError where the service refused; UnavailableError where no valid answer came.
   */
  call<K extends OperationId>(id: K, input: Input<K>, options?: CallOptions): Promise<Answer<Answered<K>>>;
  /** The pages of a list, each fetched when it is asked for; follows `Link: rel="next"` and nothing else. */
  list<K extends ListId>(id: K, query?: Query<K>, options?: CallOptions): AsyncIterable<Result<K>[]>;
  /** The request that `call` would send, with no credential in it: for `--dry-run`. */
  toRequest<K extends OperationId>(id: K, input: Input<K>, options?: CallOptions): HttpRequest;
  /** The request that `request` would send, likewise. */
  toRawRequest(request: RawRequest): HttpRequest;
  /** A request of the user's own making, below the base URL; any answer is given, refused or not. */
  request(request: RawRequest, options?: CallOptions): Promise<RawAnswer>;
  close(): Promise<void>;
}

/** What a call gives: its record; a write may also be answered with a bare 2xx, and then there is none. */
type Answered<K extends OperationId> = (typeof operations)[K]['method'] extends 'GET'
  ? Result<K>
  : Result<K> | undefined;

/** An answer to a raw request, its content encodings undone. */
export interface RawAnswer extends HttpResponse {
  readonly body: Uint8Array;
  /** Where it came from, redirects followed. */
  readonly url: string;
  readonly attempts: number;
  /** The error that it is, where its status is 400 or above. */
  readonly refusal: ApiError | undefined;
}

export interface RawRequest {
  readonly method: string;
  /** Path below the base URL, or an absolute URL of the same origin. */
  readonly path: string;
  readonly query?: readonly (readonly [name: string, value: string])[] | undefined;
  /** Beside the client's own; one that is undefined here leaves the client's own out. */
  readonly fields?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
  readonly body?: string | Uint8Array | undefined;
}

interface ClientOptions {
  readonly contract: Contract;
  /** Without a trailing slash; paths of operations are joined below it. */
  readonly baseUrl: string;
  readonly transport: Transport;
  /** Fields for every request: the user agent, those of `--header`, the credential. */
  readonly fields: HttpFields;
  /** A credential that every request carries in its query. */
  readonly parameter?: CredentialParameter | undefined;
  /** Where the credential came from, for the hint where it is refused. */
  readonly credential?: string | undefined;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly signal: AbortSignal;
  /** Masks secrets in what an error tells of an answer. */
  readonly mask?: ((text: string) => string) | undefined;
  /** Sees every attempt of every call, for traces. */
  onAttempt?: ((attempt: Attempt) => void) | undefined;
  /** Sees the answer of every operation, for notices of deprecation and stability. */
  onAnswer?(operation: Operation, response: HttpResponse): void;
  now(): Date;
}

export function createClient(options: ClientOptions): Client {
  const { contract, baseUrl, fields, parameter, transport } = options;
  const target = { baseUrl, fields };
  const send = createSender(options);

  const fetchResult = async (operation: Operation, request: HttpRequest, callOptions: CallOptions) => {
    const exchange = await send(request, operation.summary, callOptions);
    const { response, url, attempts } = exchange;
    const { status, fields } = response;
    options.onAnswer?.(operation, response);
    const failed = () => ({
      what: operation.summary,
      method: request.method,
      mask: options.mask,
      credential: options.credential,
      ...exchange,
    });
    if (status >= 400) throw await refusalError(failed(), response);
    try {
      const value = readResult(operation, isEncoded(response) ? await decoded(response) : response);
      return { value, status, fields, etag: fieldValue(fields, 'etag'), attempts, url };
    } catch (error) {
      throw toInvalidResponse(failed(), status, error);
    }
  };

  const call = (id: OperationId, given: CallInput, callOptions: CallOptions = {}) => {
    const operation = offeredOperation(contract, id);
    const input = withId(operation, given);
    checkInput(operation, input, fields);
    return fetchResult(operation, withIfMatch(toRequest(operation, input, target), callOptions), callOptions);
  };

  async function* list(id: ListId, query: Query<ListId> = {}, callOptions: CallOptions = {}) {
    const operation = offeredOperation(contract, id);
    checkInput(operation, { query }, fields);
    const pages = createPages();
    const first = toRequest(operation, { query }, target);
    for (let next: string | undefined = first.url; next !== undefined; ) {
      const page = await fetchResult(operation, { ...first, url: next }, callOptions);
      const { status, fields, url, attempts } = page;
      const records = page.value as unknown[];
      yield records;
      try {
        next = pages.after({ url, fields, size: records.length });
      } catch (error) {
        const failed = { what: operation.summary, method: first.method, url, attempts, mask: options.mask };
        throw toInvalidResponse(failed, status, error);
      }
    }
  }

  const requestRaw = async (request: HttpRequest, callOptions: CallOptions): Promise<RawAnswer> => {
    const exchange = await send(request, undefined, callOptions);
    const { response, url, attempts } = exchange;
    const { status, fields } = response;
    const { mask, credential } = options;
    const failed = { what: undefined, method: request.method, mask, credential, ...exchange };
    const refusal = status >= 400 ? await refusalError(failed, response) : undefined;
    try {
      return { status, fields, body: await decodeBody(response, maxAnswerBytes), url, attempts, refusal };
    } catch (error) {
      throw toInvalidResponse(failed, status, error);
    }
  };

  return {
    contract,
    baseUrl,
    call: ((id, input, callOptions) => {
      try {
        return call(id, input, callOptions);
      } catch (error) {
        return Promise.reject(error);
      }
    }) as Client['call'],
    list: list as Client['list'],
    toRequest(id, given, callOptions = {}) {
      const operation = offeredOperation(contract, id);
      const input = withId(operation, given);
      checkInput(operation, input, fields);
      const request = toRequest(operation, input, { baseUrl, fields: maskFields(fields) });
      return withMaskedParameter(withIfMatch(request, callOptions), parameter);
    },
    toRawRequest: (raw) =>
      withMaskedParameter(toRawRequest(raw, { baseUrl, fields: maskFields(fields) }), parameter),
    request: (raw, callOptions = {}) =>
      requestRaw(withIfMatch(toRawRequest(raw, target), callOptions), callOptions),
    close: () => transport.close(),
  };
}

function withIfMatch(request: HttpRequest, { ifMatch }: CallOptions): HttpRequest {
  return ifMatch === undefined ? request : { ...request, fields: { ...request.fields, 'if-match': ifMatch } };
}

async function decoded(response: HttpResponse): Promise<HttpResponse> {
  return { ...response, body: await decodeBody(response, maxAnswerBytes) };
}

function toInvalidResponse(failed: Failed, status: number, error: unknown): unknown {
  if (error instanceof InvalidAnswerError)
    return invalidResponse(failed, error.message, { status, answer: error.answer });
  return error instanceof BodyError ? invalidResponse(failed, error.message, { status }) : error;
}
