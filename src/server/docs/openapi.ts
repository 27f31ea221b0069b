import type { JsonObject, JsonValue } from '../../json.ts';

/** The parts of the OpenAPI document that the page shows, as `toOpenApi` writes them. */
export interface OpenApi extends JsonObject {
  info: { title: string; version: string; description: string };
  tags: { name: string; description: string }[];
  paths: { [path: string]: { [method: string]: OpenApiOperation } };
  components: { schemas: { [name: string]: Schema } };
}

export interface OpenApiOperation extends JsonObject {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: JsonValue;
}

export interface Schema extends JsonObject {}

/** An operation with what belongs to it in the document. */
export interface Documented {
  readonly document: OpenApi;
  readonly pathItem: JsonObject;
  readonly operation: OpenApiOperation;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly OpenApiParameter[];
  /** The body that a request carries, with an example that works on the seeded shop. */
  readonly body: { readonly schema: Schema; readonly example: JsonObject } | undefined;
  readonly responses: readonly DocumentedResponse[];
}

export interface DocumentedResponse {
  readonly status: string;
  readonly description: string;
  readonly headers: readonly string[];
  readonly schema: Schema | undefined;
}

export function operationsOf(document: OpenApi): Documented[] {
  return Object.entries(document.paths).flatMap(([path, pathItem]) =>
    methods.flatMap((method) => toDocumented(document, path, pathItem, method)),
  );
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

function toDocumented(
  document: OpenApi,
  path: string,
  pathItem: { [method: string]: OpenApiOperation },
  method: string,
): Documented[] {
  const operation = pathItem[method];
  if (!operation) return [];
  return [
    {
      document,
      pathItem,
      operation,
      method: method.toUpperCase(),
      path,
      parameters: (operation.parameters ?? []) as unknown as OpenApiParameter[],
      body: contentOf(operation.requestBody) as Documented['body'],
      responses: Object.entries((operation.responses ?? {}) as JsonObject).map(([status, response]) =>
        toResponse(document, status, response),
      ),
    },
  ];
}

/** The name of the schema that a reference leads to. */
export function referenceName(schema: Schema): string | undefined {
  return typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined;
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

function toResponse(document: OpenApi, status: string, response: JsonValue | undefined): DocumentedResponse {
  const { description, headers = {}, ...rest } = follow(document, response) as JsonObject;
  return {
    status,
    description: String(description),
    headers: Object.keys(headers as JsonObject),
    schema: contentOf(rest)?.schema as Schema | undefined,
  };
}

function follow(document: OpenApi, value: JsonValue | undefined): JsonValue | undefined {
  const reference = (value as JsonObject | undefined)?.$ref;
  if (typeof reference !== 'string') return value;
  const keys = reference.split('/').slice(1);
  return keys.reduce<JsonValue | undefined>((part, key) => (part as JsonObject | undefined)?.[key], document);
}

function contentOf(holder: JsonValue | undefined): JsonObject | undefined {
  const content = (holder as JsonObject | undefined)?.content as JsonObject | undefined;
  return content?.['application/json'] as JsonObject | undefined;
}
