import { toOpenApi } from '../api/openapi.ts';
import type { DocumentedAnswer, Operation } from '../api/operations.ts';
import { CliError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../json.ts';
import { type Details, fail, type Verdict } from './check.ts';
import { detailsOf, mediaTypeOf, type Probe, type Reply } from './probe.ts';
import { checkBody } from './schema.ts';
import { excerpt, statusText } from './text.ts';

/** The requirements of an answer. */
export interface Expectation {
  readonly isStatus: (status: number) => boolean;
  /** The statuses for a report, such as `200`. */
  readonly statuses: string;
  /** The schema of the body, used if the description has none for the status. */
  readonly schema?: JsonObject | undefined;
}

/** The body if it is as documented (undefined if none is documented), or the fault of the answer. */
type Judgement = { readonly body: JsonValue | undefined } | { readonly fault: Verdict };

/**
 * Judges an answer by its status, then its media type, then its body.
 *
 * @throws CliError if the description's schema is itself wrong.
 */
export function judge(
  probe: Probe,
  operation: Operation,
  reply: Reply,
  expectation: Expectation = successOf(operation),
): Judgement {
  const fault = (reason: string, more: Details, part = reply.text): Judgement => {
    const got = excerpt(part, probe.mask);
    return { fault: fail(reason, { ...detailsOf(reply), operation, ...more, got }) };
  };
  if (!expectation.isStatus(reply.status))
    return fault(`answered ${statusText(reply.status)}`, { expected: expectation.statuses });
  const documented = documentedAnswer(operation, reply.status);
  const schema = documented?.schema ?? expectation.schema;
  const mediaTypes = documented?.mediaTypes.length ? documented.mediaTypes : ['application/json'];
  if (!schema && !documented?.mediaTypes.length) return { body: undefined };
  const mediaType = mediaTypeOf(reply);
  if (!mediaTypes.some((range) => isWithin(mediaType, range))) {
    const reason = mediaType ? `the content type is ${mediaType}` : 'the answer has no content type';
    return fault(reason, { expected: mediaTypes.join(' or ') });
  }
  if (!isJson(mediaType)) return { body: undefined };
  if (!reply.isUtf8) return fault('the body is not UTF-8', { expected: 'UTF-8' });
  const body = tryParse(reply.text);
  if (body instanceof Error) return fault(`the body is not JSON: ${body.message}`, { expected: 'JSON' });
  if (!schema) return { body };
  const found = holdAgainst(operation, schema, { body, length: reply.text.length });
  if (found.remark !== undefined) probe.remarks.push(`${operation.id}: ${found.remark}`);
  if (!found.fault) return { body };
  const { reason, pointer, expected, got } = found.fault;
  return fault(reason, { expected, pointer }, printJson(got));
}

/** The success response that an operation documents. */
export function successOf({ success }: Operation): Expectation {
  return { isStatus: (status) => success.includes(status), statuses: success.join(' or ') };
}

/**
 * The documented response of an operation for a status: from the description that the profile is bound to, else from
 * the OpenAPI document of the table. Undefined if none is documented.
 */
export function documentedAnswer(operation: Operation, status: number): DocumentedAnswer | undefined {
  const answers = operation.answers ?? answersOfTable(operation);
  return answers[status] ?? answers[`${String(status).charAt(0)}XX`] ?? answers.default;
}

/** The schema of Error in the service document, for error bodies if the description does not define them. */
export function errorSchema(): JsonObject {
  error ??= withComponents({ $ref: '#/components/schemas/Error' });
  return error;
}

let error: JsonObject | undefined;
let document: JsonObject | undefined;

function tableDocument(): JsonObject {
  document ??= toOpenApi();
  return document;
}

type Answers = Readonly<Record<string, DocumentedAnswer>>;

const tableAnswers = new WeakMap<Operation, Answers>();

function answersOfTable(operation: Operation): Answers {
  const known = tableAnswers.get(operation);
  if (known) return known;
  const { path, method } = operation;
  const responses = member(tableDocument(), 'paths', path, method.toLowerCase(), 'responses');
  const answers = Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, toAnswer(response)]),
  );
  tableAnswers.set(operation, answers);
  return answers;
}

function toAnswer(response: JsonValue): DocumentedAnswer {
  const { $ref } = response as JsonObject;
  if (typeof $ref === 'string') return toAnswer(member(tableDocument(), ...$ref.split('/').slice(1)));
  const content = member(response, 'content');
  const [first] = Object.values(content);
  const schema = member(first, 'schema');
  return {
    mediaTypes: Object.keys(content),
    schema: Object.keys(schema).length > 0 ? withComponents(schema) : undefined,
  };
}

function withComponents(schema: JsonObject): JsonObject {
  return { ...schema, components: { schemas: member(tableDocument(), 'components', 'schemas') } };
}

/** The value at a path of keys; an empty object if there is none. */
function member(value: JsonValue | undefined, ...keys: readonly string[]): JsonObject {
  const [key, ...rest] = keys;
  if (!isJsonObject(value)) return {};
  return key === undefined ? value : member(value[key], ...rest);
}

/** The time limit grows with the body, because checking a long list takes long. */
function holdAgainst(
  { id }: Operation,
  schema: JsonObject,
  { body, length }: { readonly body: JsonValue; readonly length: number },
): ReturnType<typeof checkBody> {
  try {
    return checkBody(schema, body, 2000 * (1 + Math.floor(length / 1_000_000)));
  } catch (error) {
    throw new CliError('failed', `the schema of ${id} cannot be used: ${(error as Error).message}`);
  }
}

/** Whether a media type matches a range such as `application/*`. */
function isWithin(mediaType: string, range: string): boolean {
  const isInGroup = range.endsWith('/*') && mediaType.startsWith(range.slice(0, -1));
  return range === '*/*' || range === mediaType || isInGroup;
}

export function isJson(mediaType: string): boolean {
  return /[/+]json$/.test(mediaType);
}

function tryParse(text: string): JsonValue | Error {
  try {
    return parseJson(text);
  } catch (error) {
    return error as SyntaxError;
  }
}
