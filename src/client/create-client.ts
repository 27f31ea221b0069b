import { type Contract, offeredOperation } from '../api/contract.ts';
import { fieldValue, type HttpFields, type HttpRequest, type HttpResponse } from '../api/http.ts';
import { linkTarget } from '../api/links.ts';
import type { ListId, Operation, OperationId, Query } from '../api/operations.ts';
import { maskFields, maskUrl } from '../mask.ts';
import { checkInput } from './bounds.ts';
import type { Answer, CallOptions, Client, RawAnswer } from './client.ts';
import { invalidResponse, refusalError } from './failures.ts';
import {
  askedId,
  type CallInput,
  type Target,
  toRawRequest,
  toRequest,
  withId,
  withMaskedParameter,
} from './request.ts';
import {
  BodyError,
  decodeBody,
  InvalidAnswerError,
  isEncoded,
  maxAnswerBytes,
  readResult,
} from './response.ts';
import { type Call, type SenderOptions, send } from './send.ts';

interface ClientOptions extends SenderOptions {
  readonly contract: Contract;
  /** Without a trailing slash; operation paths are appended to it. */
  readonly baseUrl: string;
  /** Fields for every request: the user agent, those of `--header`, the credential. */
  readonly fields: HttpFields;
  /** Called with the answer of every operation, for notices of deprecation and stability. */
  onAnswer?(operation: Operation, response: HttpResponse): void;
}

/** A client of one service; it owns the transport and closes it. */
export function createClient(options: ClientOptions): Client {
  const { contract, baseUrl, fields, parameter, transport } = options;
  const target: Target = { baseUrl, fields };
  const shown: Target = { baseUrl, fields: maskFields(fields) };
  return {
    contract,
    baseUrl,
    call: ((id, given, callOptions = {}) => {
      // Not `async`: one more promise per call is measurable at a million rows.
      try {
        const { operation, input } = checked(options, id, given);
        const request = withIfMatch(toRequest(operation, input, target), callOptions);
        return fetchResult(options, { operation, request, id: askedId(operation, input) }, callOptions);
      } catch (error) {
        return Promise.reject(error);
      }
    }) as Client['call'],
    list: ((id, query, callOptions) => list(options, id, query, callOptions)) as Client['list'],
    toRequest(id, given, callOptions = {}) {
      const { operation, input } = checked(options, id, given);
      const request = toRequest(operation, input, shown);
      return withMaskedParameter(withIfMatch(request, callOptions), parameter);
    },
    toRawRequest: (raw) => withMaskedParameter(toRawRequest(raw, shown), parameter),
    request: async (raw, callOptions = {}) =>
      requestRaw(options, withIfMatch(toRawRequest(raw, target), callOptions), callOptions),
    close: () => transport.close(),
  };
}

/** @throws UsageError if the contract lacks the operation, or the input breaks its bounds. */
function checked({ contract, fields }: ClientOptions, id: OperationId, given: CallInput) {
  const operation = offeredOperation(contract, id);
  const input = withId(operation, given);
  checkInput(operation, input, fields);
  return { operation, input };
}

function withIfMatch(request: HttpRequest, { ifMatch }: CallOptions): HttpRequest {
  return ifMatch === undefined ? request : { ...request, fields: { ...request.fields, 'if-match': ifMatch } };
}

interface Prepared {
  readonly operation: Operation;
  readonly request: HttpRequest;
  /** The requested id, if the operation is about one record. */
  readonly id: bigint | undefined;
}

/** An answer, and its finished call. */
interface Fetched extends Answer<unknown> {
  readonly call: Call;
}

