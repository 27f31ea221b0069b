import type { Contract } from '../api/contract.ts';
import type { HttpFields, HttpRequest, HttpResponse } from '../api/http.ts';
import type { Input, ListId, OperationId, Query, ReadId, Result } from '../api/operations.ts';
import type { ApiError } from '../errors.ts';

/** A finished attempt, for traces, rate limits and back-off. */
export interface Attempt {
  readonly request: HttpRequest;
  /** 1 for the first. */
  readonly number: number;
  readonly elapsedMs: number;
  /** The result: an answer, or the error of the transport. */
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
  /** Leaves out the client's credential in the query. */
  readonly withoutParameter?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What is looked up beside what the user asked for: no notice tells of its endpoint. */
  readonly isAside?: boolean | undefined;
  /**
   * The longest Retry-After to wait for. The wait does not count against the deadline; a longer one ends the call. If
   * undefined, a Retry-After counts against the deadline, and ends the call if it does not fit.
   */
  readonly maxRetryAfterMs?: number | undefined;
  /**
   * Called before each attempt. A promise is awaited and does not count against the deadline: a rate limit, or a shared
   * pause.
   */
  beforeAttempt?(): Promise<void> | undefined;
  afterAttempt?(attempt: Attempt): void;
}

/** A valid answer: the record with all fields in the service's order, ids as bigints. */
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
  /** Sends an arbitrary request below the base URL; returns any answer, also an error status. */
  request(request: RawRequest, options?: CallOptions): Promise<RawAnswer>;
  close(): Promise<void>;
}

/** The value of a call: the record. A write may be answered with a bare 2xx, without a record. */
type Answered<K extends OperationId> = K extends ReadId ? Result<K> : Result<K> | undefined;

/** The answer to a raw request, with its content encodings decoded. */
export interface RawAnswer extends HttpResponse {
  readonly body: Uint8Array;
  /** The URL that answered, after redirects. */
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
  /** Added to the client's own fields; an undefined value removes one of those. */
  readonly fields?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
  readonly body?: string | Uint8Array | undefined;
}
