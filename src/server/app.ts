// The local server, from a request to its answer. server.ts turns a request of a socket into one of the app. documents.ts
// and serve-options.ts wrap the app, which is this file: read-input.ts reads the request, and handlers.ts carries it out on
// the store (store.ts). Any of them throws a Refusal (refusal.ts). offline.ts sends requests to the app without a socket.
// seed.ts, pulled-store.ts and store-file.ts fill a store and keep it in a file.

import { type HttpRequest, type HttpResponse, headerValue } from '../api/http.ts';
import { type Operation, type OperationId, operationIds, operations } from '../api/operations.ts';
import { type Handler, type HandlerResult, handlers } from './handlers.ts';
import { readInput, splitUrl, type UrlParts } from './read-input.ts';
import { methodNotAllowed, Refusal, toRefusal } from './refusal.ts';
import type { Store, StoredRecord } from './store.ts';

/** The service: a request in, a response out, whether it came through a socket or from the same process. */
export type App = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

interface AppOptions {
  /** The store as it is now. */
  store(): Store;
  /** Called with an error that is not a Refusal: a defect of the server. */
  onDefect?: ((error: unknown) => void) | undefined;
}

/** The app of the operations table. HEAD is answered like GET; the sender of the response leaves the body out. */
export function createApp({ store, onDefect }: AppOptions): (request: HttpRequest) => HttpResponse {
  const routes = createRoutes();
  return (request) => {
    const url = splitUrl(request.url);
    const { path } = url;
    const slash = path.lastIndexOf('/') + 1;
    const methods = slash < path.length ? (routes.get(path) ?? routes.get(path.slice(0, slash))) : undefined;
    if (!methods) return new Refusal('not_found', `there is no ${path}`).toResponse();
    const operation = methods.get(request.method === 'HEAD' ? 'GET' : request.method);
    if (!operation)
      return methodNotAllowed(`${path} does not take ${request.method}`, [...methods.keys()]).toResponse();
    const response = answer(request, operation, url, path.slice(slash));
    // The spread comes last: V8 makes a new shape for each object that gets a property after one.
    return operation.isDeprecated
      ? { ...response, headers: { deprecation, sunset, ...response.headers } }
      : response;
  };

  function answer(
    request: HttpRequest,
    operation: Operation,
    url: UrlParts,
    lastSegment: string,
  ): HttpResponse {
    try {
      const input = readInput(operation, request, lastSegment, url.query);
      if (input.id !== undefined && operation.method !== 'GET')
        checkPrecondition(request, store()[operation.noun].get(input.id));
      return toResponse((handlers[operation.id] as Handler<OperationId>)(store(), input), operation, url);
    } catch (error) {
      return toRefusal(error, onDefect).toResponse();
    }
  }
}

/** Operations by path and method. The id at the end of a path is left out: `/pets/`. */
type Routes = ReadonlyMap<string, ReadonlyMap<string, Operation>>;

function createRoutes(): Routes {
  const routes = new Map<string, Map<string, Operation>>();
  for (const id of operationIds) {
    const { method, path } = operations[id];
    const place = path.replace(/\{\w+\}$/, '');
    routes.set(place, (routes.get(place) ?? new Map<string, Operation>()).set(method, operations[id]));
  }
  return routes;
}

/** The dates of the local server's deprecated operations, chosen: the service's specification gives none. */
export const localSunset = '2027-12-31';
const deprecatedSince = Date.UTC(2026, 0, 1);

/** @see RFC 9745 (Deprecation), RFC 8594 (Sunset) */
const deprecation = `@${deprecatedSince / 1000}`;
const sunset = new Date(`${localSunset}T00:00:00Z`).toUTCString();

const mediaType = 'application/json';

function toResponse(result: HandlerResult, { method }: Operation, url: UrlParts): HttpResponse {
  if ('records' in result) {
    const body = `[${result.records.map(({ text }) => text).join()}]`;
    if (result.after === undefined) return { status: 200, headers: { 'content-type': mediaType }, body };
    const link = `<${nextPage(url, result.after)}>; rel="next"`;
    return { status: 200, headers: { 'content-type': mediaType, link }, body };
  }
  if (result.status === 204) return { status: 204, headers: {}, body: '' };
  const { status, stored } = result;
  const headers = { 'content-type': mediaType, etag: tagOf(stored.text) };
  if (status === 200) return { status, headers, body: stored.text };
  const location = method === 'POST' ? `${url.path}/${stored.id}` : url.path;
  return { status, headers: { ...headers, location }, body: stored.text };
}

/** The URL of the same list from the record after `after`. */
function nextPage({ origin, path, query }: UrlParts, after: bigint): string {
  const others = query.replace(/(^|&)after=[^&]*/, '').replace(/^&/, '');
  return `${origin}${path}?${others}${others && '&'}after=${after}`;
}

/**
 * Refuses a change of a record that is not the one that If-Match names. A record that does not exist passes: the
 * operation itself answers that.
 *
 * @see RFC 9110, 13.1.1
 */
function checkPrecondition({ headers }: HttpRequest, stored: StoredRecord | undefined): void {
  const ifMatch = headerValue(headers, 'if-match');
  if (ifMatch === undefined || ifMatch === '*' || !stored) return;
  const tag = tagOf(stored.text);
  if (!ifMatch.split(/\s*,\s*/).includes(tag))
    throw new Refusal('precondition_failed', `the record has changed: its ETag is ${tag}`);
}

/** The strong entity tag of a record: a hash of its text (FNV-1a, twice 32 bits). @see RFC 9110, 8.8.3 */
function tagOf(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x01234567;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x01000193);
  }
  return `"${(low >>> 0).toString(36)}${(high >>> 0).toString(36)}"`;
}
