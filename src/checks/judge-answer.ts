import { isUtf8 } from 'node:buffer';
import { nouns } from '../api/nouns.ts';
import { reference, toSchemas } from '../api/openapi.ts';
import type { DocumentedAnswer, Operation } from '../api/operations.ts';
import type { ResultName } from '../api/schemas.ts';
import { otherRecord } from '../client/response.ts';
import { CliError } from '../process/errors.ts';
import { type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { excerpt } from '../process/text.ts';
import { type BodyResult, checkBody } from './body-schema.ts';
import { type Details, FindingError, fail, isStatus, statusText } from './check.ts';
import { recordOf } from './records.ts';
import { type CheckContext, detailsOf, type Reply } from './round.ts';

/** The requirements of an answer. By default, it is the success that its operation documents. */
interface Expectation {
  /** `404`, or `4xx` for any of a class. */
  readonly status?: string;
  /** The schema of the body, used if the description has none for the status. */
  readonly schema?: JsonObject | undefined;
  /** The step of a check, such as `delete`, for the start of a reason. */
  readonly step?: string;
  /** Whether the body is not compared with its schema, because another check does that. */
  readonly skipsSchema?: boolean;
  /** A remedy for any fault. */
  readonly hint?: string;
}

/** The body of an answer that is as documented. */
interface JudgedBody {
  /** Undefined if no JSON is documented. */
  readonly json?: JsonValue;
  /** What could not be checked, a clause. */
  readonly unchecked?: string | undefined;
}

/**
 * Judges an answer by its status, then its media type, then its body, which must be about the requested record.
 *
 * @throws FindingError with the fault; CliError if the description's schema is itself wrong.
 */
export function judge(
  context: CheckContext,
  operation: Operation,
  reply: Reply,
  expectation: Expectation = {},
): JudgedBody {
  const { success } = operation;
  const { status, step, hint, skipsSchema = false } = expectation;
  const fault = (reason: string, more: Details) =>
    faultOf(context, operation, reply, step ? `${step}: ${reason}` : reason, { hint, ...more });
  const isWanted = status ? isStatus(reply.status, status) : success.includes(reply.status);
  if (!isWanted)
    throw fault(`answered ${statusText(reply.status)}`, { expected: status ?? success.join(' or ') });
  const documented = documentedAnswer(operation, reply.status);
  const schema = documented?.schema ?? expectation.schema;
  const mediaTypes = documented?.mediaTypes.length ? documented.mediaTypes : ['application/json'];
  if (!schema && !documented?.mediaTypes.length) return {};
  const { mediaType, json } = reply;
  if (!mediaTypes.some((range) => isWithin(mediaType, range)))
    throw fault(mediaType ? `the content type is ${mediaType}` : 'the answer has no content type', {
      expected: mediaTypes.join(' or '),
    });
  if (!/[/+]json$/.test(mediaType)) return {};
  if (!isUtf8(reply.body)) throw fault('the body is not UTF-8', { expected: 'UTF-8' });
  if (json === undefined) throw fault(`the body is not JSON: ${reply.jsonFault}`, { expected: 'JSON' });
  const result =
    schema && !skipsSchema ? compareWithSchema(context, operation, schema, json, reply.text.length) : {};
  if (result.fault) {
    const { reason, got, ...details } = result.fault;
    throw fault(reason, { ...details, got: excerpt(printJson(got), context.round.mask) });
  }
  const record = reply.status < 300 ? recordOf(operation, reply) : undefined;
  if (record && otherRecord(operation, reply.recordId, record)) {
    const name = nouns[operation.noun].idField;
    throw fault('the answer is about another record', {
      expected: String(reply.recordId),
      pointer: `/${name}`,
      got: excerpt(printJson(record[name]), context.round.mask),
    });
  }
  return { json, unchecked: result.unchecked };
}

/** The failure of a check because of an answer. It shows the body, unless the details have a value for `got`. */
export function faultOf(
  context: CheckContext,
  operation: Operation,
  reply: Reply,
  reason: string,
  details: Details = {},
): FindingError {
  const got = excerpt(reply.text, context.round.mask);
  return new FindingError(fail(reason, { ...detailsOf(reply), operation, got, ...details }));
}

/**
 * The documented response of an operation for a status: from the description that the profile is bound to, else from
 * the table. Undefined if none is documented.
 */
export function documentedAnswer(operation: Operation, status: number): DocumentedAnswer | undefined {
  const answers = operation.answers ?? answersOfTable(operation);
  return answers[status] ?? answers[`${String(status).charAt(0)}XX`] ?? answers.default;
}

const documentSchemas = new Map<string, JsonObject>();

/** A schema of the service's specification with everything that it refers to. The same object each time, so that it is prepared once. */
export function documentSchema(name: ResultName | 'Error', many = false): JsonObject {
  const key = many ? `${name}[]` : name;
  const record = reference('schemas', name);
  const schema = documentSchemas.get(key) ?? {
    ...(many ? { type: 'array', items: record } : record),
    components: { schemas: readSchemas() },
  };
  documentSchemas.set(key, schema);
  return schema;
}

/** The schemas of the service's specification for answers, in which a count may be any integer. */
function readSchemas(): JsonObject {
  const schemas = toSchemas();
  for (const schema of [schemas.Order, schemas.InventoryItem] as JsonObject[]) {
    const properties = schema.properties as JsonObject;
    const { minimum, ...quantity } = properties.quantity as JsonObject;
    schema.properties = { ...properties, quantity };
  }
  return schemas;
}

function answersOfTable({ success, errors, result, many }: Operation): NonNullable<Operation['answers']> {
  const ok = result
    ? { mediaTypes: ['application/json'], schema: documentSchema(result, many) }
    : { mediaTypes: [] };
  const errorBody = { mediaTypes: ['application/json'], schema: documentSchema('Error') };
  return Object.fromEntries([
    ...success.map((status) => [status, { ...ok, hasLocation: status === 201 }] as const),
    ...errors.map((status) => [status, errorBody] as const),
  ]);
}

/** Compares a body with its schema. The time limit grows with the body. */
function compareWithSchema(
  { round }: CheckContext,
  { id, answers }: Operation,
  schema: JsonObject,
  body: JsonValue,
  length: number,
): BodyResult {
  try {
    const definitions = answers && round.client.contract.definitions;
    return checkBody(schema, body, 2000 * (1 + Math.floor(length / 1_000_000)), definitions);
  } catch (error) {
    throw new CliError('failed', `the schema of ${id} cannot be used: ${(error as Error).message}`);
  }
}

/** Whether a media type matches a range such as `application/*`. */
function isWithin(mediaType: string, range: string): boolean {
  const isInGroup = range.endsWith('/*') && mediaType.startsWith(range.slice(0, -1));
  return range === '*/*' || range === mediaType || isInGroup;
}
