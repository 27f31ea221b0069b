import type { Contract } from '../api/contract.ts';
import type { HttpHeaders, HttpRequest, HttpResponse, Transport } from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import type { Secrets } from '../process/secrets.ts';
import type { Attempt } from './answer-table.ts';
import type { Pace, RetryLimits } from './pace.ts';

export interface CallLimits extends RetryLimits {
  /** The deadline of the whole call, retries included, in milliseconds. */
  readonly timeoutMs: number;
}

/** The service that a client calls, and how. */
export interface ClientOptions {
  readonly contract: Contract;
  /** Without a trailing slash; operation paths are appended to it. */
  readonly baseUrl: string;
  /** The headers of every request: the user agent, the headers of `--header`, the credential. */
  readonly headers: HttpHeaders;
  /** The headers of operations that need no credential. */
  readonly openHeaders: HttpHeaders;
  /** The setting or the flag that the credential comes from, for messages. */
  readonly credentialSource?: string | undefined;
  /** Why the token of the settings is not sent, a sentence. */
  readonly whyNoCredential?: string | undefined;
  readonly transport: Transport;
  /** Saves the changes of the embedded store. A run calls it each second and at its end. Other services have none. */
  readonly saveStore?: (() => Promise<void>) | undefined;
  readonly limits: CallLimits;
  /** Aborted when the command is interrupted. */
  readonly signal: AbortSignal;
  /** Masked in each text of the service that an error quotes. */
  readonly secrets: Secrets;
  /** Gets every event, for traces and notices. */
  observe?: ((event: ClientEvent) => void) | undefined;
}

/** An attempt has ended, an operation has its response, or the user gets a note or a warning. */
export type ClientEvent =
  | { readonly kind: 'attempt'; readonly attempt: Attempt }
  | { readonly kind: 'response'; readonly operation: Operation; readonly response: HttpResponse }
  | ListMessage;

/** A clause about the way a list is read, or about records that may be missing from it. */
export interface ListMessage {
  readonly kind: 'note' | 'warning';
  readonly text: string;
}

export interface CallOptions {
  /** Makes caches ask the service itself (`Cache-Control: no-cache`). A raw request ignores it. */
  readonly isFresh?: boolean | undefined;
  /** The moment by which the call ends, as of `monotonicMs`. By default `timeoutMs` after its first turn. */
  readonly deadlineMs?: number | undefined;
  /** The most retries. By default the client's limit. */
  readonly retries?: number | undefined;
  /** True if an answer with this status is not retried. */
  isFinalStatus?(status: number): boolean;
  readonly signal?: AbortSignal | undefined;
  /** Paces the attempts, each of which then has a deadline of its own. The stop of the pace ends the call. */
  readonly pace?: Pace | undefined;
  afterAttempt?(attempt: Attempt): void;
}

/** One request, the client that sends it, and its options. */
export interface Call {
  readonly client: ClientOptions;
  /** The operation. A raw request has none. */
  readonly operation?: Operation | undefined;
  /** The id of the record that the request is about. A list has none, nor has a new record without an id. */
  readonly recordId?: bigint | undefined;
  readonly request: HttpRequest;
  readonly options: CallOptions;
}
