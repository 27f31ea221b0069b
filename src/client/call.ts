import type { Contract } from '../api/contract.ts';
import {
  type HttpHeaders,
  type HttpRequest,
  type HttpResponse,
  isSafeMethod,
  type Transport,
  whyUnsafePath,
} from '../api/http.ts';
import { nouns, type OperationId } from '../api/nouns.ts';
import type { Operation, Parameter } from '../api/operations.ts';
import type { ServiceRecord } from '../api/record-values.ts';
import type { Notice } from '../output/messages.ts';
import { type CliError, UsageError } from '../process/errors.ts';
import { isJsonObject, printJson } from '../process/exact-json.ts';
import type { Secrets } from '../process/secrets.ts';
import type { Attempt } from './answer-table.ts';
import type { Pace } from './pace.ts';
import type { CallLimits } from './retry.ts';
import { type HeaderChanges, type RequestBase, requireHeader, withHeaderChanges } from './user-request.ts';
import { toWire, wireNameOf } from './wire.ts';

/** A service, and how it is called. */
export interface ServiceOptions {
  readonly contract: Contract;
  /** Without a trailing slash; operation paths are appended to it. */
  readonly baseUrl: string;
  /** The headers of every request: the user agent, the headers of `--header`, the credential. */
  readonly headers: HttpHeaders;
  /** The setting or the flag that the credential comes from, for messages. */
  readonly credentialSource?: string | undefined;
  /** Why the token of the settings is not sent, a sentence. */
  readonly whyNoCredential?: string | undefined;
  readonly transport: Transport;
  readonly limits: CallLimits;
  /** False if the settings say that the ETags of the service cannot be used. Readings then have none. */
  readonly usesEtags: boolean;
  /** Aborted when requests in flight are abandoned. */
  readonly signal: AbortSignal;
  /** Masked in each text of the service that an error quotes. */
  readonly secrets: Secrets;
  /** Gets every attempt that has ended. That of a raw request has no operation. */
  observe(attempt: Attempt, operation: Operation | undefined): void;
  /** Tells the user how a list is read, or that records may be missing from it. */
  notify(...notice: Notice): void;
}

export interface CallOptions {
  /** The deadline of the call, on the clock of `monotonicMs`. By default `timeoutMs` after the first attempt begins. */
  readonly deadlineMs?: number | undefined;
  /** The most retries. By default those of `ServiceOptions.limits`. */
  readonly retries?: number | undefined;
  /** True if an answer with this status is not retried. */
  isFinalStatus?(status: number): boolean;
  readonly signal?: AbortSignal | undefined;
  /** Paces the attempts, each of which then has a deadline of its own. The stop of the pace ends the call. */
  readonly pace?: Pace | undefined;
  afterAttempt?(attempt: Attempt): void;
}

/** One request, the service that it goes to, and its options. */
export interface Call {
  readonly service: ServiceOptions;
  /** The operation. A raw request has none. */
  readonly operation?: Operation | undefined;
  /** The id of the record that the request is about. A list has none, nor has a new record without an id. */
  readonly recordId?: bigint | undefined;
  readonly request: HttpRequest;
  readonly options: CallOptions;
}

export interface OperationCall extends Call {
  readonly operation: Operation;
}

/** A call and its attempts until now. */
export interface CallSoFar {
  readonly call: Call;
  readonly attempts: readonly Attempt[];
}

/** The answer to a call, with any status. */
export interface Answer extends CallSoFar, HttpResponse {
  /** The request that was answered, after redirects. */
  readonly request: HttpRequest;
  /** The error that the status means. A success has none. */
  readonly error?: CliError | undefined;
}

/** A call that got no answer. */
export interface UnansweredCall extends CallSoFar {
  readonly status?: undefined;
  /** A CliError if no answer came, an interruption if a signal was aborted or the run has stopped. */
  readonly error: unknown;
}

/** The input of an operation, by our names. */
export interface CallInput {
  /** The id of the record. A text for an id that cannot exist. */
  readonly id?: bigint | string | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
  /** The record as it was read, if the body has only the changes. */
  readonly before?: ServiceRecord | undefined;
  /** The values that the user set, if the body has further fields. Only these values are compared with the answer. */
  readonly values?: object | undefined;
  /** Such as If-Match, the condition of a write. RFC 9110, 13.1 */
  readonly headers?: HeaderChanges | undefined;
}

/** A request of an operation. It can be sent, or a dry run can print it. */
export interface OperationRequest {
  readonly operation: OperationId;
  readonly input: CallInput;
}

/**
 * Makes the request of an operation. Each parameter goes to its location in the contract, and an id keeps all its digits.
 *
 * @throws UsageError for an input that lacks something required, for a header that cannot be sent, and for an unsafe path:
 *   a bound description may contain anything.
 */
