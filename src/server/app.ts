import type { HttpHeaders, HttpRequest, HttpResponse } from '../api/http.ts';
import { type Operation, operationIds, operations } from '../api/operations.ts';
import { type HandlerResult, handlers } from './handlers.ts';
import { type RequestInput, readInput, splitUrl, type UrlParts } from './read-input.ts';
import { methodNotAllowed, Refusal } from './refusal.ts';
import type { Collection, Store } from './store.ts';

/** Answers a request, which comes from a socket or from the same process. */
export type App = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/** Creates the app of the operations table. It answers HEAD like GET; the server sends no body for it. */
export function createApp(store: () => Store): (request: HttpRequest) => HttpResponse {
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
    const response = carryOut(request, operation, url, path.slice(slash));
    return operation.isDeprecated
      ? { ...response, headers: { deprecation, sunset, ...response.headers } }
      : response;
  };

  function carryOut(
    request: HttpRequest,
    operation: Operation,
    url: UrlParts,
    lastSegment: string,
  ): HttpResponse {
    try {
      const input = readInput(operation, request, lastSegment, url.query);
      const current = store();
      if (input.id !== undefined && operation.method !== 'GET')
        requirePreconditions(request.headers, current[operation.noun], input.id);
      const handle = handlers[operation.id] as (store: Store, input: RequestInput) => HandlerResult;
      return toResponse(handle(current, input), operation, url);
    } catch (error) {
      if (error instanceof Refusal) return error.toResponse();
      throw error;
    }
  }
}

/** The operations by path and method. The path of one record ends before its id: `/pets/`. */
type Routes = ReadonlyMap<string, ReadonlyMap<string, Operation>>;

function createRoutes(): Routes {
  const routes = new Map<string, Map<string, Operation>>();
  for (const id of operationIds) {
    const { method, path } = operations[id];
    const pathWithoutId = path.replace(/\{\w+\}$/, '');
    routes.set(
      pathWithoutId,
      (routes.get(pathWithoutId) ?? new Map<string, Operation>()).set(method, operations[id]),
    );
  }
  return routes;
}

/** The sunset of the deprecated operations. The specification of the service gives no dates, so both dates are chosen. */
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
  const headers = { 'content-type': mediaType, etag: stored.etag };
  if (status === 200) return { status, headers, body: stored.text };
  const location = method === 'POST' ? `${url.path}/${stored.id}` : url.path;
  return { status, headers: { ...headers, location }, body: stored.text };
}

/** Returns the URL of the page that begins after the record `after`. */
function nextPage({ origin, path, query }: UrlParts, after: bigint): string {
  const otherParameters = query.replace(/(^|&)after=[^&]*/, '').replace(/^&/, '');
  return `${origin}${path}?${otherParameters}${otherParameters && '&'}after=${after}`;
}

/**
 * Checks If-Match and If-None-Match before a change. With If-Match the record must exist and have the ETag, if it is not `*`. With
 * `If-None-Match: *` the record must not exist.
 *
 * @throws Refusal `precondition_failed`
 * @see RFC 9110, 13.1.1 and 13.1.2
 */
function requirePreconditions(headers: HttpHeaders, records: Collection, id: bigint): void {
  const ifMatch = headers['if-match'];
  const mustBeNew = headers['if-none-match'] === '*';
  if (ifMatch === undefined && !mustBeNew) return;
  const stored = records.get(id);
  const tags = ifMatch?.trim().split(/\s*,\s*/);
  if (tags && !(stored && tags.some((tag) => tag === '*' || tag === stored.etag)))
    throw new Refusal(
      'precondition_failed',
      stored ? `the record has changed: its ETag is ${stored.etag}` : 'the record does not exist (If-Match)',
    );
  if (stored && mustBeNew) throw new Refusal('precondition_failed', 'the record exists (If-None-Match)');
}
