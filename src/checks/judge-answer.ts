import { isUtf8 } from 'node:buffer';
import { nouns } from '../api/nouns.ts';
import { componentReference, toSchemas } from '../api/openapi.ts';
import type { DocumentedResponse } from '../api/operations.ts';
import { otherRecord } from '../client/read-answer.ts';
import { CliError, messageOf } from '../process/errors.ts';
import { type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { type BodyResult, checkBody } from './body-schema.ts';
import type { CheckAnswer } from './check.ts';
import { isStatus } from './condition.ts';
import { type Details, FindingError, statusText } from './finding.ts';
import { recordOf } from './records.ts';
import { faultOf } from './round.ts';

/** The requirements for an answer. By default, the answer must be a success that its operation documents. */
interface Expectation {
  /** `404`, or `4xx` for a whole class. */
  readonly status?: string;
  /** The step of a check, such as `delete`. The reason of a fault begins with it. */
  readonly step?: string;
}

/**
 * Checks the status of an answer, then its media type, then its body, which must be about the requested record.
 *
 * @returns what is worth a warning, a clause.
 * @throws FindingError with the first fault; CliError if the schema of the description is itself wrong.
 */
export function judge(answer: CheckAnswer, { status, step }: Expectation = {}): string | undefined {
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
  if (json === undefined) throw fault(`the body is not JSON: ${answer.jsonFault}`, { expected: 'JSON' });
  const result = schema ? compareWithSchema(answer, schema, json) : {};
  if (result.fault) throw fault(result.fault.reason, result.fault);
  const record = answer.status < 300 ? recordOf(answer) : undefined;
  if (record && otherRecord(operation, recordId, record)) {
    const { idField } = nouns[operation.noun];
    const got = printJson(record[idField]);
    const details = { expected: String(recordId), pointer: `/${idField}`, got };
    throw fault('the answer is about another record', details);
  }
  return result.remark;
}

/** The document to which the schemas of the service's specification refer. In an answer, a quantity may be any integer. */
const specification: JsonObject = { components: { schemas: { ...toSchemas(), Order: withAnyQuantity() } } };

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

/** Compares a body with its schema. The time limit grows with the length of the body. */
function compareWithSchema(
  { operation: { id, responses }, text, definitions = {} }: CheckAnswer,
  schema: JsonObject,
  body: JsonValue,
): BodyResult {
  const limitMs = 2000 * (1 + Math.floor(text.length / 1_000_000));
  try {
    return checkBody(schema, body, limitMs, responses ? { $defs: definitions } : specification);
  } catch (error) {
    throw new CliError('failed', `the schema of ${id} cannot be used: ${messageOf(error)}`);
  }
}

/** Whether a media type matches a range such as `application/*`. */
function isWithin(mediaType: string, range: string): boolean {
  const isOfType = range.endsWith('/*') && mediaType.startsWith(range.slice(0, -1));
  return range === '*/*' || range === mediaType || isOfType;
}
