import { bind, type Maps } from '../../src/binding/binding.ts';
import { readDescription } from '../../src/binding/description.ts';
import type { JsonObject } from '../../src/process/exact-json.ts';

// Descriptions in short. A line is an operation:
//
//   METHOD path [body] [-> answer] [(operationId)] ["summary"] [?parameter] [= the operation that it is bound as] [! operation: why it is not]
//
// `{id}` is an integer, `{id:string}` and `{id:uuid}` are not. `?shop` is a required query parameter. An answer may be in an
// envelope: `{data: Pet[]}`. A schema has a line before, `Pet: id# name`, with its fields: `id#` is an integer, `id@` a UUID,
// `done?` a boolean, `tags[]` a list, `category.` an object with an id and a name, `n:integer,description_of_it` has a
// description; all else is text. A `!` at the end makes a field required: `name!`, `quantity#!`.

/** The schemas and the operations of a description, one a line. */
export interface Row {
  readonly kind: string;
  readonly schemas: Readonly<Record<string, string>>;
  readonly operations: readonly string[];
}

export function readCorpus(text: string): Row[] {
  return text
    .split(/^# /m)
    .slice(1)
    .map((block) => {
      const [kind = '', ...lines] = block.trim().split('\n');
      const isSchema = (line: string) => /^\w+:/.test(line);
      const schemas = lines.filter(isSchema).map((line) => line.split(/:\s*(.*)/, 2));
      return {
        kind,
        schemas: Object.fromEntries(schemas),
        operations: lines.filter((line) => !isSchema(line)),
      };
    });
}

/** Makes the schema of a field: `quantity#`, `n:integer,with_a_description`. */
function fieldSchema(field: string): [name: string, schema: JsonObject] {
  const [, name = '', kind = '', type, description = ''] =
    /^([\w-]+)([#@?.]|\[\])?!?(?::(\w+),(\S+))?$/.exec(field) ?? [];
  const schemas: Record<string, JsonObject> = {
    '#': { type: 'integer' },
    '@': { type: 'string', format: 'uuid' },
    '?': { type: 'boolean' },
    '[]': { type: 'array', items: {} },
    '.': { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } },
  };
  if (type !== undefined) return [name, { type, description: description.replaceAll('_', ' ') }];
  return [name, schemas[kind] ?? { type: 'string' }];
}

function recordSchema(fields: string): JsonObject {
  const entries = fields.split(' ').filter(Boolean);
  const required = entries.filter((field) => field.endsWith('!')).map((field) => fieldSchema(field)[0]);
  return { type: 'object', properties: Object.fromEntries(entries.map(fieldSchema)), required };
}

/** Makes the schema of a body or an answer: `Pet`, `Pet[]`, `{data: Pet[], count#}`, `map`. */
function contentSchema(text: string): JsonObject {
  const [, inner] = /^\{(.*)\}$/.exec(text) ?? [];
  if (inner !== undefined) {
    const members = inner.split(/, (?![^{]*\})/).map((member): [string, JsonObject] => {
      const [, name = '', value] = /^(\w+): (.*)$/.exec(member) ?? [];
      return value === undefined ? fieldSchema(member) : [name, contentSchema(value)];
    });
    return { type: 'object', properties: Object.fromEntries(members) };
  }
  if (text.endsWith('[]')) return { type: 'array', items: contentSchema(text.slice(0, -2)) };
  if (text === 'map') return { type: 'object', additionalProperties: { type: 'integer' } };
  if (text === 'mapOf') return { type: 'object', additionalProperties: { $ref: '#/components/schemas/Pet' } };
  return { $ref: `#/components/schemas/${text}` };
}

const line =
  /^(GET|POST|PUT|PATCH|DELETE) (\S+)(?: (?!->|=|\(|\?|!|")(\S+))?(?: -> (\{.*\}|\S+))?(?: \((\w+)\))?(?: "([^"]*)")?(?: \?(\w+))?(?: = (\w+))?(?: ! (\w+): (.*))?$/;

/** Makes the document of a row, with the routes that are bound and the reasons why others are not, by operation. */
export function describeRow({ kind, schemas, operations }: Row) {
  const paths: JsonObject = {};
  const expected: Record<string, string> = {};
  const reasons: Record<string, string> = {};
  for (const text of operations) {
    const match = line.exec(text);
    if (!match) throw new Error(`${kind}: ${text}`);
    const [, method = '', typedPath = '', body, answer, operationId, summary, parameter, id, missing, why] =
      match;
    const path = typedPath.replace(/:(string|uuid)\}/g, '}');
    const parameters: JsonObject[] = [...typedPath.matchAll(/\{([\w-]+)(?::(\w+))?\}/g)].map(
      ([, name = '', type]) => ({
        name,
        in: 'path',
        required: true,
        schema: type === 'uuid' ? { type: 'string', format: type } : { type: type ?? 'integer' },
      }),
    );
    if (parameter)
      parameters.push({ name: parameter, in: 'query', required: true, schema: { type: 'string' } });
    const isForm = body === 'form';
    const content = isForm
      ? { 'multipart/form-data': {} }
      : { 'application/json': { schema: contentSchema(body ?? '') } };
    const schema = answer === undefined ? undefined : contentSchema(answer);
    const response = { description: 'ok', ...(schema && { content: { 'application/json': { schema } } }) };
    paths[path] = {
      ...(paths[path] as JsonObject | undefined),
      [method.toLowerCase()]: {
        ...(operationId !== undefined && { operationId }),
        ...(summary !== undefined && { summary }),
        parameters,
        ...(body !== undefined && { requestBody: { content } }),
        responses: { [answer === undefined && method !== 'GET' ? 204 : 200]: response },
      },
    };
    if (id !== undefined) expected[id] = `${method} ${path}`;
    if (missing !== undefined) reasons[missing] = why ?? '';
  }
  const named = Object.entries(schemas).map(([name, fields]) => [name, recordSchema(fields)]);
  const document = {
    openapi: '3.0.3',
    info: { title: kind, version: '1' },
    paths,
    components: { schemas: Object.fromEntries(named) },
  };
  return { document, expected, reasons };
}

export function describeLines(...lines: readonly string[]): JsonObject {
  const [row] = readCorpus(`# service\n${lines.join('\n')}`);
  return describeRow(row as Row).document;
}

export async function bindDocument(document: JsonObject, maps: Partial<Maps> = {}) {
  const source = { label: 'x', document: structuredClone(document) };
  const { matches, contract } = bind(await readDescription(source), {
    operations: new Map(),
    fields: new Map(),
    ...maps,
  });
  const bound = [...contract.operations.values()].map(({ id, method, path }) => [id, `${method} ${path}`]);
  return { matches, contract, bound: Object.fromEntries(bound) as Record<string, string> };
}
