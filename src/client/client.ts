import type { Contract } from '../api/contract.ts';
import type { HttpFields, HttpRequest, HttpResponse } from '../api/http.ts';
import type { Input, ListId, OperationId, operations, Query, Result } from '../api/operations.ts';
import type { ApiError } from '../errors.ts';

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
  /** Milliseconds until the next attempt; undefined if there will be none. */
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
   * Longest Retry-After that is waited for, outside the deadline; a longer one ends the call. If this is absent, a
   * Retry-After counts against the deadline, and ends the call if it does not fit.
   */
  readonly maxRetryAfterMs?: number | undefined;
  /** Awaited before each attempt, outside the deadline, if it gives a promise: a rate limit or a pause of all workers. */
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
   * @throws UsageError before any request if the contract lacks the operation or the input breaks its bounds;
   *   ApiError if the service refused; UnavailableError if no valid answer came.
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

/** The value of a call: its record; a write may also be answered with a bare 2xx, and then there is none. */
type Answered<K extends OperationId> = (typeof operations)[K]['method'] extends 'GET'
  ? Result<K>
  : Result<K> | undefined;

/** An answer to a raw request, its content encodings undone. */
export interface RawAnswer extends HttpResponse {
  readonly body: Uint8Array;
  /** Where it came from, redirects followed. */
  readonly url: string;
  readonly attempts: number;
  /** The answer as an error, if its status is 400 or above. */
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
