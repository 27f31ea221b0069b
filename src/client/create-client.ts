import { offeredOperation } from '../api/contract.ts';
import { fieldValue, type HttpFields, type HttpRequest, type HttpResponse, shownUrl } from '../api/http.ts';
import type { ListId, Operation, OperationId } from '../api/operations.ts';
import { CliError, UsageError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { withinTime } from '../process/within-time.ts';
import { type Attempt, isReading, mayHaveBeenApplied } from './attempt.ts';
import { checkInput } from './bounds.ts';
import type { Call, CallOptions, ClientOptions } from './call.ts';
import { answeredError, callError } from './call-error.ts';
import type { Answer, Client, RawAnswer } from './client.ts';
import { judgeWrite, type WriteIntent } from './judge-write.ts';
import type { ListSource } from './page-walk.ts';
import {
  type CallInput,
  createTemplate,
  fillTemplate,
  type RequestTemplate,
  recordIdOf,
  toRawRequest,
  toWireInput,
  withChanges,
  withMaskedParameter,
} from './request.ts';
import { checkStatus, type ListAnswer, readResult } from './response.ts';
import { type CallResult, sendCall, timeoutError } from './send-call.ts';
import { type Filters, type ListOptions, readWholeList } from './whole-list.ts';

/** A client of one service; it owns the transport and closes it. */
export function createClient(options: ClientOptions): Client {
  const { contract, baseUrl, fields, parameter, transport, secrets } = options;
  const templates = new Map<OperationId, RequestTemplate>();
  /** @throws UsageError if the contract lacks the operation, or the input breaks its bounds. */
  const prepare = (id: OperationId, input: CallInput, callOptions: CallOptions): OperationCall => {
    const { ifMatch, isUnchecked } = callOptions;
    const operation = offeredOperation(contract, id);
    const template = templates.get(id) ?? createTemplate(operation, options);
    templates.set(id, template);
    const wireInput = toWireInput(operation, input);
    const condition = ifMatch === undefined ? {} : { 'if-match': ifMatch };
    if (!isUnchecked) checkInput(operation, wireInput, { ...fields, ...condition });
    const request = fillTemplate(template, wireInput);
    return {
      client: options,
      operation,
      request: ifMatch === undefined ? request : { ...request, fields: { ...request.fields, ...condition } },
      options: callOptions,
    };
  };
  const masked = (request: HttpRequest): HttpRequest =>
    withMaskedParameter({ ...request, fields: secrets.maskFields(request.fields) }, parameter);
  const noted = new Set<string>();
  const note = (line: string) => {
    if (!noted.has(line)) options.observe?.({ kind: 'note', line });
    noted.add(line);
  };
  const lists: Lists = { client: options, prepare, note };
  return {
    contract,
    baseUrl,
    credential: options.credential,
    note,
    call: ((id, input: CallInput, callOptions = {}) => {
      // Not `async`, because one more promise for each row slows a bulk run down.
      try {
        const call = prepare(id, input, callOptions);
        return fetchAnswer(call, intentOf(call.operation, input));
      } catch (error) {
        return Promise.reject(error);
      }
    }) as Client['call'],
    list: ((id, filters = {}, listOptions = {}) => list(lists, id, filters, listOptions)) as Client['list'],
    toRequest: (id, input: CallInput, callOptions = {}) => masked(prepare(id, input, callOptions).request),
    async send(id, input, callOptions = {}, changes = {}) {
      const { request, ...call } = prepare(id, input, callOptions);
      return fetchRaw({ ...call, request: { ...request, fields: withChanges(request.fields, changes) } });
    },
    toRawRequest: (raw) => masked(toRawRequest(raw, options)),
    request: async (raw, callOptions = {}) =>
      fetchRaw({ client: options, request: toRawRequest(raw, options), options: callOptions }),
    close: () => transport.close(),
    deferSaves: transport.deferSaves,
  };
}

/** The call of an operation. */
interface OperationCall extends Call {
  readonly operation: Operation;
}

function intentOf(operation: Operation, input: CallInput): WriteIntent {
  const values = operation.method === 'DELETE' ? undefined : (input.values ?? input.body);
  return { id: recordIdOf(operation, input), values: (values ?? {}) as WriteIntent['values'] };
}

/** A longer body, in bytes, may take so long to read that the deadline and Ctrl-C must be able to end it. */
const longBody = 2 ** 20;

/** @param intent the id of the record, and what the user set. */
async function fetchAnswer(call: OperationCall, intent: WriteIntent): Promise<Answer<unknown>> {
  const { operation } = call;
  const result = await sendCall(call);
  const { response, attempts, leftMs } = result;
  const { status, fields, body } = response;
  if (!call.options.skipsNotices) call.client.observe?.({ kind: 'answer', operation, response });
  const etag = strongTag(fields);
  if (isGone(call, result))
    return {
      value: undefined,
      status,
      fields,
      etag,
      attempts,
      judgement: { shows: 'intent', id: intent.id },
    };
  if (status >= 400) throw answeredError(call, attempts, response);
  try {
    checkStatus(operation.method, status);
    const fail = () => {
      throw timeoutError(call);
    };
    const read = () => readContent(call, intent, response);
    const { value, judgement } =
      body.length < longBody ? read() : withinTime(leftMs, read, fail, { endsOnCtrlC: true });
    return { value, status, fields, etag, attempts, judgement };
  } catch (error) {
    throw callError(call, attempts, error);
  }
}

/** The records of a reading, or what the answer of a write shows. */
function readContent(
  { client: { secrets }, operation }: OperationCall,
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

/** The error of an answer that is not a success. A 304 is none: it answers a condition that the user sent. */
function rawError(call: Call, attempts: readonly Attempt[], response: HttpResponse): CliError | undefined {
  if (response.status >= 400) return answeredError(call, attempts, response);
  try {
    if (response.status !== 304) checkStatus(call.request.method, response.status);
    return undefined;
  } catch (error) {
    return callError(call, attempts, error) as CliError;
  }
}

/** What the lists of one client have in common. */
interface Lists {
  readonly client: ClientOptions;
  prepare(id: ListId, input: CallInput, options: CallOptions): OperationCall;
  note: Client['note'];
}

/** The pages of a list. */
async function* list(
  { client, prepare, note }: Lists,
  id: ListId,
  filters: Filters,
  listOptions: ListOptions,
): AsyncGenerator<unknown[]> {
  let last: { readonly call: Call; readonly attempts: readonly Attempt[] } | undefined;
  const source: ListSource = {
    contract: client.contract,
    toRequest: (query) => prepare(id, { query }, listOptions).request,
    async fetchPage(operation, request) {
      const call = { client, operation, request, options: listOptions };
      const { value, fields, attempts } = await fetchAnswer(call, { id: undefined, values: {} });
      last = { call, attempts };
      return {
        ...(value as ListAnswer),
        link: fieldValue(fields, 'link'),
        url: attempts.at(-1)?.request.url ?? request.url,
      };
    },
  };
  try {
    const pages = readWholeList(source, id, filters, listOptions);
    // If the end of the list shows that it may be cut, the caller must not have used its first page.
    const isReadFirst = listOptions.whole && client.contract.operations.get(id)?.paging?.kind === 'unknown';
    const { doubt, records } = isReadFirst ? await readToEnd(pages) : { doubt: yield* pages };
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
    note(`warning: there may be more records: ${doubt} (${id})`);
  } catch (error) {
    const isUnnamed = error instanceof CliError && error.details.url === undefined;
    throw last && isUnnamed ? callError(last.call, last.attempts, error) : error;
  }
}

/** All records of a list at once, and why it may be cut. */
async function readToEnd(
  pages: ReturnType<typeof readWholeList>,
): Promise<{ readonly doubt: string | undefined; readonly records: JsonObject[] }> {
  const records: JsonObject[] = [];
  for (;;) {
    const page = await pages.next();
    if (page.done) return { doubt: page.value, records };
    for (const record of page.value) records.push(record);
  }
}
