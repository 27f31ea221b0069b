import { absentFields, statedResponse } from '../api/contract.ts';
import { type HttpHeaders, type HttpResponse, shownUrl, withoutParameters } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import type { Fields, ServiceRecord } from '../api/record-values.ts';
import { differencesOf, isShown } from '../api/same-values.ts';
import { boundResultSchemas } from '../api/schemas.ts';
import { CliError, type ErrorDetails, isInterruption, messageOf, type NoAnswer } from '../process/errors.ts';
import { isJsonObject, type JsonValue } from '../process/exact-json.ts';
import { type Attempt, type FailureVerdict, isPerhapsApplied, verdictOf } from './answer-table.ts';
import type { Answer, CallInput, OperationCall, ServiceOptions, UnansweredCall } from './call.ts';
import { parseRecord, readJson, whyOtherRecord } from './read-answer.ts';
import { withoutEnvelope } from './wire.ts';

// Judges one attempt of a write. A status of success is not enough: the response must also show what the user asked for.

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
 * Judges a write by its answer, or by the error if it got none.
 *
 * @param input of the operation. An undefined value removes a field, or leaves it to the service in a create.
 * @throws the error of a stop if the write was certainly not sent; any error that is not of a call.
 */
export function judgeWrite(
  call: OperationCall,
  input: CallInput,
  result: Answer | UnansweredCall,
): JudgedWrite {
  const attempt = result.attempts.at(-1);
  if (!attempt) throw result.error;
  if (result.status === undefined || result.error) return judgeFailure(call.operation, result.error, attempt);
  // The body of a PUT may also send back fields that the user did not set.
  const values = call.operation.method === 'DELETE' ? {} : (input.values ?? input.body ?? {});
  return judgeSuccess(call, values as Fields, result, attempt);
}

/** Judges a write whose answer has a status of success. @see RFC 9110, 15.3 */
function judgeSuccess(
  call: OperationCall,
  values: Fields,
  response: HttpResponse,
  attempt: Attempt,
): JudgedWrite {
  const { service, operation, recordId } = call;
  const { method, responses } = operation;
  const { record, mismatch, id: answeredId } = readWrite(call, values, response);
  const id = recordId ?? answeredId ?? locatedId(service, operation, response.headers, attempt);
  const isDelete = method === 'DELETE';
  // If the description states no responses of a DELETE, any success will do.
  const isAnySuccess = isDelete && responses !== undefined && Object.keys(responses).length === 0;
  if (response.status === 202 && !isAnySuccess) {
    const reason = { code: 'accepted', message: 'the service has accepted it, but not done it yet' } as const;
    return { verdict: 'pending', attempt, record, id, reason };
  }
  if (mismatch === undefined && (record || isDelete)) return { verdict: 'shown', attempt, record, id };
  if (mismatch !== undefined)
    return { verdict: 'unclear', attempt, record, id, reason: { code: 'other_value', message: mismatch } };
  const message = `the service answered ${response.status} without a record`;
  return { verdict: 'empty', attempt, record, id, reason: { code: 'unread', message } };
}

/** Judges a write that got another status than success, or no valid answer. @throws as `judgeWrite` */
function judgeFailure({ id, noun }: Operation, error: unknown, attempt: Attempt): JudgedWrite {
  if (!(error instanceof CliError)) throw error;
  if (!isInterruption(error)) {
    const reason = { ...codesOfError(error), message: error.message };
    const stated = verdictOf(attempt);
    // Only a deletion that was sent twice can be the reason why its record is missing.
    const verdict = stated === 'missing' && id !== nouns[noun].operations.delete ? 'rejected' : stated;
    return { verdict, attempt, reason, error };
  }
  if (!isPerhapsApplied([attempt])) throw error;
  const reason = { code: 'interrupted', message: 'petstore was stopped before the answer came' } as const;
  return { verdict: 'pending', attempt, reason, error };
}

/** Returns the codes of an error: why there is no valid answer, or that the service rejected the request, with its own code. */
export function codesOfError({ details: { noAnswer, code } }: CliError): Omit<WriteReason, 'message'> {
  return noAnswer ? { code: noAnswer } : { code: 'rejected', serviceCode: code };
}

