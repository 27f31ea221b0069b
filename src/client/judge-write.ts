import { hiddenFields } from '../api/contract.ts';
import { type HttpHeaders, type HttpResponse, headerValue, shownUrl } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import { isBound, type Operation } from '../api/operations.ts';
import type { Fields, ServiceRecord } from '../api/record-values.ts';
import { differencesOf, type HiddenFields, isAsBefore, isShown } from '../api/same-values.ts';
import { boundResultSchemas } from '../api/schemas.ts';
import {
  CliError,
  type ErrorDetails,
  InterruptedError,
  messageOf,
  type NoAnswer,
} from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import type { Mask } from '../process/secrets.ts';
import { StoppedError } from '../process/signals.ts';
import { shorten } from '../process/text.ts';
import { type Attempt, type FailureVerdict, isPerhapsApplied, verdictOf } from './answer-table.ts';
import type { ClientOptions, OperationCall } from './call.ts';
import { messageIn, parseRecord, readJson, whyOtherRecord } from './read-answer.ts';
import { contentOf } from './wire.ts';

// Judges one attempt of a write. A status of success is not enough: the response must also show what the user asked for.

/** The part of a call that decides about a write. */
interface WriteCall extends Pick<OperationCall, 'operation' | 'recordId' | 'before'> {
  readonly client: Pick<ClientOptions, 'contract' | 'baseUrl' | 'secrets'>;
}

/** Why an answer does not show a write, or why there is none. */
interface WriteReason {
  readonly code: 'accepted' | 'unread' | 'other_value' | 'rejected' | 'interrupted' | NoAnswer;
  /** The service's own code of a write that it rejected. */
  readonly serviceCode?: string | undefined;
  /** A clause. */
  readonly message: string;
}

/** One attempt of a write, judged by its answer. */
export interface JudgedWrite {
  readonly verdict:
    | FailureVerdict
    /** A success that shows the values that were sent, or the success of a DELETE. */
    | 'shown'
    /** A success without a record. */
    | 'empty'
    /** A success that shows another value. */
    | 'unclear'
    /** The service does it later, or the command was stopped before the answer came. */
    | 'pending';
  readonly record?: ServiceRecord | undefined;
  /** The id of the new record, from the body or the Location of the answer. */
  readonly id?: bigint | undefined;
  /** It becomes the reason of a row. */
  readonly reason?: WriteReason | undefined;
  readonly error?: CliError | undefined;
  /** The last attempt of the call. */
  readonly attempt: Attempt;
}

/**
 * Judges a write whose response has a status of success.
 *
 * @param values the fields that the user set, by our names. Undefined removes a field, or leaves it to the service in a create.
 *   Empty for a delete.
 * @param attempt the attempt that has the response.
 * @see RFC 9110, 15.3
 */
export function judgeSuccess(
  call: WriteCall,
  values: Fields,
  response: HttpResponse,
  attempt: Attempt,
): JudgedWrite {
  const { client, operation, recordId } = call;
  const { method, responses = {} } = operation;
  const { record, mismatch, id: answeredId } = readWrite(call, values, response);
  const id = recordId ?? answeredId ?? locatedId(client, operation, response.headers, attempt);
  const isDelete = method === 'DELETE';
  // If the description states no responses of a DELETE, any success will do.
  const isAnySuccess = isDelete && isBound(operation) && Object.keys(responses).length === 0;
  if (response.status === 202 && !isAnySuccess) {
    const reason = { code: 'accepted', message: 'the service has not done it yet' } as const;
    return { verdict: 'pending', attempt, record, id, reason };
  }
  if (mismatch === undefined && (record || isDelete)) return { verdict: 'shown', attempt, record, id };
  if (mismatch !== undefined)
    return { verdict: 'unclear', attempt, record, id, reason: { code: 'other_value', message: mismatch } };
  const message = `the service answered ${response.status} without a record`;
  return { verdict: 'empty', attempt, record, id, reason: { code: 'unread', message } };
}

/**
 * Judges a write that got another status than success, or no valid answer.
 *
 * @param attempt the last attempt, if one has begun.
 * @throws the error of a stop if the write was certainly not sent; any error that is not of a call.
 */
export function judgeFailure(error: unknown, attempt: Attempt | undefined): JudgedWrite {
  const cliError = error instanceof CliError ? error : undefined;
  if (!attempt || !(cliError || error instanceof StoppedError)) throw error;
  if (cliError && !(cliError instanceof InterruptedError)) {
    const reason = { ...codeOfError(cliError), message: cliError.message };
    return { verdict: verdictOf(attempt), attempt, reason, error: cliError };
  }
  if (!isPerhapsApplied([attempt])) throw error;
  const reason = { code: 'interrupted', message: 'petstore was stopped before the answer came' } as const;
  return { verdict: 'pending', attempt, reason, error: cliError };
}

/** Returns the code of an error: why there is no valid answer, or that the service rejected the request. */
export function codeOfError({ details: { noAnswer, code } }: CliError): Omit<WriteReason, 'message'> {
  return noAnswer ? { code: noAnswer } : { code: 'rejected', serviceCode: code };
}

