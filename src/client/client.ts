import { type Contract, offeredOperation } from '../api/contract.ts';
import { fieldValue, type HttpFields, type HttpRequest, type HttpResponse, shownUrl } from '../api/http.ts';
import {
  type Input,
  idName,
  type ListId,
  type Operation,
  type OperationId,
  type ReadId,
  type Result,
} from '../api/operations.ts';
import { withinTime } from '../process/deadline.ts';
import { type ApiError, CliError, UnavailableError, UsageError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { type Attempt, isReading, mayHaveBeenApplied } from './attempt.ts';
import { checkInput } from './bounds.ts';
import type { Call, CallOptions, ClientOptions } from './call.ts';
import { answeredError, callError } from './call-error.ts';
import { type Judgement, judgeWrite, type WriteIntent } from './judge-write.ts';
import type { ListSource } from './page-walk.ts';
import {
  askedId,
  type CallInput,
  type FieldChanges,
  type RawRequest,
  type RequestBase,
  toRawRequest,
  toWireInput,
  toWireRequest,
  withChanges,
  withMaskedParameter,
} from './request.ts';
import { checkStatus, type RecordPage, readResult } from './response.ts';
import { type CallResult, sendCall, timeoutError } from './send-call.ts';
import { type Filters, type ListOptions, readList } from './whole-list.ts';

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
  call<K extends OperationId>(
    id: K,
    input: ClientInput<K>,
    options?: CallOptions,
  ): Promise<Answer<Answered<K>>>;
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
   * @throws as `call`, but not for what was answered.
   */
  send(id: OperationId, input: CallInput, options?: CallOptions, changes?: FieldChanges): Promise<RawAnswer>;
  /** Sends an arbitrary request below the base URL; returns any answer, also an error status. */
  request(request: RawRequest, options?: CallOptions): Promise<RawAnswer>;
  close(): Promise<void>;
}

/**
 * The input of a call: a body is whole, or has only the changes of a record that was read before. Any input, if only the
 * running program knows the operation.
 */
type ClientInput<K extends OperationId> =
  Exclude<OperationId, ListId> extends K
    ? CallInput
    : Input<K> | (Omit<Input<K>, 'body' | 'query'> & { readonly body: object; readonly before: object });

/** The value of a call: the record. A write may be answered with a bare 2xx, without a record. */
type Answered<K extends OperationId> = K extends ReadId ? Result<K> : Result<K> | undefined;

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
  readonly error: ApiError | UnavailableError | undefined;
}

/** A client of one service; it owns the transport and closes it. */
export function createClient(options: ClientOptions): Client {
  const { contract, baseUrl, fields, parameter, transport, secrets } = options;
  const shown: RequestBase = { baseUrl, fields: secrets.maskFields(fields) };
  const warned = new Set<OperationId>();
  const client: Client = {
    contract,
    baseUrl,
    credential: options.credential,
    call: ((id, given, callOptions = {}) => {
      // Not `async`: one more promise per call is measurable at a million rows.
      try {
        const operation = contract.operations.get(id);
        if (!operation && isGet(id) && contract.operations.has(listOfGet[id])) {
          const line = `note: ${id} is not offered: looking through ${listOfGet[id]} instead`;
          options.observe?.({ kind: 'note', line });
          const { [idName(id) ?? '']: wanted } = given as CallInput;
          return readThroughList(client, id, wanted as bigint, callOptions);
        }
        if (operation && mergesEntry(operation, given))
          return mergeEntry(client, options, operation, given, callOptions);
        return callOnce(options, id, given, callOptions);
      } catch (error) {
        return Promise.reject(error);
      }
    }) as Client['call'],
    list: ((id, filters = {}, listOptions = {}) =>
      list(options, warned, id, filters, listOptions)) as Client['list'],
    toRequest(id, given, callOptions = {}) {
      const { operation, input } = checked(options, id, given, callOptions);
      return withMaskedParameter(withIfMatch(toWireRequest(operation, input, shown), callOptions), parameter);
    },
    async send(id, given, callOptions = {}, changes = {}) {
      const { operation, input } = checked(options, id, given, callOptions);
      const request = toWireRequest(operation, input, options);
      const fields = withChanges(request.fields, changes);
      return fetchRaw({ client: options, operation, request: { ...request, fields }, options: callOptions });
    },
    toRawRequest: (raw) => withMaskedParameter(toRawRequest(raw, shown), parameter),
    request: async (raw, callOptions = {}) =>
      fetchRaw({ client: options, request: toRawRequest(raw, options), options: callOptions }),
    close: () => transport.close(),
  };
  return client;
}