async function fetchResult(
  options: ClientOptions,
  { operation, request, id }: Prepared,
  callOptions: CallOptions,
): Promise<Fetched> {
  const { response, call, isGone } = await send(options, request, operation, callOptions);
  const { status, fields } = response;
  if (!callOptions.isAside) options.onAnswer?.(operation, response);
  const toFetched = (value: unknown): Fetched => {
    const etag = fieldValue(fields, 'etag');
    return { value, status, fields, etag, attempts: call.attempts, call };
  };
  if (isGone) return toFetched(undefined);
  if (status >= 400) throw await refusalError(call, response);
  try {
    if (status >= 300)
      throw new InvalidAnswerError(`answered ${status}, which is neither a success nor an error`);
    const whole = isEncoded(response) ? await decoded(response) : response;
    const { mask } = options;
    const value = readResult({ operation, id, mask, within: (work) => call.within(work) }, whole);
    return toFetched(value instanceof Promise ? await value : value);
  } catch (error) {
    throw toInvalidResponse(call, response, error);
  }
}

async function decoded(response: HttpResponse): Promise<HttpResponse> {
  return { ...response, body: await decodeBody(response, maxAnswerBytes) };
}

async function requestRaw(
  options: ClientOptions,
  request: HttpRequest,
  callOptions: CallOptions,
): Promise<RawAnswer> {
  const { response, call, isGone } = await send(options, request, undefined, callOptions);
  const { status, fields } = response;
  const refusal = status >= 400 && !isGone ? await refusalError(call, response) : undefined;
  const { url } = call.request;
  try {
    const body = await decodeBody(response, maxAnswerBytes);
    return { status, fields, body, url, attempts: call.attempts, refusal };
  } catch (error) {
    throw toInvalidResponse(call, response, error);
  }
}

function toInvalidResponse(call: Call, response: HttpResponse, error: unknown): unknown {
  if (error instanceof InvalidAnswerError)
    return invalidResponse(call, response, error.message, error.answer);
  return error instanceof BodyError ? invalidResponse(call, response, error.message) : error;
}

const mostEmptyPages = 1000;

/** Follows the `next` links of one list. */
async function* list(
  options: ClientOptions,
  id: ListId,
  query: Query<ListId> = {},
  callOptions: CallOptions = {},
): AsyncGenerator<unknown[]> {
  const { operation, input } = checked(options, id, { query });
  const first = toRequest(operation, input, options);
  const seen = new Set<string>();
  let emptyPages = 0;
  for (let next: string | undefined = first.url; next !== undefined; ) {
    const request = { ...first, url: next };
    const { value, status, fields, call } = await fetchResult(
      options,
      { operation, request, id: undefined },
      callOptions,
    );
    const records = value as unknown[];
    yield records;
    seen.add(withoutHash(call.request.url));
    emptyPages = records.length === 0 ? emptyPages + 1 : 0;
    try {
      next = nextPage(fields, call.request.url);
      if (next !== undefined && seen.has(next))
        throw new InvalidAnswerError(`the link to the next page repeats: ${maskUrl(next)}`);
      if (next !== undefined && emptyPages > mostEmptyPages)
        throw new InvalidAnswerError(`more than ${mostEmptyPages} empty pages in a row`);
    } catch (error) {
      throw toInvalidResponse(call, { status, fields, body: '' }, error);
    }
  }
}

/**
 * The URL of the next page; undefined after the last.
 *
 * @throws InvalidAnswerError if the link is not a URL or leads to another origin.
 */
function nextPage(fields: HttpFields, url: string): string | undefined {
  const link = linkTarget(fieldValue(fields, 'link'), 'next');
  if (link === undefined) return undefined;
  const next = URL.canParse(link, url) ? new URL(link, url) : undefined;
  if (!next) throw new InvalidAnswerError(`the link to the next page is not a URL: ${link}`);
  if (next.origin !== new URL(url).origin)
    throw new InvalidAnswerError(`the link to the next page leads to another origin: ${maskUrl(next.href)}`);
  return withoutHash(next.href);
}

function withoutHash(url: string): string {
  const parsed = new URL(url);
  parsed.hash = '';
  return parsed.href;
}
