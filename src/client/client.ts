import type { Contract } from '../api/contract.ts';
import type { HttpFields, HttpRequest, HttpResponse, Transport } from '../api/http.ts';
import type { Input, ListId, OperationId, ReadId, Result } from '../api/operations.ts';
import type { CliError } from '../process/errors.ts';
import type { Attempt } from './attempt.ts';
import type { CallOptions } from './call.ts';
import type { Judgement } from './judge-write.ts';
import type { CallInput, FieldChanges, RawRequest } from './request.ts';
import type { Filters, ListOptions } from './whole-list.ts';

export interface Client {
  readonly contract: Contract;
  readonly baseUrl: string;
  /** The source of the credential, for messages; undefined if none is sent. */
  readonly credential: string | undefined;
  /** Tells the user a line, once for this client. */
  note(line: string): void;
  /**
   * Sends one operation and returns its validated answer.
   *
   * @throws UsageError before any request if the contract lacks the operation or the input breaks its bounds; CliError
   *   with the attempts if the service answered with an error, or gave no valid answer.
   */
  call<K extends OperationId>(
    id: K,
    input: ClientInput<K>,
    options?: CallOptions,
  ): Promise<Answer<CallValue<K>>>;
  /**
   * The pages of a list, each fetched when it is needed, to the end of the list: see whole-list.ts.
   *
   * @throws UsageError for a filter that cannot be applied, and for a list that may be cut if `whole` is set.
   */
  list<K extends ListId>(id: K, filters?: Filters, options?: ListOptions): AsyncGenerator<Result<K>[]>;
  /** The request that `call` would send, without a credential; for `--dry-run`. */
  toRequest<K extends OperationId>(id: K, input: ClientInput<K>, options?: CallOptions): HttpRequest;
  /** The request that `request` would send, without a credential. */
  toRawRequest(request: RawRequest): HttpRequest;
  /**
   * Sends one operation and returns any answer, also an error status.
   *
   * @param changes fields that replace those of the request; undefined removes one.
   * @throws as `call`, but not for an answer.
   */
  send(id: OperationId, input: CallInput, options?: CallOptions, changes?: FieldChanges): Promise<RawAnswer>;
  /** Sends an arbitrary request below the base URL; returns any answer, also an error status. */
  request(request: RawRequest, options?: CallOptions): Promise<RawAnswer>;
  close(): Promise<void>;
  /** That of the transport. */
  readonly deferSaves: Transport['deferSaves'];
}

/**
 * The input of a call. Its body is whole, or has only the changes of a record that was read before. If the id of the
 * operation is known only at run time, the input is not checked by its type.
 */
type ClientInput<K extends OperationId> =
  Exclude<OperationId, ListId> extends K
    ? CallInput
    : Input<K> | (Omit<Input<K>, 'body' | 'query'> & { readonly body: object; readonly before: object });

/** The value of a call: the record. A write may be answered with a bare 2xx, without a record. */
type CallValue<K extends OperationId> = K extends ReadId ? Result<K> : Result<K> | undefined;

/** A valid answer: the record with all fields in the service's order, ids as bigints. */
export interface Answer<Value> {
  readonly value: Value;
  readonly status: number;
  readonly fields: HttpFields;
  readonly etag: string | undefined;
  readonly attempts: readonly Attempt[];
  /** What the answer of a write shows; undefined for a reading. */
  readonly judgement?: Judgement | undefined;
}

/** The answer to a raw request, with its content encodings decoded. */
export interface RawAnswer extends HttpResponse {
  readonly body: Uint8Array;
  /** The URL that answered, after redirects. */
  readonly url: string;
  readonly isRedirected: boolean;
  readonly attempts: readonly Attempt[];
  /** The answer as an error, if its status is not that of a success, nor 304. */
  readonly error: CliError | undefined;
}