function callOnce(
  options: ClientOptions,
  id: OperationId,
  given: CallInput,
  callOptions: CallOptions,
): Promise<Answer<unknown>> {
  const { operation, input } = checked(options, id, given, callOptions);
  const request = withIfMatch(toWireRequest(operation, input, options), callOptions);
  const values = (operation.method === 'DELETE' ? undefined : (given.values ?? given.body)) ?? {};
  const call = { client: options, operation, request, options: callOptions };
  return fetchAnswer(call, operation, {
    id: askedId(operation, given),
    values: values as WriteIntent['values'],
  });
}

/** @throws UsageError if the contract lacks the operation, or the input breaks its bounds. */
function checked(
  { contract, fields }: ClientOptions,
  id: OperationId,
  given: CallInput,
  { ifMatch, isUnchecked }: CallOptions,
) {
  const operation = offeredOperation(contract, id);
  const input = toWireInput(operation, given);
  if (!isUnchecked)
    checkInput(operation, input, ifMatch === undefined ? fields : { ...fields, 'if-match': ifMatch });
  return { operation, input };
}

function withIfMatch(request: HttpRequest, { ifMatch }: CallOptions): HttpRequest {
  return ifMatch === undefined ? request : { ...request, fields: { ...request.fields, 'if-match': ifMatch } };
}

/** A longer body, in bytes, may take so long to read that the deadline and Ctrl-C must be able to end it. */
const longBody = 2 ** 20;

/** @param intent the id of the record, and what the user set. */
async function fetchAnswer(call: Call, operation: Operation, intent: WriteIntent): Promise<Answer<unknown>> {
  const result = await sendCall(call);
  const { response, attempts, leftMs } = result;
  const { status, fields, body } = response;
  if (!call.options.skipsNotices) call.client.observe?.({ kind: 'answer', operation, response });
  const etag = strongTag(fields);
  if (isGone(call, result))
    return { value: undefined, status, fields, etag, attempts, judgement: { shows: 'asked', id: intent.id } };
  if (status >= 400) throw answeredError(call, attempts, response);
  try {
    checkStatus(operation.method, status);
    const late = () => {
      throw timeoutError(call, true);
    };
    const read = () => readContent(call, operation, intent, response);
    const { value, judgement } =
      body.length < longBody ? read() : withinTime(leftMs, read, late, { endsOnCtrlC: true });
    return { value, status, fields, etag, attempts, judgement };
  } catch (error) {
    throw callError(call, attempts, error);
  }
}

/** The records of a reading, or what the answer of a write shows. */
function readContent(
  { client: { secrets } }: Call,
  operation: Operation,
  intent: WriteIntent,
  response: HttpResponse,
): Pick<Answer<unknown>, 'value' | 'judgement'> {
  if (isReading(operation.method))
    return { value: readResult(operation, intent.id, response, secrets.mask), judgement: undefined };
  const judgement = judgeWrite(operation, intent, response, secrets.mask);
  return { value: judgement.record, judgement };
}

/** The entity tag of an answer; a weak one cannot be relied on for a write. @see RFC 9110, 8.8.3 */
function strongTag(fields: HttpFields): string | undefined {
  const tag = fieldValue(fields, 'etag');
  return tag?.startsWith('W/') ? undefined : tag;
}

/** Whether a DELETE finds nothing after an attempt that may have been applied: it has succeeded. Says so in a note. */
function isGone({ client, request }: Call, { response: { status }, attempts }: CallResult): boolean {
  const { method, url } = request;
  if (method !== 'DELETE' || (status !== 404 && status !== 410)) return false;
  if (!mayHaveBeenApplied(method, attempts)) return false;
  const line = `note: the record is gone, because an earlier attempt was applied (DELETE ${shownUrl(url)}: ${status})`;
  client.observe?.({ kind: 'note', line });
  return true;
}

async function fetchRaw(call: Call): Promise<RawAnswer> {
  const result = await sendCall(call);
  const { response, attempts } = result;
  const { status, fields } = response;
  const body = typeof response.body === 'string' ? Buffer.from(response.body) : response.body;
  const url = attempts.at(-1)?.request.url ?? call.request.url;
  const isRedirected = attempts.at(-1)?.isRedirected === true;
  const error = isGone(call, result) ? undefined : rawError(call, attempts, response);
  return { status, fields, body, url, isRedirected, attempts, error };
}

/** An answer that is not of success as an error; a 304 answers a condition of the user's own. */
function rawError(
  call: Call,
  attempts: readonly Attempt[],
  response: HttpResponse,
): ApiError | UnavailableError | undefined {
  if (response.status >= 400) return answeredError(call, attempts, response);
  try {
    if (response.status !== 304) checkStatus(call.request.method, response.status);
    return undefined;
  } catch (error) {
    return callError(call, attempts, error) as UnavailableError;
  }
}

