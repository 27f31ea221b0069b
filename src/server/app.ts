// The local server, from a request to its answer. server.ts listens, and exchange.ts turns a request of the socket into one
// of the app. documents.ts and serve-options.ts wrap the app, which is this file: read-input.ts reads the request, and
// handlers.ts carries it out on the store (store.ts). Any of them throws a Refusal (refusal.ts). offline.ts sends requests
// to the app without a socket. seed.ts, pulled-store.ts and store-file.ts fill a store and keep it in a file.

import { fieldValue, type HttpFields, type HttpRequest, type HttpResponse } from '../api/http.ts';
import { type OperationId, operationIds, operations } from '../api/operations.ts';
import { printJson } from '../process/exact-json.ts';
import { type HandlerReply, handlers } from './handlers.ts';
import { createReadInput, splitUrl, type UrlParts } from './read-input.ts';
import { methodNotAllowed, Refusal, toRefusal } from './refusal.ts';
import { type RecordPage, recordText, type Store } from './store.ts';

/** The service: a request in, a response out, whether it came through a socket or from the same process. */
export type App = (request: HttpRequest) => HttpResponse;

/** An app that may answer later. */
export type SlowApp = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

interface AppOptions {
  /** The store as it is now. */
  store(): Store;
  /** Called with an error that is not a Refusal: a defect of the server. */
  onDefect?: ((error: unknown) => void) | undefined;
}

/** The app of the operations table. HEAD is answered like GET; the sender of the response leaves the body out. */
export function createApp({ store, onDefect }: AppOptions): App {
  const routes = createRoutes();
  return (request) => {
    const { method, url } = request;
    const target = splitUrl(url);
    const { path } = target;
    const slash = path.lastIndexOf('/') + 1;
    const endpoints =
      slash < path.length ? (routes.get(path) ?? routes.get(path.slice(0, slash))) : undefined;
    if (!endpoints) return new Refusal('not_found', `there is no ${path}`).toResponse();
    const endpoint = endpoints.get(method === 'HEAD' ? 'GET' : method);
    if (!endpoint)
      return methodNotAllowed(`${path} does not take ${method}`, [...endpoints.keys()]).toResponse();
    try {
      const id = path.slice(slash);
      const carryOut = endpoint.prepare(request, id, target.query);
      const ifMatch = fieldValue(request.fields, 'if-match');
      if (ifMatch !== undefined && endpoint.method !== 'GET')
        checkPrecondition(ifMatch, () => endpoints.get('GET')?.prepare(request, id, '')(store()));
      return toResponse(carryOut(store()), endpoint, target);
    } catch (error) {
      const refusal = toRefusal(error, onDefect).toResponse();
      return { ...refusal, fields: { ...refusal.fields, ...endpoint.commonFields } };
    }
  };
}

type Reply = RecordPage<object> | HandlerReply<object>;

/** An operation with what is needed to answer it. */
interface Endpoint {
  /**
   * Reads the input of a request, and returns what carries it out.
   *
   * @param id the last segment of the path, still percent-encoded.
   */
  prepare(request: HttpRequest, id: string, query: string): (store: Store) => Reply;
  /** Fields of every response, also of refusals. */
  readonly commonFields: HttpFields;
  /** Fields of every response that has a body. */
  readonly bodyFields: HttpFields;
  readonly method: string;
}

/** Endpoints by path and method. The id at the end of a path is left out: `/pets/`. */
type Routes = ReadonlyMap<string, ReadonlyMap<string, Endpoint>>;

function createRoutes(): Routes {
  const routes = new Map<string, Map<string, Endpoint>>();
  for (const id of operationIds) {
    const path = operations[id].path.replace(/\{\w+\}$/, '');
    const endpoints = routes.get(path) ?? new Map<string, Endpoint>();
    routes.set(path, endpoints.set(operations[id].method, createEndpoint(id)));
  }
  return routes;
}

function createEndpoint<K extends OperationId>(id: K): Endpoint {
  const operation = operations[id];
  const commonFields = operation.deprecated ? deprecationFields() : {};
  const read = createReadInput(id);
  const handle = handlers[id];
  return {
    method: operation.method,
    prepare(...parts) {
      const input = read(...parts);
      return (store) => handle(store, input);
    },
    commonFields,
    bodyFields: { 'content-type': 'application/json', ...commonFields },
  };
}

/** The dates of the local server's deprecated operations, chosen: the service's specification gives none. */
export const localSunset = '2027-12-31';
const deprecatedSince = Date.UTC(2026, 0, 1);

/** @see RFC 9745 (Deprecation), RFC 8594 (Sunset) */
function deprecationFields(): HttpFields {
  const end = new Date(`${localSunset}T00:00:00Z`);
  return { deprecation: `@${deprecatedSince / 1000}`, sunset: end.toUTCString() };
}

function toResponse(reply: Reply, endpoint: Endpoint, target: UrlParts): HttpResponse {
  if (!('status' in reply)) return toPage(reply, endpoint, target);
  if (reply.status === 204) return { status: 204, fields: endpoint.commonFields, body: '' };
  const { status, stored } = reply;
  // The text of a written record is not kept, because a bulk run would fill the memory with it.
  const body = endpoint.method === 'GET' ? recordText(stored) : printJson(stored.record);
  const etag = tagOf(body);
  // The own fields come before the spread: V8 makes a new shape for each object whose fields follow one.
  if (status === 200) return { status, fields: { etag, ...endpoint.bodyFields }, body };
  const location = endpoint.method === 'POST' ? `${target.path}/${stored.id}` : target.path;
  return { status, fields: { etag, location, ...endpoint.bodyFields }, body };
}

/**
 * Refuses a change of a record that is not the one that If-Match names. A record that does not exist passes: the
 * operation itself answers that.
 *
 * @param read the record as it is now.
 * @see RFC 9110, 13.1.1
 */
function checkPrecondition(ifMatch: string, read: () => Reply | undefined): void {
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  const reply = read();
  const stored = reply && 'status' in reply && reply.status !== 204 ? reply.stored : undefined;
  const tag = stored && tagOf(recordText(stored));
  if (tag === undefined || tags.includes('*') || tags.includes(tag)) return;
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

function toPage(
  { stored, after }: RecordPage<object>,
  { bodyFields }: Endpoint,
  target: UrlParts,
): HttpResponse {
  let body = '[';
  let before = '';
  for (const record of stored) {
    body += before + recordText(record);
    before = ',';
  }
  body += ']';
  if (after === undefined) return { status: 200, fields: bodyFields, body };
  const link = `<${nextPage(target, after)}>; rel="next"`;
  return { status: 200, fields: { link, ...bodyFields }, body };
}

/** The URL of the same list from the record after `after`. */
function nextPage({ origin, path, query }: UrlParts, after: bigint): string {
  const others = query.includes('after=') ? query.replace(/(^|&)after=[^&]*/, '').replace(/^&/, '') : query;
  return `${origin}${path}?${others}${others && '&'}after=${after}`;
}
