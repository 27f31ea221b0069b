import { type Contract, type Operation, offeredOperation } from '../api/contract.ts';
import {
  fieldValue,
  type HttpFields,
  type HttpRequest,
  type HttpResponse,
  type Transport,
} from '../api/http.ts';
import type { ListId, OperationId, Query } from '../api/operations.ts';
import { maskFields } from '../mask.ts';
import { createSender, type Sender } from './attempts.ts';
import { BodyError, decodeBody, isEncoded, maxAnswerBytes } from './body.ts';
import { checkInput } from './bounds.ts';
import type { Answer, Attempt, CallOptions, Client, RawAnswer } from './client.ts';
import { type CredentialParameter, withMaskedParameter } from './credential-parameter.ts';
import { type Failed, invalidResponse, refusalError } from './failures.ts';
import { createPages } from './pages.ts';
import { toRawRequest } from './raw.ts';
import { type CallInput, type Target, toRequest, withId } from './request.ts';
import { InvalidAnswerError, readResult } from './response.ts';

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

/** What the calls of one client share. */
interface Line {
  readonly options: ClientOptions;
  readonly target: Target;
  readonly send: Sender;
}

/** A client of one service, on a transport of its own, which ends with it. */
export function createClient(options: ClientOptions): Client {
  const { contract, baseUrl, fields, parameter, transport } = options;
  const line: Line = { options, target: { baseUrl, fields }, send: createSender(options) };
  const shown = { baseUrl, fields: maskFields(fields) };
  return {
    contract,
    baseUrl,
    call: ((id, input, callOptions) => call(line, { id, input }, callOptions)) as Client['call'],
    list: ((id, query, callOptions) => list(line, { id, query }, callOptions)) as Client['list'],
    toRequest(id, given, callOptions = {}) {
      const { operation, input } = checked(line, { id, input: given });
      const request = toRequest(operation, input, shown);
      return withMaskedParameter(withIfMatch(request, callOptions), parameter);
    },
    toRawRequest: (raw) => withMaskedParameter(toRawRequest(raw, shown), parameter),
    request: (raw, callOptions = {}) =>
      requestRaw(line, withIfMatch(toRawRequest(raw, line.target), callOptions), callOptions),
    close: () => transport.close(),
  };
}

interface Call {
  readonly id: OperationId;
  readonly input: CallInput;
}

/** Rejects where it could throw; not `async`, for each promise more is felt where a million rows are sent. */
function call(line: Line, given: Call, callOptions: CallOptions = {}): Promise<Answer<unknown>> {
  try {
    const { operation, input } = checked(line, given);
    const request = withIfMatch(toRequest(operation, input, line.target), callOptions);
    return fetchResult(line, { operation, request }, callOptions);
  } catch (error) {
    return Promise.reject(error);
  }
}

async function* list(
  line: Line,
  { id, query = {} }: { readonly id: ListId; readonly query: Query<ListId> | undefined },
  callOptions: CallOptions = {},
): AsyncGenerator<unknown[]> {
  const { operation, input } = checked(line, { id, input: { query } });
  const pages = createPages();
  const first = toRequest(operation, input, line.target);
  for (let next: string | undefined = first.url; next !== undefined; ) {
    const page = await fetchResult(line, { operation, request: { ...first, url: next } }, callOptions);
    const { status, fields, url, attempts } = page;
    const records = page.value as unknown[];
    yield records;
    try {
      next = pages.after({ url, fields, size: records.length });
    } catch (error) {
      const { mask } = line.options;
      const failed = { what: operation.summary, method: first.method, url, attempts, mask };
      throw toInvalidResponse(failed, status, error);
    }
  }
}

/** @throws UsageError where the contract lacks the operation, or the input breaks its bounds. */
function checked({ options: { contract, fields } }: Line, { id, input: given }: Call) {
  const operation = offeredOperation(contract, id);
  const input = withId(operation, given);
  checkInput(operation, input, fields);
  return { operation, input };
}

interface Prepared {
  readonly operation: Operation;
  readonly request: HttpRequest;
}

async function fetchResult(
  { options, send }: Line,
  { operation, request }: Prepared,
  callOptions: CallOptions,
) {
  const exchange = await send(request, operation.summary, callOptions);
  const { response, url, attempts } = exchange;
  const { status, fields } = response;
  const { mask, credential } = options;
  options.onAnswer?.(operation, response);
  const failed = () => ({ what: operation.summary, method: request.method, mask, credential, ...exchange });
  if (status >= 400) throw await refusalError(failed(), response);
  try {
    const value = readResult(operation, isEncoded(response) ? await decoded(response) : response);
    return { value, status, fields, etag: fieldValue(fields, 'etag'), attempts, url };
  } catch (error) {
    throw toInvalidResponse(failed(), status, error);
  }
}

async function requestRaw(
  { options, send }: Line,
  request: HttpRequest,
  callOptions: CallOptions,
): Promise<RawAnswer> {
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