/** Returns the request and the answer of a write, for the details of an error. */
export function attemptDetails(
  write: JudgedWrite | undefined,
): Partial<Pick<ErrorDetails, 'method' | 'url' | 'status' | 'requestId'>> {
  if (!write) return {};
  const { request, response, requestId } = write.attempt;
  return { method: request.method, url: shownUrl(request.url), status: response?.status, requestId };
}

/** Reads the record and the id in a response, or says in a clause why it does not show what the user set. */
function readWrite(
  { client, operation, recordId, before }: WriteCall,
  values: Fields,
  response: HttpResponse,
): Pick<JudgedWrite, 'record' | 'id'> & { readonly mismatch?: string | undefined } {
  const { status } = response;
  const { mask } = client.secrets;
  if (status === 202) return {};
  const isDelete = operation.method === 'DELETE';
  if (isDelete && status !== 200 && !operation.success.includes(status))
    return { mismatch: `the service answered ${status} to a DELETE` };
  if (response.body.length === 0) return {};
  let body: JsonValue | undefined;
  let content: JsonValue | undefined;
  let record: ServiceRecord;
  try {
    body = readJson(response, mask);
    content = contentOf(operation, body);
    record = parseRecord(operation, content);
  } catch (error) {
    const bodyMessage = messageIn(body);
    const why =
      bodyMessage === undefined
        ? messageOf(error)
        : `the service answered ${status} and says: ${bodyMessage}`;
    return { id: idIn(operation, content ?? body), mismatch: shorten(mask(why), 300) };
  }
  const { fields } = record;
  const whyOther = whyOtherRecord(operation, recordId, fields);
  if (whyOther !== undefined) return { mismatch: mask(whyOther) };
  if (isDelete && (fields[nouns[operation.noun].idField] === undefined || !hasFields(operation, fields)))
    return { mismatch: 'the answer is not the deleted record' };
  const hidden = hiddenFields(client.contract, operation.noun);
  const others = otherValues(operation, values, fields, mask, hidden);
  const mismatch =
    others.length > 0
      ? `the answer has ${others.join('; ')}`
      : before && isAsBefore(before, values, fields, hidden)
        ? 'the answer shows what was there before'
        : undefined;
  return { record, id: idIn(operation, fields), mismatch };
}

/** Returns true if a record has a field besides its id. `{"id": 1, "deleted": false}` has none of ours. */
function hasFields(operation: Operation, record: JsonObject): boolean {
  const names = Object.keys(boundResultSchemas[nouns[operation.noun].schema].entries);
  return names.some((name) => name !== nouns[operation.noun].idField && name in record);
}

/** Lists the fields that differ from what the user set: `name "Rex", not "Rex "`. A new record has defaults for the others. */
function otherValues(
  { id, noun }: Operation,
  values: Fields,
  record: JsonObject,
  mask: Mask,
  hidden: HiddenFields,
): string[] {
  const others = differencesOf(values, record, isShown, hidden).filter(
    ({ name }) => values[name] !== undefined || id !== nouns[noun].operations.create,
  );
  return others.map(({ name, expected, actual }) => {
    if (actual === undefined) return `no ${name}`;
    const asked = expected === undefined ? 'which was to be removed' : `not ${maskedText(expected, mask)}`;
    return `${name} ${maskedText(actual, mask)}, ${asked}`;
  });
}

function maskedText(value: JsonValue | undefined, mask: Mask): string {
  return shorten(mask(printJson(value)), 100);
}

/** Returns the id in a body, which need not be a record: `{"id": 5}` or `5`. A body `1` may be the number of rows written. */
function idIn(operation: Operation, content: JsonValue | undefined): bigint | undefined {
  const id = isJsonObject(content) ? content[nouns[operation.noun].idField] : content;
  if (content === 0 || content === 1) return undefined;
  return typeof id === 'bigint' || Number.isSafeInteger(id) ? BigInt(id as number | bigint) : undefined;
}

/** Returns the id of a new record from the Location of the answer, if that is the address of a record of the noun below the base URL. */
function locatedId(
  { contract, baseUrl }: WriteCall['client'],
  { noun }: Operation,
  headers: HttpHeaders,
  { request }: Attempt,
): bigint | undefined {
  const location = headerValue(headers, 'location');
  if (location === undefined || !URL.canParse(location, request.url)) return undefined;
  const { origin, pathname } = new URL(location, request.url);
  const base = new URL(baseUrl);
  const [getPath, createPath = ''] = [nouns[noun].operations.get, nouns[noun].operations.create].map((id) =>
    contract.operations.get(id)?.path.replace(/\/$/, ''),
  );
  // Without an operation that reads one record, the record is expected below the path of the create.
  const path = base.pathname.replace(/\/$/, '') + (getPath ?? `${createPath}/{id}`);
  const [prefix = '', suffix = ''] = path.split(/\{[^}]*\}/);
  if (origin !== base.origin || !pathname.startsWith(prefix)) return undefined;
  const rest = pathname.slice(prefix.length).replace(/\/$/, '');
  const id = rest.endsWith(suffix) ? rest.slice(0, rest.length - suffix.length) : '';
  return /^\d{1,19}$/.test(id) ? BigInt(id) : undefined;
}
