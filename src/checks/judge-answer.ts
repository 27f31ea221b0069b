import { isUtf8 } from 'node:buffer';
import { nouns } from '../api/nouns.ts';
import { reference, toSchemas } from '../api/openapi.ts';
import type { DocumentedAnswer, Operation } from '../api/operations.ts';
import type { ResultName } from '../api/schemas.ts';
import { otherRecord } from '../client/response.ts';
import { CliError, messageOf } from '../process/errors.ts';
import { type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { type BodyResult, checkBody } from './body-schema.ts';
import type { Reply } from './check.ts';
import { type Details, FindingError, isStatus, statusText } from './finding.ts';
import { recordOf } from './records.ts';
import { faultOf } from './round.ts';

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
export function judge(reply: Reply, expectation: Expectation = {}): JudgedBody {
  const { operation, mediaType, json, recordId } = reply;
  const { status, step, hint, skipsSchema = false } = expectation;
  const fault = (reason: string, details: Details) =>
    new FindingError(faultOf(reply, step ? `${step}: ${reason}` : reason, { hint, ...details }));
  const isWanted = status ? isStatus(reply.status, status) : operation.success.includes(reply.status);
  if (!isWanted)
    throw fault(`answered ${statusText(reply.status)}`, {
      expected: status ?? operation.success.join(' or '),
    });
  const { schema = expectation.schema, mediaTypes = [] } = documentedAnswer(reply) ?? {};
  if (!schema && mediaTypes.length === 0) return {};
  const ranges = mediaTypes.length > 0 ? mediaTypes : ['application/json'];
  if (!ranges.some((range) => isWithin(mediaType, range)))
    throw fault(mediaType ? `the content type is ${mediaType}` : 'the answer has no content type', {
      expected: ranges.join(' or '),
    });
  if (!/[/+]json$/.test(mediaType)) return {};
  if (!isUtf8(reply.body)) throw fault('the body is not UTF-8', { expected: 'UTF-8' });
  if (json === undefined) throw fault(`the body is not JSON: ${reply.jsonFault}`, { expected: 'JSON' });
  const result = schema && !skipsSchema ? compareWithSchema(reply, schema, json) : {};
  if (result.fault) {
    const { reason, got, ...details } = result.fault;
    throw fault(reason, { ...details, got: printJson(got) });
  }
  const record = reply.status < 300 ? recordOf(reply) : undefined;
  if (record && otherRecord(operation, recordId, record)) {
    const { idField } = nouns[operation.noun];
    const got = printJson(record[idField]);
    const details = { expected: String(recordId), pointer: `/${idField}`, got };
    throw fault('the answer is about another record', details);
  }
  return { json, unchecked: result.unchecked };
}

/**
 * The documented response for the status of an answer: from the description that the profile is bound to, else from the
 * table. Undefined if none is documented.
 */
export function documentedAnswer({ operation, status }: Reply): DocumentedAnswer | undefined {
  const answers = operation.answers ?? answersOfTable(operation);
  return answers[status] ?? answers[`${String(status).charAt(0)}XX`] ?? answers.default;
}

const documentSchemas = new Map<string, JsonObject>();

/**
 * A schema of the service's specification with everything that it refers to. Returns the same object each time, because its
 * validator is kept by the object.
 */
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
  const mediaTypes = ['application/json'];
  const ok = result ? { mediaTypes, schema: documentSchema(result, many) } : { mediaTypes: [] };
  const refusal = { mediaTypes, schema: documentSchema('Error') };
  return Object.fromEntries<DocumentedAnswer>([
    ...success.map((status) => [status, { ...ok, hasLocation: status === 201 }] as const),
    ...errors.map((status) => [status, refusal] as const),
  ]);
}

/** Compares a body with its schema. The time limit grows with the body. */
function compareWithSchema(
  { operation: { id, answers }, text, definitions }: Reply,
  schema: JsonObject,
  body: JsonValue,
): BodyResult {
  const limitMs = 2000 * (1 + Math.floor(text.length / 1_000_000));
  try {
    return checkBody(schema, body, limitMs, answers && definitions);
  } catch (error) {
    throw new CliError('failed', `the schema of ${id} cannot be used: ${messageOf(error)}`);
  }
}

/** Whether a media type matches a range such as `application/*`. */
function isWithin(mediaType: string, range: string): boolean {
  const isInGroup = range.endsWith('/*') && mediaType.startsWith(range.slice(0, -1));
  return range === '*/*' || range === mediaType || isInGroup;
}
