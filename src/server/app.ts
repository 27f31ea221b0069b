import { fieldValue, type HttpFields, type HttpRequest, type HttpResponse } from '../api/http.ts';
import { type OperationId, operationIds, operations } from '../api/operations.ts';
import { printJson } from '../process/exact-json.ts';
import { type HandlerReply, handlers } from './handlers.ts';
import { createReadInput, splitUrl, type UrlParts } from './read-input.ts';
import { methodNotAllowed, Refusal, toRefusal } from './refusal.ts';
import { type RecordPage, recordText, type Store } from './store.ts';

/** The service: a request in, a response out, whether it came through a socket or from the same process. */
export type App = (request: HttpRequest) => HttpResponse;

/** An app that may take its time. */
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
      return { ...refusal, fields: { ...refusal.fields, ...endpoint.announced } };
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
  readonly announced: HttpFields;
  /** Fields of every response that has a body. */
  readonly json: HttpFields;
  readonly method: string;
}

/** By path and method. If a path ends with an id, which is the only place for one, the id is left out: `/pets/`. */
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
  const announced = operation.deprecated ? deprecationFields() : {};
  const read = createReadInput(id);
  const handle = handlers[id];
  return {
    method: operation.method,
    prepare(...parts) {
      const input = read(...parts);
      return (store) => handle(store, input);
    },
    announced,
    json: { 'content-type': 'application/json', ...announced },
  };
}

/** The dates of the local server's deprecated operations, chosen: the service document gives none. */
export const localSunset = '2027-12-31';
const deprecatedSince = Date.UTC(2026, 0, 1);

/** @see RFC 9745 (Deprecation), RFC 8594 (Sunset) */
function deprecationFields(): HttpFields {
  const end = new Date(`${localSunset}T00:00:00Z`);
  return { deprecation: `@${deprecatedSince / 1000}`, sunset: end.toUTCString() };
}

function toResponse(reply: Reply, endpoint: Endpoint, target: UrlParts): HttpResponse {
  if (!('status' in reply)) return toPage(reply, endpoint, target);
  if (reply.status === 204) return { status: 204, fields: endpoint.announced, body: '' };
  const { status, stored } = reply;
  // The text of a written record is not kept: after a million writes it would take 100 MB.
  const body = endpoint.method === 'GET' ? recordText(stored) : printJson(stored.record);
  const etag = tagOf(body);
  // The own fields come before the spread: V8 makes a new shape for each object whose fields follow one.
  if (status === 200) return { status, fields: { etag, ...endpoint.json }, body };
  const location = endpoint.method === 'POST' ? `${target.path}/${stored.id}` : target.path;
  return { status, fields: { etag, location, ...endpoint.json }, body };
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

function toPage({ stored, after }: RecordPage<object>, { json }: Endpoint, target: UrlParts): HttpResponse {
  let body = '[';
  let before = '';
  for (const record of stored) {
    body += before + recordText(record);
    before = ',';
  }
  body += ']';
  if (after === undefined) return { status: 200, fields: json, body };
  const link = `<${nextPage(target, after)}>; rel="next"`;
  return { status: 200, fields: { link, ...json }, body };
}

/** The same list from the record after `after`. */
function nextPage({ origin, path, query }: UrlParts, after: bigint): string {
  const others = query.includes('after=') ? query.replace(/(^|&)after=[^&]*/, '').replace(/^&/, '') : query;
  return `${origin}${path}?${others}${others && '&'}after=${after}`;
}
