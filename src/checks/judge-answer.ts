import { type Contract, statedResponse } from '../api/contract.ts';
import { requestIdOf } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import { toSchemas } from '../api/openapi.ts';
import type { Operation, StatedResponse } from '../api/operations.ts';
import { componentReference } from '../api/schemas.ts';
import type { Answer } from '../client/call.ts';
import { isJsonType, titleOrText, whyOtherRecord } from '../client/read-answer.ts';
import { fromWire } from '../client/wire.ts';
import { CliError } from '../process/errors.ts';
import { isJsonObject, isNumber, type JsonObject } from '../process/exact-json.ts';
import { findMismatch } from './body-schema.ts';
import {
  type CheckAnswer,
  type CheckContext,
  type Finding,
  FindingError,
  fail,
  statusText,
} from './check.ts';
import { matchesStatus } from './condition.ts';

/**
 * Checks the status of an answer, then its media type, then its body, which must be about the requested record.
 *
 * @param step a step of a check, such as `next page`. The reason of a mismatch begins with it.
 * @param expected `404`, or `4xx` for a whole class; by default any success that the operation documents.
 * @throws FindingError with the first mismatch.
 */
export function requireAsDocumented(
  { client }: CheckContext,
  answer: CheckAnswer,
  { step, expected }: { readonly step?: string; readonly expected?: string } = {},
): void {
  const { operation, mediaType, json, call } = answer;
  const { recordId } = call;
  const mismatch = (reason: string, details: Partial<Finding>) =>
    new FindingError(failureIn(answer, step ? `${step}: ${reason}` : reason, details));
  const { success } = operation;
  if (expected === undefined ? !success.includes(answer.status) : !matchesStatus(answer.status, expected))
    throw mismatch(`answered ${statusText(answer.status)}`, { expected: expected ?? success.join(' or ') });
  const { schema, mediaTypes: ranges = [] } = documentedResponse(answer) ?? {};
  if (ranges.length === 0) return;
  if (!ranges.some((range) => isWithin(mediaType, range)))
    throw mismatch(mediaType ? `the content type is ${mediaType}` : 'the answer has no content type', {
      expected: ranges.join(' or '),
    });
  if (!isJsonType(mediaType)) return;
  if (json === undefined) throw mismatch('the body is not JSON in UTF-8', { expected: 'JSON' });
  const definitions = operation.responses ? client.contract.definitions : specification;
  const broken = schema && findMismatch(schema, json, definitions);
  if (broken) throw mismatch(broken.reason, broken);
  const record = answer.status < 300 ? recordOf(answer) : undefined;
  const whyOther = record && whyOtherRecord(operation, recordId, record);
  if (whyOther) throw mismatch(whyOther, { expected: String(recordId) });
}

/** The schemas of the service's specification by the references to them. */
const specification: JsonObject = Object.fromEntries(
  Object.entries(toSchemas()).map(([name, schema]) => [componentReference('schemas', name).$ref, schema]),
);

/**
 * Returns the documented response for the status of an answer, from the service's own description, or else from the operations
 * table.
 */
function documentedResponse({ operation, status }: CheckAnswer): StatedResponse | undefined {
  const { success, result, isList, responses } = operation;
  if (responses) return statedResponse(operation, status);
  const mediaTypes = ['application/json'];
  if (status >= 400) return { mediaTypes, schema: componentReference('schemas', 'Error') };
  if (!success.includes(status)) return undefined;
  if (!result) return { mediaTypes: [] };
  const schema = componentReference('schemas', result);
  return { mediaTypes, schema: isList ? { type: 'array', items: schema } : schema };
}

/** Returns true if a media type matches a range such as `application/*`. */
function isWithin(mediaType: string, range: string): boolean {
  const isOfType = range.endsWith('/*') && mediaType.startsWith(range.slice(0, -1));
  return range === '*/*' || range === mediaType || isOfType;
}

/** Returns the records in the answer of a list, with our field names; none if the body is not an array. */
export function recordsOf({ operation, json = null }: CheckAnswer): JsonObject[] {
  const records = fromWire(operation, json);
  return Array.isArray(records) ? records.filter(isJsonObject) : [];
}

/** Returns the record in an answer, with our field names, if the body is an object. */
export function recordOf({ operation, json = null }: CheckAnswer): JsonObject | undefined {
  const record = fromWire(operation, json);
  return isJsonObject(record) ? record : undefined;
}

export function listedIds(answer: CheckAnswer): bigint[] {
  const { idField } = nouns[answer.operation.noun];
  const ids = recordsOf(answer).map((record) => record[idField]);
  return ids.flatMap((id) => (isNumber(id) && Number.isInteger(Number(id)) ? BigInt(id) : []));
}

/** Asks for the list of an operation's noun. Returns undefined if the service has no such list, or does not answer. */
export async function askList(context: CheckContext, { noun }: Operation): Promise<CheckAnswer | undefined> {
  const list = context.gets.find((each) => each.isList && each.noun === noun);
  try {
    return list && (await context.ask(list));
  } catch (error) {
    if (error instanceof CliError || error instanceof FindingError) return undefined;
    throw error;
  }
}

export function detailsOf({ request: { method, url }, status, headers }: Answer): Partial<Finding> {
  return { method, url, status, requestId: requestIdOf(headers) };
}

/** Makes a failure from an answer. By default its `got` is the message in the body. */
export function failureIn(answer: CheckAnswer, reason: string, details: Partial<Finding>): Finding {
  return fail(reason, {
    ...detailsOf(answer),
    operation: answer.operation,
    got: titleOrText(answer.text),
    hint: answer.error?.details.hint,
    ...details,
  });
}

/** Returns the GET operations of a contract, in its order. */
export function getsOf(contract: Contract): Operation[] {
  return [...contract.operations.values()].filter(({ method }) => method === 'GET');
}
