import type { OpenApi, OpenApiParameter } from '../../api/openapi.ts';
import type { JsonObject } from '../../process/exact-json.ts';

type PathItem = OpenApi['paths'][string];
type OpenApiOperation = PathItem[string];
type OpenApiResponse = OpenApi['components']['responses'][string];

/** An operation of the document, with its place there and its references followed. */
export interface DocsOperation {
  readonly document: OpenApi;
  readonly pathItem: PathItem;
  readonly operation: OpenApiOperation;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly OpenApiParameter[];
  /** The body that a request carries, with an example that works on the seeded shop. */
  readonly body: { readonly schema: JsonObject; readonly example: JsonObject } | undefined;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

export function listDocsOperations(document: OpenApi): DocsOperation[] {
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
export function responsesOf({ document, operation }: DocsOperation): [status: string, OpenApiResponse][] {
  return Object.entries(operation.responses).flatMap(([status, response]) => {
    const answer = '$ref' in response ? document.components.responses[status] : response;
    return answer ? [[status, answer]] : [];
  });
}

/** A schema with its references followed and the parts of `allOf` put together. */
export function resolveSchema(document: OpenApi, schema: JsonObject): JsonObject {
  const name = referenceName(schema);
  if (name !== undefined) return resolveSchema(document, document.components.schemas[name] ?? {});
  if (!Array.isArray(schema.allOf)) return schema;
  const parts = schema.allOf.map((part) => resolveSchema(document, part as JsonObject));
  return {
    type: 'object',
    // The id comes first, as it does in records.
    properties: Object.assign({}, ...parts.toReversed().map(({ properties }) => properties)),
    required: parts.flatMap(({ required }) => (required ?? []) as string[]),
  };
}
