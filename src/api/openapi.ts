import type { JsonObject } from '../process/exact-json.ts';
import { bodiesOf, type Field, fieldsWithId, type Noun, nouns } from './nouns.ts';
import { type Operation, operations, type Parameter } from './operations.ts';
import { petStatuses } from './record-values.ts';
import {
  componentReference,
  fieldValues,
  idInRequest,
  type QueryName,
  queryParameters,
  type ResultName,
} from './schemas.ts';

interface OpenApiOptions {
  /** The URL of the service. By default `/`, the origin that serves the document. */
  readonly serverUrl?: string | undefined;
  /** The end of every deprecated operation, YYYY-MM-DD. None by default. */
  readonly sunset?: string | undefined;
}

/**
 * Makes the OpenAPI 3.0.3 document of the table: plain data, with the schema names of the service's specification.
 *
 * @see https://spec.openapis.org/oas/v3.0.3
 */
export function toOpenApi(options: OpenApiOptions = {}) {
  return {
    openapi: '3.0.3',
    info: {
      title: 'Pet Store Service',
      version: '1.0.0',
      description: 'Pets, the categories that group them, orders for them, and the stock count of each.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: options.serverUrl ?? '/' }],
    security: [],
    tags: [
      { name: 'Pets', description: 'Pets and their categories' },
      { name: 'Store', description: 'Orders and inventory' },
    ],
    paths: toPaths(options),
    components: { schemas: toSchemas(), responses: toErrorResponses() },
  };
}

export type OpenApi = ReturnType<typeof toOpenApi>;

const errorDescriptions: Readonly<Record<number, string>> = {
  400: 'A parameter or the body does not parse',
  404: 'No such record exists',
  409: 'The record exists already, or is in use',
  412: 'The record is not the one that If-Match names, or If-None-Match names it (RFC 9110, 13.1)',
  413: 'The body is larger than 1 MiB',
  415: 'The body is not application/json',
  422: 'The body breaks its schema',
};

function toPaths(options: OpenApiOptions) {
  const paths: { [path: string]: { [method: string]: ReturnType<typeof toOperationObject> } } = {};
  for (const operation of Object.values(operations)) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: toOperationObject(operation, options) };
  }
  return paths;
}

function toOperationObject(operation: Operation, options: OpenApiOptions) {
  const { id, tag, summary, parameters, body, isDeprecated, stability, hidesTryIt } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(isDeprecated && { deprecated: true }),
    ...(isDeprecated && options.sunset && { 'x-deprecated-sunset': options.sunset }),
    ...(stability !== 'stable' && { 'x-stability': stability }),
    ...(hidesTryIt && { 'x-hideTryItPanel': true }),
    ...(parameters.length > 0 && {
      parameters: parameters.map((parameter) => toParameterObject(operation, parameter)),
    }),
    ...(body && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: componentReference('schemas', body.name),
            example: operation.example?.body ?? {},
          },
        },
      },
    }),
    responses: toResponses(operation),
  };
}

function toParameterObject({ example }: Operation, { name, wireName, in: place, required }: Parameter) {
  const isId = place === 'path';
  const { description, schema } = isId
    ? { description: 'The id of the record', schema: idInRequest }
    : queryParameters[name as QueryName];
  const parameter = { name: wireName, in: place, required, description, schema: schema as JsonObject };
  return { ...parameter, ...(isId && { example: Number(example?.id) }) };
}

export type OpenApiParameter = ReturnType<typeof toParameterObject>;

function toResponses(operation: Operation) {
  const responses: { [status: string]: ResponseObject | ReturnType<typeof componentReference> } = {};
  for (const status of operation.success) responses[status] = toSuccess(operation, status);
  for (const status of operation.errors) responses[status] = componentReference('responses', String(status));
  return responses;
}

const nextPageHeader = {
  description: 'The next page, with rel="next" (RFC 8288); absent on the last page',
  schema: { type: 'string' },
};

interface ResponseObject {
  readonly description: string;
  readonly headers?: { readonly Link: typeof nextPageHeader };
  readonly content?: ReturnType<typeof jsonMedia>;
}

function toSuccess({ isList, result }: Operation, status: number): ResponseObject {
  const description = status === 204 ? 'Deleted' : status === 201 ? 'Created' : 'OK';
  if (!result) return { description };
  return {
    description,
    // By this header `api bind` knows that the pages of the list can be followed.
    ...(isList && { headers: { Link: nextPageHeader } }),
    content: jsonMedia(isList ? listSchema(result) : componentReference('schemas', result)),
  };
}

function listSchema(result: ResultName): JsonObject {
  if (result === 'Pet') return componentReference('schemas', 'Pets');
  return { type: 'array', items: componentReference('schemas', result) };
}

function toErrorResponses() {
  const responses: { [status: string]: ResponseObject } = {};
  for (const [status, description] of Object.entries(errorDescriptions))
    responses[status] = { description, content: jsonMedia(componentReference('schemas', 'Error')) };
  return responses;
}

function jsonMedia(schema: JsonObject) {
  return { 'application/json': { schema } };
}

/** Makes all schemas of the document, by name. */
export function toSchemas(): { [name: string]: JsonObject } {
  const objects = Object.values(nouns).flatMap((noun: Noun) => {
    const fields = fieldsWithId(noun, noun.idInBody === 'none' ? 'required' : noun.idInBody);
    return [...Object.values(bodiesOf(noun)), { name: noun.schema, fields }];
  });
  return {
    PetStatus: { enum: [...petStatuses], type: 'string' },
    ...Object.fromEntries(objects.map(({ name, fields }) => [name, toObjectSchema(fields)])),
    Pets: { type: 'array', items: componentReference('schemas', 'Pet') },
    Error: {
      type: 'object',
      properties: { code: { type: 'string' }, message: { type: 'string' }, status: { type: 'integer' } },
      required: ['code', 'message', 'status'],
    },
  };
}

function toObjectSchema(fields: readonly Field[]): JsonObject {
  const properties = Object.fromEntries(fields.map(({ name, kind }) => [name, fieldValues[kind].schema]));
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  // OpenAPI 3.0 forbids an empty list of required fields.
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}
