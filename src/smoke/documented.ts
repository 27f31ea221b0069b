import type { DocumentedAnswer, Operation } from '../api/contract.ts';
import { toOpenApi } from '../api/openapi.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/**
 * What is documented of an operation's answer with a status: by the description that the profile is bound to, else by the
 * OpenAPI document of the table. Undefined where nothing is.
 */
export function documentedAnswer(operation: Operation, status: number): DocumentedAnswer | undefined {
  const answers = operation.answers ?? answersOfTable(operation);
  return answers[status] ?? answers[`${String(status).charAt(0)}XX`] ?? answers.default;
}

/** The schema of the service document's Error: what an error body is where the description says nothing of it. */
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
  const answers = tableAnswers.get(operation) ?? readAnswers(operation);
  tableAnswers.set(operation, answers);
  return answers;
}

function readAnswers({ path, method }: Operation): Answers {
  const operation = member(tableDocument(), 'paths', path, method.toLowerCase());
  const responses = Object.entries(member(operation, 'responses'));
  return Object.fromEntries(responses.map(([status, response]) => [status, toAnswer(response)]));
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

/** What lies at a path of keys; an empty object where nothing does. */
function member(value: JsonValue | undefined, ...keys: readonly string[]): JsonObject {
  const [key, ...rest] = keys;
  if (!isJsonObject(value)) return {};
  return key === undefined ? value : member(value[key], ...rest);
}
