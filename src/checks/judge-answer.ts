import { isUtf8 } from 'node:buffer';
import { nouns } from '../api/nouns.ts';
import { componentReference, toSchemas } from '../api/openapi.ts';
import type { DocumentedResponse, Operation } from '../api/operations.ts';
import { type ResultName, resultSchemas } from '../api/schemas.ts';
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
  /** The schema of the body, if the description has none for the status. */
  readonly schema?: JsonObject | undefined;
  /** The step of a check, such as `delete`. The reason of a fault begins with it. */
  readonly step?: string;
  /** Whether another check compares the body with its schema. */
  readonly skipsSchema?: boolean;
}

/** The body of an answer that meets its expectation. */
interface JudgedBody {
  /** The value of the body; undefined if the description documents no JSON. */
  readonly json?: JsonValue;
  /** What is worth a warning, a clause. */
  readonly remark?: string | undefined;
}

/**
 * Checks the status of an answer, then its media type, then its body, which must be about the requested record.
 *
 * @throws FindingError with the first fault; CliError if the schema of the description is itself wrong.
 */
export function judge(answer: CheckAnswer, expectation: Expectation = {}): JudgedBody {
  const { operation, mediaType, json, recordId } = answer;
  const { status, step, skipsSchema = false } = expectation;
  const fault = (reason: string, details: Details) =>
    new FindingError(faultOf(answer, step ? `${step}: ${reason}` : reason, details));
  const isExpected = status ? isStatus(answer.status, status) : operation.success.includes(answer.status);
  if (!isExpected)
    throw fault(`answered ${statusText(answer.status)}`, {
      expected: status ?? operation.success.join(' or '),
    });
  const { schema = expectation.schema, mediaTypes = [] } = documentedResponse(answer) ?? {};
  if (!schema && mediaTypes.length === 0) return {};
  const ranges = mediaTypes.length > 0 ? mediaTypes : ['application/json'];
  if (!ranges.some((range) => isWithin(mediaType, range)))
    throw fault(mediaType ? `the content type is ${mediaType}` : 'the answer has no content type', {
      expected: ranges.join(' or '),
    });
  if (!/[/+]json$/.test(mediaType)) return {};
  if (!isUtf8(answer.body)) throw fault('the body is not UTF-8', { expected: 'UTF-8' });
  if (json === undefined) throw fault(`the body is not JSON: ${answer.jsonFault}`, { expected: 'JSON' });
  const result = schema && !skipsSchema ? compareWithSchema(answer, schema, json) : {};
  if (result.fault) {
    const { reason, got, ...details } = result.fault;
    throw fault(reason, { ...details, got: printJson(got) });
  }
  const record = answer.status < 300 ? recordOf(answer) : undefined;
  if (record && otherRecord(operation, recordId, record)) {
    const { idField } = nouns[operation.noun];
    const got = printJson(record[idField]);
    const details = { expected: String(recordId), pointer: `/${idField}`, got };
    throw fault('the answer is about another record', details);
  }
  return { json, remark: result.remark };
}

/**
 * Returns the documented response for the status of an answer, from the description that the profile is bound to, or from
 * the operations table. Undefined if the status is not documented.
 */
function documentedResponse({ operation, status }: CheckAnswer): DocumentedResponse | undefined {
  const responses = operation.responses ?? responsesOfTable(operation);
  return responses[status] ?? responses[`${String(status).charAt(0)}XX`] ?? responses.default;
}

/** The schemas of the service's specification for answers, in which a quantity may be any integer. */
const components: JsonObject = { schemas: readSchemas() };

function readSchemas(): JsonObject {
  const schemas = toSchemas();
  for (const schema of [schemas.Order, schemas.InventoryItem] as JsonObject[]) {
    const properties = schema.properties as JsonObject;
    const { minimum, ...quantity } = properties.quantity as JsonObject;
    schema.properties = { ...properties, quantity };
  }
  return schemas;
}

const recordSchemas = mapResults((reference) => ({ ...reference, components }));
const listSchemas = mapResults((reference) => ({ type: 'array', items: reference, components }));

function mapResults(
  toSchema: (reference: JsonObject) => JsonObject,
): Readonly<Record<ResultName, JsonObject>> {
  const names = Object.keys(resultSchemas) as ResultName[];
  const entries = names.map((name) => [name, toSchema(componentReference('schemas', name))]);
  return Object.fromEntries(entries) as Record<ResultName, JsonObject>;
}

/** The schema of an Error of the service's specification. */
export const errorSchema: JsonObject = { ...componentReference('schemas', 'Error'), components };

function responsesOfTable({
  success,
  errors,
  result,
  isList,
}: Operation): NonNullable<Operation['responses']> {
  const mediaTypes = ['application/json'];
  const ok = result
    ? { mediaTypes, schema: (isList ? listSchemas : recordSchemas)[result] }
    : { mediaTypes: [] };
  const refusal = { mediaTypes, schema: errorSchema };
  return Object.fromEntries<DocumentedResponse>([
    ...success.map((status) => [status, ok] as const),
    ...errors.map((status) => [status, refusal] as const),
  ]);
}

/** Compares a body with its schema. The time limit grows with the length of the body. */
function compareWithSchema(
  { operation: { id, responses }, text, definitions }: CheckAnswer,
  schema: JsonObject,
  body: JsonValue,
): BodyResult {
  const limitMs = 2000 * (1 + Math.floor(text.length / 1_000_000));
  try {
    return checkBody(schema, body, limitMs, responses && definitions);
  } catch (error) {
    throw new CliError('failed', `the schema of ${id} cannot be used: ${messageOf(error)}`);
  }
}

/** Whether a media type matches a range such as `application/*`. */
function isWithin(mediaType: string, range: string): boolean {
  const isOfType = range.endsWith('/*') && mediaType.startsWith(range.slice(0, -1));
  return range === '*/*' || range === mediaType || isOfType;
}
