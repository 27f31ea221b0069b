import type { JsonObject, JsonValue } from '../../process/exact-json.ts';

/** The parts of the OpenAPI document that the page shows, as `toOpenApi` writes them. */
export interface OpenApi extends JsonObject {
  info: { title: string; version: string; description: string };
  tags: { name: string; description: string }[];
  paths: { [path: string]: { [method: string]: OpenApiOperation } };
  components: { schemas: { [name: string]: Schema }; responses: { [status: string]: OpenApiResponse } };
}

interface OpenApiOperation extends JsonObject {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: OpenApiParameter[];
  requestBody?: { content: { 'application/json': { schema: Schema; example: JsonObject } } };
  responses: { [status: string]: OpenApiResponse };
}

export interface OpenApiParameter extends JsonObject {
  name: string;
  in: string;
  required: boolean;
  description: string;
  schema: Schema;
  example?: JsonValue;
}

interface OpenApiResponse extends JsonObject {
  description: string;
  headers?: JsonObject;
  content?: { 'application/json': { schema: Schema } };
}

export interface Schema extends JsonObject {}

/** An operation with its place in the document. */
export interface Documented {
  readonly document: OpenApi;
  readonly pathItem: JsonObject;
  readonly operation: OpenApiOperation;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly OpenApiParameter[];
  /** The body that a request carries, with an example that works on the seeded shop. */
  readonly body: { readonly schema: Schema; readonly example: JsonObject } | undefined;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

export function documentedOperations(document: OpenApi): Documented[] {
  return Object.entries(document.paths).flatMap(([path, pathItem]) =>
    methods.flatMap((method) => {
      const operation = pathItem[method];
      if (!operation) return [];
      const { parameters = [], requestBody } = operation;
      const body = requestBody?.content['application/json'];
      return { document, pathItem, operation, method: method.toUpperCase(), path, parameters, body };
    }),
  );
}

/** The name of the component that a reference leads to. */
export function referenceName({ $ref }: JsonObject): string | undefined {
  return typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined;
}

/** The responses of an operation by status, references followed. */
export function responsesOf({ document, operation }: Documented): [status: string, OpenApiResponse][] {
  return Object.entries(operation.responses).map(([status, response]) => {
    const name = referenceName(response);
    return [status, (name !== undefined && document.components.responses[name]) || response];
  });
}

/** A schema with its references followed and the parts of `allOf` put together. */
export function resolveSchema(document: OpenApi, schema: Schema): Schema {
  const name = referenceName(schema);
  if (name !== undefined) return resolveSchema(document, document.components.schemas[name] ?? {});
  if (!Array.isArray(schema.allOf)) return schema;
  const parts = schema.allOf.map((part) => resolveSchema(document, part as Schema));
  return {
    type: 'object',
    // The id comes first, as it does in records.
    properties: Object.assign({}, ...parts.toReversed().map(({ properties }) => properties)),
    required: parts.flatMap(({ required }) => (required ?? []) as string[]),
  };
}