export function toHttpRequest(operation: Operation, ourInput: CallInput, base: RequestBase): HttpRequest {
  const { method, parameters, body } = operation;
  const input = toWireInput(operation, ourInput);
  requireParameters(operation, input, base.headers);
  const url = base.baseUrl + toPath(operation, input) + toQuery(parameters, input);
  const ownHeaders = toParameterHeaders(operation, input);
  if (body) ownHeaders['content-type'] = body.mediaType;
  // A cache that keeps the rules then asks the service itself. RFC 9111, 5.2.1.4
  if (isSafeMethod(method) && base.headers['cache-control'] === undefined)
    ownHeaders['cache-control'] = 'no-cache';
  // A spread of two objects would take V8 ten times as long.
  const headers = withHeaderChanges(Object.assign({}, base.headers, ownHeaders), input.headers);
  return body ? { method, url, headers, body: printJson(input.body) } : { method, url, headers };
}

/** Translates the body of an input for the service. Adds the record's id to the body if the contract has it there. */
function toWireInput(operation: Operation, input: CallInput): CallInput {
  const { body: requestBody, noun } = operation;
  const { body, before } = input;
  if (!requestBody || !isJsonObject(body)) return input;
  const wireBody = toWire(operation, body, before);
  const { idField } = nouns[noun];
  const wireName = wireNameOf(requestBody, idField);
  if (!requestBody.hasId || wireBody[wireName] !== undefined)
    return wireBody === body ? input : { ...input, body: wireBody };
  const { id } = input;
  return { ...input, body: typeof id === 'bigint' ? { [wireName]: id, ...wireBody } : wireBody };
}

export function recordIdOf({ noun }: Operation, input: CallInput): bigint | undefined {
  const { idField, idInBody } = nouns[noun];
  const body = idInBody === 'required' && isJsonObject(input.body) ? input.body : undefined;
  const id = input.id ?? body?.[idField];
  return typeof id === 'bigint' ? id : undefined;
}

/** Returns the value of a parameter: the value in the query or the id of the input, or its constant. */
function parameterValue(input: CallInput, { name, constant }: Parameter): unknown {
  return input.query?.[name] ?? (name === 'id' ? input.id : undefined) ?? constant;
}

function toPath({ id, path, parameters }: Operation, input: CallInput): string {
  let filled = path;
  for (const parameter of parameters) {
    if (parameter.in !== 'path') continue;
    const value = String(parameterValue(input, parameter));
    filled = filled.replace(`{${parameter.wireName}}`, () => encodeURIComponent(value));
  }
  const why = filled.startsWith('/') ? whyUnsafePath(filled) : 'must begin with /';
  if (why !== undefined) throw new UsageError(`the path ${filled} ${why} (${id})`);
  return filled.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}

function toQuery(parameters: readonly Parameter[], input: CallInput): string {
  let query = '';
  for (const parameter of parameters) {
    const value = parameter.in === 'query' ? parameterValue(input, parameter) : undefined;
    if (value === undefined) continue;
    const pair = `${encodeURIComponent(parameter.wireName)}=${encodeURIComponent(String(value))}`;
    query += `${query === '' ? '?' : '&'}${pair}`;
  }
  return query;
}

/** Returns the headers that the description asks for. */
function toParameterHeaders({ id, parameters }: Operation, input: CallInput): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const parameter of parameters) {
    const value = parameter.in === 'header' ? parameterValue(input, parameter) : undefined;
    if (value === undefined) continue;
    const givenBy = `${id}: the header that the description asks for`;
    const name = requireHeader({ name: parameter.wireName, value: String(value), givenBy });
    // The user may name a virtual host with --header; a description must not redirect requests to another host.
    if (name === 'host') throw new UsageError(`${givenBy}: ${parameter.wireName} is set by the base URL`);
    headers[name] = String(value);
  }
  return headers;
}

/**
 * Checks that an input has the required parameters. The service itself checks the body.
 *
 * @param headers the headers that every request carries: a required header that the user gave is among them.
 * @throws UsageError that names everything that is missing.
 */
function requireParameters({ id, parameters }: Operation, input: CallInput, headers: HttpHeaders): void {
  const missing: string[] = [];
  for (const parameter of parameters) {
    const clause = whyMissing(parameter, input, headers);
    if (clause !== undefined) missing.push(clause);
  }
  if (missing.length > 0) throw new UsageError(`${missing.join('; ')} (${id})`);
}

function whyMissing(parameter: Parameter, input: CallInput, headers: HttpHeaders): string | undefined {
  const { wireName, required, in: place } = parameter;
  if (!required || parameterValue(input, parameter) !== undefined) return undefined;
  if (place !== 'header') return `${wireName} is required`;
  const headerName = wireName.toLowerCase();
  const isGiven = (headers[headerName] ?? input.headers?.[headerName]) !== undefined;
  return isGiven ? undefined : `the header ${wireName} is required: give it with --header`;
}
