import type { CredentialPlace } from '../api/contract.ts';
import { isToken } from '../api/http.ts';
import type { Method, Operation } from '../api/operations.ts';
import { UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import type { Description } from './description.ts';
import { listOf, objectOf, type Shape, shapeOf } from './schema.ts';

/** A parameter of an operation, those of its path included. */
export interface DocumentParameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: JsonValue | undefined;
}

/** The JSON content of a body or an answer; an unknown shape if the document gives no schema. */
interface JsonContent {
  readonly mediaType: string;
  readonly schema: JsonValue | undefined;
  readonly shape: Shape;
}

/** An operation of an OpenAPI document, together with what its path item defines. */
export interface DocumentOperation {
  readonly method: Method;
  readonly path: string;
  readonly operationId: string | undefined;
  readonly parameters: readonly DocumentParameter[];
  /** `none` if it takes no body, `other` if it takes none in JSON. */
  readonly body: JsonContent | 'none' | 'other';
  /** The answer of its usual success: `none` if it is documented to have no body, `other` if it has none in JSON. */
  readonly answer: JsonContent | 'none' | 'other' | 'unknown';
  readonly responses: JsonObject;
  /** The operation object itself. */
  readonly source: JsonObject;
  /** The object of its path. */
  readonly pathItem: JsonObject;
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Every operation below the description's own servers, in the document's order. */
export function operationsIn(description: Description): DocumentOperation[] {
  return Object.entries(description.document.paths as JsonObject).flatMap(([path, pathItem]) => {
    if (!isPath(path) || !isJsonObject(pathItem)) return [];
    return methods.flatMap((method): DocumentOperation | [] => {
      const source = pathItem[method.toLowerCase()];
      if (!isJsonObject(source) || isElsewhere(description, [source.servers, pathItem.servers])) return [];
      const { operationId } = source;
      const responses = objectOf(source.responses);
      return {
        method,
        path,
        operationId: typeof operationId === 'string' ? operationId : undefined,
        parameters: parametersOf(path, pathItem.parameters, source.parameters),
        body: jsonBody(source.requestBody),
        answer: jsonAnswer(responses),
        responses,
        source,
        pathItem,
      };
    });
  });
}

/** Whether a path can be appended to a base URL: no query, no fragment, no dot segments (`..`, `%2e%2e`). */
function isPath(path: string): boolean {
  return /^\/[\w\-.~!$&'()*+,;=:@%/{}]*$/.test(path) && !/\/(\.|%2e){1,2}(\/|$)/i.test(path);
}

/** A path without the names of its parameters, so that paths can be compared: `/pets/{}`. */
export function pathPattern(path: string): string {
  return path.replace(/\{[^}]*\}/g, '{}').replace(/(?<=.)\/$/, '');
}

/** The method and the path of an operation. */
export interface Route {
  readonly method: string;
  readonly path: string;
}

/** A route as people write it: `GET /pets`. */
export function formatRoute({ method, path }: Route): string {
  return `${method} ${path}`;
}

/** The documented success statuses, in order. */
export function successStatuses(responses: JsonObject): number[] {
  const stated = Object.keys(responses).filter((status) => /^2\d\d$/.test(status));
  return stated.map(Number).sort((a, b) => a - b);
}

/** The JSON of a `content` object: application/json first, then any type that ends with +json. */
export function jsonContent(content: JsonValue | undefined): JsonContent | undefined {
  const media = objectOf(content);
  const types = Object.keys(media);
  const type = types.find((each) => /^application\/json\b/i.test(each)) ?? types.find(isJsonType);
  if (type === undefined) return undefined;
  const mediaType = /^[\w.+-]+\/[\w.+-]+(; ?[\w-]+=[\w.-]+)*$/.test(type) ? type : 'application/json';
  const { schema } = objectOf(media[type]);
  return { mediaType, schema, shape: shapeOf(schema) };
}

/** The parameters of the path template first; a parameter of the operation overrides one of its path item. */
function parametersOf(
  path: string,
  ofPath: JsonValue | undefined,
  ofOperation: JsonValue | undefined,
): DocumentParameter[] {
  const merged = new Map<string, DocumentParameter>();
  for (const [, name = ''] of path.matchAll(/\{([^}]*)\}/g))
    merged.set(`path ${name}`, { name, in: 'path', required: true, schema: undefined });
  for (const value of [...listOf(ofPath), ...listOf(ofOperation)].map(objectOf)) {
    const { name, in: place } = value;
    if (typeof name !== 'string' || typeof place !== 'string') continue;
    const key = `${place} ${name}`;
    if (place === 'path' && !merged.has(key)) continue;
    // OpenAPI 3.0.3, "Parameter Object": these three are described elsewhere, and ignored here.
    if (place === 'header' && /^(accept|content-type|authorization)$/i.test(name)) continue;
    const stated = value.schema ?? jsonContent(value.content)?.schema;
    // One value is sent, which is an item of a list. The default of an item is not that of the list.
    const { kind, items } = shapeOf(stated);
    const { default: _, ...item } = objectOf(items);
    const schema = kind === 'array' ? item : stated;
    merged.set(key, { name, in: place, required: place === 'path' || value.required === true, schema });
  }
  return [...merged.values()];
}

function jsonBody(body: JsonValue | undefined): JsonContent | 'none' | 'other' {
  if (!isJsonObject(body)) return 'none';
  return jsonContent(body.content) ?? 'other';
}

