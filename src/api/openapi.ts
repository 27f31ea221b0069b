import type { JsonObject } from '../json.ts';
import { builtInContract } from './contract.ts';
import { convert, reference, toComponents } from './openapi-schemas.ts';
import { type Operation, type OperationId, operations, type Parameter } from './operations.ts';
import { type BodyName, IdText, type QueryName, querySchemas, type ResultName } from './schemas.ts';

interface OpenApiOptions {
  /** The URL of the service; by default `/`, the origin that serves the document. */
  readonly serverUrl?: string | undefined;
  /** YYYY-MM-DD of every deprecated operation, instead of the table's. */
  readonly sunset?: string | undefined;
}

/**
 * The table as an OpenAPI 3.0.3 document: plain data, schemas by the names of the service document.
 *
 * @see https://spec.openapis.org/oas/v3.0.3
 */
export function toOpenApi(options: OpenApiOptions = {}): JsonObject {
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
    components: { schemas: toComponents(), headers, responses: errorResponses() },
  };
}

const reasons: Readonly<Record<number, readonly [reason: string, code: string, message: string]>> = {
  400: ['A parameter or the body does not parse', 'invalid_parameter', 'limit: must be an integer'],
  404: ['No such record exists', 'not_found', 'pet 42 does not exist'],
  409: ['The record exists already, or is in use', 'in_use', 'category 1 has pets'],
  413: ['The body is larger than 1 MiB', 'payload_too_large', 'the body is larger than 1 MiB'],
  415: ['The body is not application/json', 'unsupported_media_type', 'the body must be application/json'],
  422: ['The body breaks its schema', 'validation_failed', '/name: must be a string'],
};

const queryDescriptions: Readonly<Record<QueryName, string>> = {
  status: 'Only records of this pet status',
  categoryId: 'Only pets of this category',
  petId: 'Only orders of this pet',
  complete: 'Only orders that are complete, or that are not',
  limit: 'The largest number of records in one page',
  after: 'The id of the last record of the previous page',
};

const headers: JsonObject = {
  Link: {
    description: 'The next page, with rel="next" (RFC 8288); absent on the last page',
    schema: { type: 'string' },
    // Not `next`: with a mock that answers with this example, a list would never end.
    example: '</pets?limit=100>; rel="first"',
  },
  Location: {
    description: 'The new record',
    schema: { type: 'string', format: 'uri-reference' },
    example: '/pets/26',
  },
  Deprecation: {
    description: 'When the operation was deprecated: @ and Unix seconds (RFC 9745)',
    schema: { type: 'string' },
    example: '@1767225600',
  },
  Sunset: {
    description: 'When the operation stops answering: an HTTP date (RFC 8594)',
    schema: { type: 'string' },
    example: 'Fri, 31 Dec 2027 00:00:00 GMT',
  },
};

function toPaths(options: OpenApiOptions): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const operation of builtInContract.operations.values()) {
    const item = paths[operation.path] ?? {};
    item[operation.method.toLowerCase()] = toOperationObject(operation, options);
    paths[operation.path] = item;
  }
  return paths;
}

function toOperationObject(operation: Operation, options: OpenApiOptions): JsonObject {
  const { id, tag, summary, description, stability, deprecated, hideTryIt } = operation;
  const sunset = options.sunset ?? operation.sunset;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(deprecated && { deprecated: true }),
    ...(deprecated && sunset && { 'x-deprecated-sunset': sunset }),
    ...(stability !== 'stable' && { 'x-stability': stability }),
    ...(hideTryIt && { 'x-hideTryItPanel': true }),
    ...(operation.parameters.length > 0 && {
      parameters: operation.parameters.map((parameter) => toParameterObject(parameter, id)),
    }),
    ...(operation.body && { requestBody: toRequestBodyObject(operation.body.name, id) }),
    responses: toResponses(operation),
  };
}

function toParameterObject({ name, in: place, required }: Parameter, id: OperationId): JsonObject {
  if (place === 'path') {
    return {
      name,
      in: place,
      required,
      description: 'The id of the record',
      schema: convert(IdText),
      example: Number(operations[id].example?.path?.[name]),
    };
  }
  const query = name as QueryName;
  return {
    name,
    in: place,
    required,
    description: queryDescriptions[query],
    schema: query === 'status' ? reference('schemas', 'PetStatus') : convert(querySchemas[query]),
  };
}

function toRequestBodyObject(name: BodyName, id: OperationId): JsonObject {
  return {
    required: true,
    content: { 'application/json': { schema: reference('schemas', name), example: bodyExample(id) } },
  };
}

function toResponses(operation: Operation): JsonObject {
  const responses: JsonObject = {};
  for (const status of operation.success) responses[status] = toSuccess(operation, status);
  for (const status of operation.errors) responses[status] = reference('responses', String(status));
  return responses;
}

function toSuccess({ many, result, deprecated }: Operation, status: number): JsonObject {
  const names = [
    ...(many ? ['Link'] : []),
    ...(status === 201 ? ['Location'] : []),
    ...(deprecated ? ['Deprecation', 'Sunset'] : []),
  ];
  const example = result && resultExample(result);
  return {
    description: status === 204 ? 'Deleted' : status === 201 ? 'Created' : 'OK',
    ...(names.length > 0 && {
      headers: Object.fromEntries(names.map((name) => [name, reference('headers', name)])),
    }),
    ...(result &&
      example && {
        content: {
          'application/json': {
            schema: many ? listSchema(result) : reference('schemas', result),
            example: many ? [example] : example,
          },
        },
      }),
  };
}

function listSchema(result: ResultName): JsonObject {
  if (result === 'Pet') return reference('schemas', 'Pets');
  return { type: 'array', items: reference('schemas', result) };
}

function errorResponses(): JsonObject {
  return Object.fromEntries(
    Object.entries(reasons).map(([status, [description, code, message]]) => {
      const example = { code, message, status: Number(status) };
      return [
        status,
        { description, content: { 'application/json': { schema: reference('schemas', 'Error'), example } } },
      ];
    }),
  );
}

function bodyExample(id: OperationId): JsonObject {
  return operations[id].example?.body as JsonObject;
}

function resultExample(result: ResultName): JsonObject {
  const creators = { Pet: 'createPet', Category: 'createCategory', Order: 'createOrder' } as const;
  if (result === 'InventoryItem') return bodyExample('createInventory');
  return { id: 1, ...bodyExample(creators[result]) };
}
