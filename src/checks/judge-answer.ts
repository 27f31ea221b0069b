import { isUtf8 } from 'node:buffer';
import type { Contract } from '../api/contract.ts';
import { requestIdOf } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import { componentReference, toSchemas } from '../api/openapi.ts';
import type { DocumentedResponse, Operation, Parameter } from '../api/operations.ts';
import { int64Max } from '../api/values.ts';
import { titleOr } from '../client/error-body.ts';
import { fromWire, otherRecord } from '../client/read-answer.ts';
import type { CallInput } from '../client/request.ts';
import { CliError, messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import { type BodyResult, checkBody } from './body-schema.ts';
import {
  type CheckAnswer,
  type CheckContext,
  type Details,
  type Finding,
  FindingError,
  fail,
  type RawAnswer,
  statusText,
} from './check.ts';
import { isStatus } from './condition.ts';

/**
 * Checks the status of an answer, then its media type, then its body, which must be about the requested record.
 *
 * @param step of a check, such as `next page`. The reason of a fault begins with it.
 * @param status `404`, or `4xx` for a whole class; by default any success that the operation documents.
 * @returns what is worth a warning, a clause.
 * @throws FindingError with the first fault; CliError if the schema of the description is itself wrong.
 */
export function judge(answer: CheckAnswer, step?: string, status?: string): string | undefined {
  const { operation, mediaType, json, recordId } = answer;
  const fault = (reason: string, details: Details) =>
    new FindingError(faultOf(answer, step ? `${step}: ${reason}` : reason, details));
  const isExpected = status ? isStatus(answer.status, status) : operation.success.includes(answer.status);
  if (!isExpected)
    throw fault(`answered ${statusText(answer.status)}`, {
      expected: status ?? operation.success.join(' or '),
    });
  const { schema, mediaTypes: ranges = [] } = documentedResponse(answer) ?? {};
  if (ranges.length === 0) return undefined;
  if (!ranges.some((range) => isWithin(mediaType, range)))
    throw fault(mediaType ? `the content type is ${mediaType}` : 'the answer has no content type', {
      expected: ranges.join(' or '),
    });
  if (!/[/+]json$/.test(mediaType)) return undefined;
  if (!isUtf8(answer.body)) throw fault('the body is not UTF-8', { expected: 'UTF-8' });
  if (json === undefined) throw fault('the body is not JSON', { expected: 'JSON' });
  const result = schema ? compareWithSchema(answer, schema, json) : {};
  if (result.fault) throw fault(result.fault.reason, result.fault);
  const record = answer.status < 300 ? recordOf(answer) : undefined;
  const other = record && otherRecord(operation, recordId, record);
  if (other) throw fault(other, { expected: String(recordId), pointer: `/${nouns[operation.noun].idField}` });
  return result.remark;
}

/** The schemas of the service's specification by the references to them. In an answer, a quantity may be any integer. */
const specification: JsonObject = Object.fromEntries(
  Object.entries({ ...toSchemas(), Order: withAnyQuantity() }).map(([name, schema]) => [
    componentReference('schemas', name).$ref,
    schema,
  ]),
);

function withAnyQuantity(): JsonObject {
  const { Order = {} } = toSchemas();
  return { ...Order, properties: { ...(Order.properties as JsonObject), quantity: { type: 'integer' } } };
}

/**
 * Returns the documented response for the status of an answer, from the description that the profile is bound to, or from
 * the operations table. Undefined if the status is not documented.
 */
function documentedResponse({ operation, status }: CheckAnswer): DocumentedResponse | undefined {
  const { responses, success, result, isList } = operation;
  if (responses) return responses[status] ?? responses[`${String(status).charAt(0)}XX`] ?? responses.default;
  const mediaTypes = ['application/json'];
  if (status >= 400) return { mediaTypes, schema: componentReference('schemas', 'Error') };
  if (!success.includes(status)) return undefined;
  if (!result) return { mediaTypes: [] };
  const schema = componentReference('schemas', result);
  return { mediaTypes, schema: isList ? { type: 'array', items: schema } : schema };
}

function compareWithSchema(
  { operation: { id, responses }, definitions = {} }: CheckAnswer,
  schema: JsonObject,
  body: JsonValue,
): BodyResult {
  try {
    return checkBody(schema, body, responses ? definitions : specification);
  } catch (error) {
    throw new CliError('failed', `the schema of ${id} cannot be used: ${messageOf(error)}`);
  }
}

/** Returns true if a media type matches a range such as `application/*`. */
function isWithin(mediaType: string, range: string): boolean {
  const isOfType = range.endsWith('/*') && mediaType.startsWith(range.slice(0, -1));
  return range === '*/*' || range === mediaType || isOfType;
}

/** Returns the records in the answer of a list, with our field names; empty if the body is not an array. */
export function recordsOf({ operation, json = null }: CheckAnswer): JsonObject[] {
  const records = fromWire(operation, json);
  return Array.isArray(records) ? records.filter(isJsonObject) : [];
}

/** Returns the record in an answer, with our field names; undefined if the body is not an object. */
export function recordOf({ operation, json = null }: CheckAnswer): JsonObject | undefined {
  const record = fromWire(operation, json);
  return isJsonObject(record) ? record : undefined;
}

/** Returns the ids of the records in the answer of a list. */
export function idsOf(answer: CheckAnswer): bigint[] {
  return idsIn(answer, nouns[answer.operation.noun].idName);
}

/** Returns the value of a field as an id; undefined if it is not an integer. */
function jsonId(value: JsonValue | undefined): bigint | undefined {
  const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
  return isInteger ? BigInt(value) : undefined;
}

/**
 * Finds an id that an operation takes, and the list that shows it. Tries the list of its noun first, then every list whose
 * records have a field that refers to the noun.
 */
export async function findId(
  context: CheckContext,
  operation: Operation,
): Promise<{ readonly list: Operation; readonly id: bigint } | undefined> {
  const lists = context.reads.filter(({ isList }) => isList);
  const name = nouns[operation.noun].idName;
  const { minimum = 0n, maximum = int64Max } = idParameter(operation)?.bounds ?? {};
  for (const list of new Set([...lists.filter(({ noun }) => noun === operation.noun), ...lists])) {
    const answer = await context.askOnce(list).catch((error) => {
      if (!(error instanceof CliError)) throw error;
    });
    const ids = answer ? idsIn(answer, name) : [];
    const id = ids.find((each) => each >= 0n && each >= minimum && each <= maximum);
    if (id !== undefined) return { list, id };
  }
  return undefined;
}

/**
 * Returns the ids in the records of a list that belong to an id name such as `petId`: the ids of pets from a list of pets,
 * and the values of the field `petId` from any other list.
 */
export function idsIn(answer: CheckAnswer, name: string): bigint[] {
  const { idName, idField } = nouns[answer.operation.noun];
  const ids = recordsOf(answer).map((record) =>
    jsonId(record[name] ?? (idName === name ? record[idField] : undefined)),
  );
  return ids.filter((id) => id !== undefined);
}

/** Returns the request and the answer behind a finding, for the report. */
export function detailsOf({ method, url, status, headers }: RawAnswer): Details {
  return { method, url, status, requestId: requestIdOf(headers) };
}

/** Makes a failure from an answer. `got` is what the body says, unless the details have another value. */
export function faultOf(answer: CheckAnswer, reason: string, details: Details = {}): Finding {
  return fail(reason, {
    ...detailsOf(answer),
    operation: answer.operation,
    got: titleOr(answer.text),
    ...details,
  });
}

/** Returns the GET operations, in the order of the contract. */
export function readsOf(contract: Contract): Operation[] {
  return [...contract.operations.values()].filter(({ method }) => method === 'GET');
}

/** Returns the operation that `reach/http` calls: the first GET without an id, else the first GET. */
export function reachOperation(reads: readonly Operation[]): Operation | undefined {
  return reads.find((operation) => idParameter(operation) === undefined) ?? reads[0];
}

/** Returns an input for a GET operation. If the operation takes an id, the input has a guess. */
export function guessInput(operation: Operation): CallInput {
  return idParameter(operation) ? { id: 1n } : {};
}

/** Returns the parameter for the id of the record; undefined if the operation takes no id. */
export function idParameter({ parameters }: Operation): Parameter | undefined {
  return parameters.find(({ name }) => name === 'id');
}
