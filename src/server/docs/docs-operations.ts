import type { OpenApi, OpenApiParameter } from '../../api/openapi.ts';
import { operations } from '../../api/operations.ts';
import { type JsonObject, type JsonValue, printJson } from '../../process/exact-json.ts';
import { flagName, shellWord } from '../../process/text.ts';

type PathItem = OpenApi['paths'][string];
type OpenApiOperation = PathItem[string];
type OpenApiResponse = OpenApi['components']['responses'][string];

/** An operation of the document, with its path item and with its references followed. */
export interface DocsOperation {
  readonly document: OpenApi;
  readonly pathItem: PathItem;
  readonly operation: OpenApiOperation;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly OpenApiParameter[];
  /** The body of a request, with an example that works on the seeded store. */
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

/** Returns the name of the component to which a schema refers, if it is a reference. */
export function referenceName({ $ref }: JsonObject): string | undefined {
  return typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined;
}

/** Returns the responses of an operation by status, with their references followed. */
export function responsesOf({ document, operation }: DocsOperation): [status: string, OpenApiResponse][] {
  return Object.entries(operation.responses).flatMap(([status, response]) => {
    const resolved = '$ref' in response ? document.components.responses[status] : response;
    return resolved ? [[status, resolved]] : [];
  });
}

export function resolveSchema({ components }: OpenApi, schema: JsonObject): JsonObject {
  return components.schemas[referenceName(schema) ?? ''] ?? schema;
}

/** Returns the command line of this program for an operation, with the examples of the document. */
export function petstoreCommand(docsOperation: DocsOperation, baseUrl: string): string {
  const id = docsOperation.operation.operationId;
  const { quantity, petId } = docsOperation.body?.example ?? {};
  const verb = /^[a-z]+/.exec(id)?.[0] ?? '';
  const ids = idsOf(docsOperation);
  const wordsOf: { readonly [id: string]: readonly string[] } = {
    createInventory: ['create', `${petId}`, `${quantity}`],
    updateInventory: ['set', ...ids, `${quantity}`],
  };
  const words = wordsOf[id] ?? [verb, ...ids, ...(verb === 'delete' ? ['--yes'] : flagTexts(docsOperation))];
  return ['petstore', operations[id].noun, ...words, '--base-url', baseUrl].map(shellWord).join(' ');
}

export function curlCommand(docsOperation: DocsOperation, baseUrl: string): string {
  const { method, path, parameters, body } = docsOperation;
  const target = path.replace(/\{(\w+)\}/g, (_, name) =>
    printExample(parameters.find((each) => each.name === name)?.example),
  );
  const words = ['curl', ...(method === 'GET' ? [] : ['-X', method]), baseUrl + target];
  if (body) words.push('-H', 'Content-Type: application/json', '-d', printJson(body.example));
  return words.map(shellWord).join(' ');
}

export function printExample(value: JsonValue | undefined): string {
  return value === undefined ? '' : String(value);
}

function idsOf({ parameters }: DocsOperation): string[] {
  return parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ example }) => printExample(example));
}

/** Returns the flags for the fields of a body: `--ship-date` for `shipDate`, `--pet` for `petId`. */
function flagTexts({ body }: DocsOperation): string[] {
  return Object.entries(body?.example ?? {}).flatMap(([field, value]) => {
    if (field === 'id') return [];
    if (field === 'complete') return [value === true ? '--complete' : '--no-complete'];
    return [flagName(field.replace(/Id$/, '')), printExample(value)];
  });
}