/** The pages of a list. @param warned the lists for which the user was warned. */
async function* list(
  options: ClientOptions,
  warned: Set<OperationId>,
  id: ListId,
  filters: Filters,
  listOptions: ListOptions,
): AsyncGenerator<unknown[]> {
  let last: { readonly call: Call; readonly attempts: readonly Attempt[] } | undefined;
  const source: ListSource = {
    contract: options.contract,
    toRequest: (query) => {
      const { operation, input } = checked(options, id, { query }, listOptions);
      return toWireRequest(operation, input, options);
    },
    async fetchPage(operation, request) {
      const call = { client: options, operation, request, options: listOptions };
      const { value, fields, attempts } = await fetchAnswer(call, operation, { id: undefined, values: {} });
      last = { call, attempts };
      return {
        ...(value as RecordPage),
        link: fieldValue(fields, 'link'),
        url: attempts.at(-1)?.request.url ?? request.url,
      };
    },
  };
  try {
    const pages = readList(source, id, filters, listOptions);
    // Nothing is to be done with the first page of a list that turns out to be cut.
    const isHeldBack = listOptions.whole && options.contract.operations.get(id)?.paging?.kind === 'unknown';
    const { doubt, records } = isHeldBack ? await readToEnd(pages) : { doubt: yield* pages };
    if (doubt === undefined) {
      if (records) yield records;
      return;
    }
    if (listOptions.whole)
      throw new UsageError(
        `the list may be cut, and this needs every record: ${doubt} (${id})`,
        'ask the owner of the service for a list that can be read to its end',
        'unbound',
      );
    if (!warned.has(id))
      options.observe?.({ kind: 'note', line: `warning: there may be more records: ${doubt} (${id})` });
    warned.add(id);
  } catch (error) {
    const isOfList = error instanceof UnavailableError && error.details.url === undefined;
    throw last && isOfList ? callError(last.call, last.attempts, error) : error;
  }
}

/** All records of a list at once, and why it may be cut. */
async function readToEnd(
  pages: ReturnType<typeof readList>,
): Promise<{ readonly doubt: string | undefined; readonly records: JsonObject[] }> {
  const records: JsonObject[] = [];
  for (;;) {
    const page = await pages.next();
    if (page.done) return { doubt: page.value, records };
    for (const record of page.value) records.push(record);
  }
}

/** The lists that have the records of the operations that read one. */
const listOfGet = {
  getPet: 'listPets',
  getCategory: 'listCategories',
  getOrder: 'listOrders',
  getInventory: 'listInventory',
} as const;

function isGet(id: OperationId): id is keyof typeof listOfGet {
  return Object.hasOwn(listOfGet, id);
}

/**
 * Reads a record through its list, from its id on if the list can begin there.
 *
 * @throws CliError `not-found` if the list does not have it.
 */
export async function readThroughList<K extends keyof typeof listOfGet>(
  client: Client,
  get: K,
  id: bigint,
  options: ListOptions = {},
): Promise<Answer<Result<K>>> {
  const list = listOfGet[get];
  const canSeek = offeredOperation(client.contract, list).ordered && id > 0n;
  const after = canSeek ? id - 1n : undefined;
  const field = get === 'getInventory' ? 'petId' : 'id';
  for await (const page of client.list(list, {}, { whole: true, ...options, after })) {
    const records = page as readonly object[] as readonly JsonObject[];
    const value = records.find((record) => record[field] === id);
    if (value) return { ...found, value: value as Result<K> };
    // The list began at the id, so that its later pages cannot hold it.
    if (canSeek && records.length > 0 && records.every((record) => BigInt(String(record[field] ?? 0)) > id))
      break;
  }
  const noun = get.replace('get', '').toLowerCase();
  throw new CliError('not-found', `${noun} ${id} does not exist: ${list} has no record with this id`);
}

const found = {
  status: 200,
  fields: {},
  etag: undefined,
  attempts: [],
} as const;

/** Whether a count is set in a body that has further fields of the entry, which would be wiped. */
function mergesEntry({ id, partial }: Operation, { before }: CallInput): boolean {
  return id === 'updateInventory' && !partial && before === undefined;
}

/** Reads the entry right before its count is set, and sends its other fields back as they came. */
async function mergeEntry(
  client: Client,
  options: ClientOptions,
  { id }: Operation,
  given: CallInput,
  callOptions: CallOptions,
): Promise<Answer<unknown>> {
  const { ifMatch, ...readOptions } = callOptions;
  const { value, etag } = await client.call('getInventory', { petId: given.petId as bigint }, readOptions);
  return callOnce(options, id, { ...given, before: value }, { ...callOptions, ifMatch: ifMatch ?? etag });
}
