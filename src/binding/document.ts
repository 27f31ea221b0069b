import { isPath } from '../api/http.ts';
import type { OperationId } from '../api/nouns.ts';
import type { Method, Operation } from '../api/operations.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { type Description, followReference, listOf, objectOf } from './description.ts';
import { isParameter, type PathForm, readPath } from './path-words.ts';
import { Shape } from './schema.ts';
import { readSecurity, type Security } from './security.ts';

/** A parameter of an operation or of its path item. */
export interface DocumentParameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly shape: Shape;
  /** The value of `--map`. A parameter with such a value has no role. */
  readonly fixedValue?: string | undefined;
}

/** The JSON content of a body or an answer. Its shape is unknown if the document gives no schema. */
interface JsonContent {
  readonly mediaType: string;
  readonly schema: JsonValue | undefined;
  readonly shape: Shape;
}

/** An operation of an OpenAPI document, with what its path item defines. */
export interface DocumentOperation {
  readonly method: Method;
  readonly path: string;
  /** The path in the document. A path of `--map` may have values in place of its parameters. */
  readonly template: string;
  /** The words of `path`. */
  readonly form: PathForm;
  readonly operationId: string | undefined;
  readonly parameters: readonly DocumentParameter[];
  /** The body in JSON, if the document describes one. */
  readonly body: JsonContent | undefined;
  /** The media types of the body. Empty if the operation takes none. */
  readonly bodyTypes: readonly string[];
  /** The first JSON among the responses of success. Undefined if the document says that they have none. */
  readonly answer: JsonContent | undefined;
  readonly responses: JsonObject;
  readonly operationObject: JsonObject;
  readonly pathItem: JsonObject;
  readonly credential: Operation['credential'];
  /** Why the program cannot call the operation at all. */
  readonly obstacle: Obstacle | undefined;
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** An Operation Object, and where it stands in the document. */
type Place = Pick<DocumentOperation, 'method' | 'path' | 'pathItem' | 'operationObject'>;

/** Lists the operations of a document in its order, and finds the header in which they take a token. */
export function operationsIn(root: Description) {
  const places = Object.entries(objectOf(root.document.paths)).flatMap(([path, value]): Place[] => {
    const pathItem = objectOf(followReference(value, root));
    return methods.flatMap((method) => {
      const operationObject = pathItem[method.toLowerCase()];
      return isJsonObject(operationObject) ? { method, path, pathItem, operationObject } : [];
    });
  });
  const operationObjects = places.map(({ operationObject }) => operationObject);
  const security = readSecurity(root, operationObjects);
  const documentOperations = places
    .filter(({ path }) => isPath(path.replace(/[{}]/g, '')))
    .map((place) => readOperation(place, root, security));
  return { documentOperations, tokenHeader: security.header };
}

function readOperation(place: Place, root: Description, security: Security): DocumentOperation {
  const { path, pathItem, operationObject } = place;
  const { operationId } = operationObject;
  const responses = Object.fromEntries(
    Object.entries(objectOf(operationObject.responses)).flatMap(([status, response]) => {
      const followed = followReference(response, root);
      return isJsonObject(followed) ? [[status, followed]] : [];
    }),
  );
  const { content } = objectOf(followReference(operationObject.requestBody, root));
  const parameters = [...listOf(pathItem.parameters), ...listOf(operationObject.parameters)];
  const { credential, why } = security.of(operationObject);
  return {
    ...place,
    template: path,
    form: readPath(path),
    operationId: typeof operationId === 'string' ? operationId : undefined,
    parameters: parametersOf(path, parameters, root),
    body: jsonContent(content, root, bodyTypes),
    bodyTypes: Object.keys(objectOf(content)),
    answer: answerOf(responses, root),
    responses,
    credential,
    obstacle:
      partialParameter(path) ??
      ownServer([operationObject, pathItem], root.document) ??
      (why === undefined ? undefined : { why }),
  };
}

/** Finds a segment such as `{petId}.json`. A request has values only for whole segments. */
function partialParameter(path: string): Obstacle | undefined {
  const isPartial = path.split('/').some((segment) => /[{}]/.test(segment) && !isParameter(segment));
  return isPartial ? { why: 'its path has a parameter within a word' } : undefined;
}

/** Finds a server that an operation has for itself: its requests would go to another address. */
function ownServer(objects: readonly JsonObject[], document: JsonObject): Obstacle | undefined {
  const servers = objects.map((object) => listOf(object.servers)).find((list) => list.length > 0);
  if (!servers || printJson(servers) === printJson(listOf(document.servers))) return undefined;
  return { why: `it has a server of its own, ${objectOf(servers[0]).url}` };
}

/** Why an operation of a document is not bound as an operation of the table. */
export interface Obstacle {
  /** A clause. */
  readonly why: string;
  /** The flags `--map` that bind the operation nevertheless. */
  readonly flags?: string | undefined;
  /** The fields among which the missing ones may be, and the flags that name them, a clause. */
  readonly hint?: string;
  /** True if the service means other records by the noun, so that none of its writes is bound. */
  readonly hasOtherRecords?: boolean;
}

/** Joins an obstacle and its flags: `its path needs a value for shop: to bind it, add --map …`. */
export function obstacleText({ why, flags }: Obstacle): string {
  return flags === undefined ? why : `${why}: to bind it, add ${flags}`;
}

/** The method and the path of an operation. */
export interface Route {
  readonly method: string;
  readonly path: string;
}

/** Returns a route as text: `GET /pets`. */
export function routeText({ method, path }: Route): string {
  return `${method} ${path}`;
}

/** Returns the flag that binds an operation: `--map listPets='GET /animals'`. */
export function mapFlag(id: OperationId, route: Route): string {
  return `--map ${id}='${routeText(route)}'`;
}

/** Lists the documented success statuses in ascending order. */
export function successStatuses(responses: JsonObject): number[] {
  return Object.keys(responses)
    .filter((status) => /^2\d\d$/.test(status))
    .map(Number);
}

/**
 * The media types of a body that can be written, the best first. A wildcard allows application/json. A JSON patch and a document of
 * JSON:API do not have the fields of a record.
 */
const bodyTypes = [
  /^application\/json(;|$)/i,
  /^application\/merge-patch\+json(;|$)/i,
  /^application\/(?!json-patch\+|vnd\.api\+)[\w.-]+\+json(;|$)/i,
  /^(\*|application)\/\*$/,
];
/** The media types of an answer that can be read. */
const answerTypes = [/^application\/json(;|$)/i, /^[\w.*-]+\/([\w.-]+\+)?(json|\*)$/i];

/** Finds the JSON in the `content` object of an answer or a body. */
export function jsonContent(
  content: JsonValue | undefined,
  root: Description,
  patterns: readonly RegExp[] = answerTypes,
): JsonContent | undefined {
  const media = objectOf(content);
  const types = Object.keys(media);
  const type = patterns.map((pattern) => types.find((name) => pattern.test(name))).find(Boolean);
  if (type === undefined) return undefined;
  const isSendable = /^[\w.+-]+\/[\w.+-]+(; ?[\w-]+=[\w.-]+)*$/.test(type);
  const { schema } = objectOf(media[type]);
  return { mediaType: isSendable ? type : 'application/json', schema, shape: new Shape(schema, root) };
}

/**
 * Lists the parameters. The parameters of the path template come first.
 *
 * @param stated the parameters of the path item, and then the parameters of the operation, which override them.
 */
function parametersOf(path: string, stated: readonly JsonValue[], root: Description): DocumentParameter[] {
  const parameters = new Map<string, DocumentParameter>();
  for (const [, name = ''] of path.matchAll(/\{([^}]*)\}/g))
    parameters.set(`path ${name}`, { name, in: 'path', required: true, shape: new Shape(undefined, root) });
  for (const value of stated.map((parameter) => objectOf(followReference(parameter, root)))) {
    const { name, in: place } = value;
    if (typeof name !== 'string' || typeof place !== 'string') continue;
    const key = `${place} ${name}`;
    if (place === 'path' && !parameters.has(key)) continue;
    // OpenAPI describes these three headers elsewhere, and says to ignore such parameters (3.0.3, "Parameter Object").
    if (place === 'header' && /^(accept|content-type|authorization)$/i.test(name)) continue;
    const whole = jsonContent(value.content, root)?.shape ?? new Shape(value.schema, root);
    // A request sends one value of a list. The default of an item is not the default of the list, and all values hide nothing.
    const { default: _, ...item } = objectOf(followReference(whole.keyword('items'), root));
    const values = listOf(whole.keyword('default'));
    const hides = values.length > 0 && values.length !== listOf(item.enum).length;
    const one = hides ? { ...item, default: values.join() } : item;
    const shape = whole.kind === 'array' ? new Shape(one, root) : whole;
    parameters.set(key, { name, in: place, required: place === 'path' || value.required === true, shape });
  }
  return [...parameters.values()];
}

/** Finds the JSON of the first success status that has some. A document that does not describe the answers says nothing about it. */
function answerOf(responses: JsonObject, root: Description): JsonContent | undefined {
  const statuses = successStatuses(responses);
  const contents = [...statuses, '2XX'].map((status) => objectOf(objectOf(responses[status]).content));
  const answer = contents
    .map((content) => jsonContent(content, root))
    .find((content) => content !== undefined);
  const isEmpty = statuses.length > 0 && statuses.every((status) => status === 204 || status === 205);
  const hasContent = contents.some((content) => Object.keys(content).length > 0);
  if (answer || isEmpty || hasContent) return answer;
  return { mediaType: 'application/json', schema: undefined, shape: new Shape(undefined, root) };
}