/** Returns the request and the answer of a write, for the details of an error. */
export function writeDetails(
  write: JudgedWrite | undefined,
): Partial<Pick<ErrorDetails, 'method' | 'url' | 'status' | 'requestId'>> {
  if (!write) return {};
  const { request, response, requestId } = write.attempt;
  return { method: request.method, url: shownUrl(request.url), status: response?.status, requestId };
}

/** Reads the record and the id in a response, or says in a clause why it does not show what the user set. */
function readWrite(
  { service, operation, recordId }: OperationCall,
  values: Fields,
  response: HttpResponse,
): Pick<JudgedWrite, 'record' | 'id'> & { readonly mismatch?: string | undefined } {
  const { status } = response;
  const { mask } = service.secrets;
  if (status === 202) return {};
  const isDelete = operation.method === 'DELETE';
  if (isDelete && status !== 200 && !operation.success.includes(status))
    return { mismatch: `the service answered ${status} to a DELETE` };
  if (response.body.length === 0 || (isDelete && isUnstatedText(operation, response))) return {};
  let content: JsonValue | undefined;
  let record: ServiceRecord;
  try {
    content = readJson(response, mask);
    const inner = withoutEnvelope(operation, content);
    content = inner ?? content;
    // `{"quantity": 5, "deleted": false}` is not an entry that was deleted.
    record = parseRecord(operation, inner, isDelete ? undefined : recordId);
  } catch (error) {
    return { id: idIn(operation, content), mismatch: mask(messageOf(error)) };
  }
  const { fields } = record;
  const whyOther = whyOtherRecord(operation, recordId, fields);
  if (whyOther !== undefined) return { mismatch: mask(whyOther) };
  const { idField, schema, operations } = nouns[operation.noun];
  const names = Object.keys(boundResultSchemas[schema].entries).filter((name) => name in fields);
  // `{"id": 1, "deleted": false}` is not a pet.
  if (isDelete && (names.length < 2 || !names.includes(idField)))
    return { mismatch: 'the answer is not the deleted record' };
  // `{"id": 1}` does not show that a field is gone. So the record is read.
  const removes = Object.values(values).some((value) => value === undefined);
  if (removes && names.length < 2) return { id: idIn(operation, fields) };
  // A new record may have a default for a field that was left out.
  const isCreate = operation.id === operations.create;
  const others = differencesOf(values, fields, isShown, absentFields(service.contract, operation.noun))
    .map(({ name }) => name)
    .filter((name) => !isCreate || values[name] !== undefined);
  const mismatch =
    others.length > 0 ? `the answer does not show what was sent: ${others.join(', ')}` : undefined;
  return { record, id: idIn(operation, fields), mismatch };
}

/** Returns true for a plain text of a service whose own description states no body for the status. */
function isUnstatedText(operation: Operation, { status, headers }: HttpResponse): boolean {
  const isText = withoutParameters(headers['content-type'] ?? '') === 'text/plain';
  const { mediaTypes = [] } = statedResponse(operation, status) ?? {};
  return isText && operation.responses !== undefined && mediaTypes.length === 0;
}

/** Returns the id in a body, which need not be a record: `{"id": 5}` or `5`. A body `1` may be the number of rows written. */
function idIn(operation: Operation, content: JsonValue | undefined): bigint | undefined {
  const id = isJsonObject(content) ? content[nouns[operation.noun].idField] : content;
  if (content === 0 || content === 1) return undefined;
  return typeof id === 'bigint' || Number.isSafeInteger(id) ? BigInt(id as number | bigint) : undefined;
}

/** Returns the id of a new record if the Location of the answer is the address from which the record is read. */
function locatedId(
  { contract, baseUrl }: ServiceOptions,
  { noun }: Operation,
  headers: HttpHeaders,
  { request }: Attempt,
): bigint | undefined {
  const location = headers.location;
  const path = contract.operations.get(nouns[noun].operations.get)?.path;
  if (path === undefined || location === undefined || !URL.canParse(location, request.url)) return undefined;
  const { origin, pathname } = new URL(location, request.url);
  const [, id] = /(\d{1,19})\/?$/.exec(pathname) ?? [];
  if (id === undefined) return undefined;
  const address = new URL(baseUrl + path.replace(/\{[^}]*\}/, id)).href;
  const isAddress = address.replace(/\/$/, '') === (origin + pathname).replace(/\/$/, '');
  return isAddress ? BigInt(id) : undefined;
}