function jsonAnswer(responses: JsonObject): DocumentOperation['answer'] {
  const statuses = successStatuses(responses).map(String);
  const stated = [...statuses, '2XX'].map((status) => responses[status]).filter(isJsonObject);
  const withJson = stated.map(({ content }) => jsonContent(content)).find((content) => content !== undefined);
  if (withJson) return withJson;
  if (statuses.length > 0 && statuses.every((status) => status === '204' || status === '205')) return 'none';
  const hasOther = stated.some(({ content }) => Object.keys(objectOf(content)).length > 0);
  return hasOther ? 'other' : 'unknown';
}

function isJsonType(type: string): boolean {
  return /^[\w.*-]+\/([\w.-]+\+)?(json|\*)$/i.test(type);
}

/**
 * The base URLs of a description, absolute and without a trailing slash. Those that are relative are resolved against the
 * document's own URL; if that is a file, against a base URL.
 */
export function serversOf(
  { document, url }: Pick<Description, 'document' | 'url'>,
  baseUrl?: string,
): string[] {
  const from = /^https?:/.test(url) ? url : (baseUrl ?? url);
  return [...new Set(addresses(document.servers ?? [{ url: '/' }], from))];
}

/** Whether an operation has servers of its own, so that the document's base URL does not reach it. */
function isElsewhere({ document, url }: Description, servers: readonly (JsonValue | undefined)[]): boolean {
  const nearest = servers.find((each) => listOf(each).length > 0);
  if (nearest === undefined) return false;
  // Relative addresses have the same origin, whatever it is.
  const from = /^https?:/.test(url) ? url : 'http://service.invalid';
  const shared = addresses(document.servers ?? [{ url: '/' }], from);
  return !addresses(nearest, from).some((address) => shared.includes(address));
}

function addresses(servers: JsonValue | undefined, from: string): string[] {
  return listOf(servers)
    .filter(isJsonObject)
    .flatMap((server) => {
      const text = fillIn(server);
      if (!URL.canParse(text, from)) return [];
      const { protocol, href } = new URL(text, from);
      return protocol === 'http:' || protocol === 'https:' ? [href.replace(/\/+$/, '')] : [];
    });
}

/** The URL of a server, with the defaults of its variables. */
function fillIn({ url, variables }: JsonObject): string {
  return String(url ?? '').replace(/\{([^}]*)\}/g, (whole, name: string) => {
    return String(objectOf(objectOf(variables)[name]).default ?? whole);
  });
}

/** Whether an operation requires a credential. An empty alternative in its `security` makes the credential optional. */
export function isSecured(operation: JsonObject, document: JsonObject): boolean {
  const ways = listOf(operation.security ?? document.security);
  return ways.length > 0 && ways.every((way) => Object.keys(objectOf(way)).length > 0);
}

/**
 * The places for a credential: those of the security schemes that the document or an operation requires, or of all
 * schemes if none is required.
 *
 * @param bound the operations that are called.
 * @throws UsageError if a scheme that is required puts it in a place that cannot have it.
 */
export function credentialPlaces(
  document: JsonObject,
  bound: readonly Operation[],
  all: readonly DocumentOperation[],
): CredentialPlace[] {
  const schemes = objectOf(objectOf(document.components).securitySchemes);
  const ways = [document, ...all.map(({ source }) => source)].flatMap(({ security }) => listOf(security));
  const required = [...new Set(ways.map(objectOf).flatMap(Object.keys))].filter((name) =>
    Object.hasOwn(schemes, name),
  );
  const names = required.length > 0 ? required : Object.keys(schemes);
  const places = names.flatMap((name) => placeOfScheme(schemes[name]));
  for (const place of places) checkPlaceIsFree(place, bound);
  // Bearer comes first, because a token is what users have.
  places.sort((a, b) => Number(a.scheme !== undefined) - Number(b.scheme !== undefined));
  return places.filter(
    (place, at) => places.findIndex((other) => other.in === place.in && other.name === place.name) === at,
  );
}

/** @throws UsageError for a header or a query parameter that requests need for something else. */
function checkPlaceIsFree({ in: place, name }: CredentialPlace, bound: readonly Operation[]): void {
  const user = bound.find(({ parameters }) =>
    parameters.some((each) => each.in === 'query' && each.wireName === name),
  );
  const isTaken =
    place === 'header' && (!isFieldName(name) || /^(accept|content-type|user-agent)$/.test(name));
  if (!isTaken && !(place === 'query' && user)) return;
  const why = user && place === 'query' ? `which is a parameter of ${user.id}` : 'which cannot hold it';
  throw new UsageError(`the description puts the token into the ${place} ${name}, ${why}`);
}

function placeOfScheme(scheme: JsonValue | undefined): CredentialPlace[] {
  const { type, in: place, name, scheme: kind } = objectOf(scheme);
  if (type === 'http' && /^basic$/i.test(String(kind)))
    return [{ in: 'header', name: 'authorization', scheme: 'Basic' }];
  if (type === 'http' || type === 'oauth2' || type === 'openIdConnect')
    return [{ in: 'header', name: 'authorization' }];
  if (type !== 'apiKey' || typeof name !== 'string' || name === '') return [];
  if (place === 'header') return [{ in: 'header', name: name.toLowerCase() }];
  return place === 'query' || place === 'cookie' ? [{ in: place, name }] : [];
}

/** Headers that only the connection or the client may set, and a name that no object can have as a field of its own. */
const ownFields =
  /^(accept-encoding|connection|content-length|cookie|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|__proto__)$/i;

/** Whether a description may ask for a header of this name. @see RFC 9110, 5.1 */
export function isFieldName(name: string): boolean {
  return isToken(name) && !ownFields.test(name);
}
