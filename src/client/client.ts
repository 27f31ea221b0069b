import { requireOperation } from '../api/contract.ts';
import type { HttpRequest, Transport } from '../api/http.ts';
import { type Noun, type NounName, nouns, type OperationId } from '../api/nouns.ts';
import type { ListId, Result } from '../api/operations.ts';
import type { ServiceRecord } from '../api/record-values.ts';
import { CliError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { isWithdrawn } from './answer-table.ts';
import {
  type Answer,
  type Call,
  type CallInput,
  type CallOptions,
  type OperationCall,
  type OperationRequest,
  recordIdOf,
  type ServiceOptions,
  toHttpRequest,
} from './call.ts';
import { type JudgedWrite, judgeWrite } from './judge-write.ts';
import type { Filters } from './lists/filters.ts';
import { type ListOptions, readList } from './lists/read-list.ts';
import { readRecordIn } from './read-answer.ts';
import { fetchAnswer, sendCall } from './send-call.ts';
import { type RawRequest, toRawRequest } from './user-request.ts';

/** A record of a list: its fields by their types, and those that the service adds. */
type ListRecord<K extends ListId> = ServiceRecord<Result<K> & JsonObject>;

export interface Client
  extends Pick<ServiceOptions, 'contract' | 'baseUrl' | 'credentialSource' | 'limits' | 'notify'>,
    Pick<Transport, 'saveStore'> {
  /**
   * Reads a record by one operation, and checks it against the schema.
   *
   * @throws UsageError before any request if the contract lacks the operation, or if the input lacks something required.
   *   CliError if the service answers with an error, or gives no valid answer.
   */
  read(id: OperationId, input: CallInput, options?: CallOptions): Promise<ServiceRecord>;
  /**
   * Writes by one operation, and judges the result. An error status and a missing answer are results too, not errors.
   *
   * @throws UsageError as `read`. An interruption if it was certainly not sent.
   */
  write(id: OperationId, input: CallInput, options?: CallOptions): Promise<JudgedWrite>;
  /**
   * Reads a list to its end, page by page. A page is requested when the caller asks for it. See lists/read-list.ts.
   *
   * @throws UsageError for a filter that cannot be applied; CutListError if `needsWhole` is set and the list may be cut.
   */
  list<K extends ListId>(id: K, filters?: Filters, options?: ListOptions): AsyncGenerator<ListRecord<K>[]>;
  /** Sends a request and returns the answer, also one with an error status. @throws as `read` if there is no answer. */
  send(request: OperationRequest | RawRequest, options?: CallOptions): Promise<Answer>;
  /** Returns the request that `send` would send, without its credential. @throws UsageError as `send`. */
  preview(request: OperationRequest | RawRequest): HttpRequest;
  /** Returns a client of the same service whose calls have these options by default. @param timeoutMs as in `CallLimits` */
  withOptions(options: CallOptions, timeoutMs?: number): Client;
}

/** @param defaults the options of each call, unless the call has its own. */
export function createClient(service: ServiceOptions, defaults: CallOptions = {}): Client {
  const { contract, baseUrl, notify, secrets } = service;
  /** @throws UsageError if the contract lacks the operation, or the input lacks something required. */
  const prepare = (id: OperationId, input: CallInput, ownOptions?: CallOptions): OperationCall => {
    const operation = requireOperation(contract, id);
    const callOptions: CallOptions = Object.assign({}, defaults, ownOptions);
    const request = toHttpRequest(operation, input, service);
    const recordId = recordIdOf(operation, input);
    return { service, operation, recordId, request, options: callOptions };
  };
  const prepareAny = (request: OperationRequest | RawRequest, ownOptions?: CallOptions): Call =>
    'path' in request
      ? { service, request: toRawRequest(request, service), options: { ...defaults, ...ownOptions } }
      : prepare(request.operation, request.input, ownOptions);
  return {
    contract,
    baseUrl,
    credentialSource: service.credentialSource,
    limits: service.limits,
    notify,
    async read(id, input, callOptions) {
      const { answer, value } = await fetchAnswer(prepare(id, input, callOptions), readRecordIn);
      const { headers } = answer;
      const tag = headers.etag;
      // If-Match cannot use a weak tag (RFC 9110, 8.8.3).
      const etag = !service.usesEtags || tag?.startsWith('W/') ? undefined : tag;
      const { fields, original } = value;
      return { fields, original, etag, age: /^\d+$/.exec(headers.age ?? '')?.[0] };
    },
    async write(id, input, callOptions) {
      const call = prepare(id, input, callOptions);
      return judgeWrite(call, input, await sendCall(call));
    },
    async *list<K extends ListId>(id: K, filters: Filters = {}, listOptions: ListOptions = {}) {
      const callFor = (query: Filters) => prepare(id, { query }, listOptions);
      const pages = readList(requireOperation(contract, id), callFor, notify, filters, listOptions);
      yield* pages as AsyncGenerator<ListRecord<K>[]>;
    },
    async send(request, callOptions) {
      const answer = await sendCall(prepareAny(request, callOptions));
      if (answer.status === undefined) throw answer.error;
      return answer;
    },
    preview(request) {
      const { headers, ...others } = prepareAny(request).request;
      return { ...others, headers: secrets.maskHeaders(headers) };
    },
    withOptions: (callOptions, timeoutMs = service.limits.timeoutMs) =>
      createClient({ ...service, limits: { ...service.limits, timeoutMs } }, { ...defaults, ...callOptions }),
    saveStore: service.transport.saveStore,
  };
}

/**
 * Reads one record. If the service lacks the operation for that, or has withdrawn one that it called deprecated, finds the record in
 * the list and prints a note.
 *
 * @throws CliError `not-found` if the record does not exist, and the errors of `client.read`.
 */
export async function readRecord<Members = JsonObject>(
  client: Client,
  noun: NounName,
  id: bigint,
  options: CallOptions = {},
): Promise<ServiceRecord<Members>> {
  const { get, list }: Noun['operations'] = nouns[noun].operations;
  const { operations } = client.contract;
  const operation = operations.get(get);
  const read = () => client.read(get, { id }, options) as Promise<ServiceRecord<Members>>;
  if (!operations.has(list) || operation?.isDeprecated === false) return read();
  let why = 'is not offered';
  // It is asked twice, because one answer may be a gateway's. The list may show less of the record, and it shows no tag.
  for (let asked = 0; operation && asked < 2; asked += 1)
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof CliError && isWithdrawn(error))) throw error;
      why = `answered ${error.details.status}`;
    }
  client.notify('note', `${get} ${why}: looking through ${list} instead`);
  return readFromList(client, noun, id, options);
}

/** Finds a record in the list of its noun. @throws CliError `not-found` if it is not there; CutListError if the list may be cut. */
export async function readFromList<Members = JsonObject>(
  client: Client,
  noun: NounName,
  id: bigint,
  options: CallOptions = {},
): Promise<ServiceRecord<Members>> {
  const { singular, idField, isCount, operations }: Noun = nouns[noun];
  const { list } = operations;
  let found: ServiceRecord | undefined;
  for await (const records of client.list(list, {}, { ...options, needsWhole: true })) {
    found ??= records.find(({ fields }) => fields[idField] === id);
    // A later page may have another count of the same pet.
    if (found && !isCount) break;
  }
  if (found) return found as ServiceRecord<Members>;
  throw new CliError('not-found', `${singular} ${id} does not exist: ${list} has no record with this id`);
}
