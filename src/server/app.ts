import { builtInContract } from '../api/contract.ts';
import type { HttpFields, HttpRequest, HttpResponse } from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import { printJson } from '../json.ts';
import { type Page, textOf } from './collection.ts';
import { handlers, type Reply } from './handlers.ts';
import { internalError, methodNotAllowed, Refusal } from './refusal.ts';
import { createReadInput, type ReadInput, type Target, type TargetedRequest, toTargeted } from './request.ts';
import type { Store } from './store.ts';

/** The service: a request in, a response out, whether it came through a socket or from the same process. */
export type App = (request: HttpRequest) => HttpResponse;

/** The same for a request with a parsed URL. */
export type TargetedApp = (request: TargetedRequest) => HttpResponse;

interface AppOptions {
  /** The store as it is now. */
  store(): Store;
  /** The date on which deprecated operations end, YYYY-MM-DD, instead of the table's date. */
  readonly sunset?: string | undefined;
  /** Called with an error that is not a Refusal: a defect of the server. */
  onDefect?: ((error: unknown) => void) | undefined;
}

/** The app of the operations table. HEAD is answered like GET; the sender of the response leaves the body out. */
export function createApp(options: AppOptions): App {
  const answer = createTargetedApp(options);
  return (request) => answer(toTargeted(request));
}

export function createTargetedApp({ store, sunset, onDefect }: AppOptions): TargetedApp {
  const find = createRoutes(sunset);
  return (request) => {
    const { method, target } = request;
    const { endpoints, id } = find(target.path);
    if (!endpoints) return new Refusal('not_found', `there is no ${target.path}`).toResponse();
    const endpoint = endpoints.get(method === 'HEAD' ? 'GET' : method);
    if (!endpoint)
      return methodNotAllowed(`${target.path} does not take ${method}`, [...endpoints.keys()]).toResponse();
    try {
      return toResponse(endpoint.handle(store(), endpoint.read(request, id)), endpoint, target);
    } catch (error) {
      if (!(error instanceof Refusal)) onDefect?.(error);
      const refusal = (error instanceof Refusal ? error : internalError()).toResponse();
      return { ...refusal, fields: { ...refusal.fields, ...endpoint.announced } };
    }
  };
}

/** An operation with everything needed to answer it. The operations table makes the types of its parts fit together. */
interface Endpoint {
  readonly read: ReadInput;
  handle(store: Store, input: Record<string, unknown>): Page<object> | Reply<object>;
  /** Fields of every response, also of refusals. */
  readonly announced: HttpFields;
  /** Fields of every response that has a body. */
  readonly json: HttpFields;
  /** The id of a new record is appended to the path that it was posted to. */
  readonly isPost: boolean;
}

/** The endpoints of a path by method, and the id at its end; no endpoints if there is no such path. */
interface Route {
  readonly endpoints: ReadonlyMap<string, Endpoint> | undefined;
  /** Still percent-encoded; empty if the path has none. */
  readonly id: string;
}

/** Finds a path in two maps: every path of the table is fixed, or fixed up to the id that is its last segment. */
function createRoutes(sunset: string | undefined): (path: string) => Route {
  const fixed = new Map<string, Map<string, Endpoint>>();
  const withId = new Map<string, Map<string, Endpoint>>();
  for (const operation of builtInContract.operations.values()) {
    const [prefix = '', parameter] = operation.path.split('{');
    const paths = parameter === undefined ? fixed : withId;
    const endpoints = paths.get(prefix) ?? new Map<string, Endpoint>();
    paths.set(prefix, endpoints.set(operation.method, createEndpoint(operation, sunset)));
  }
  return (path) => {
    const endpoints = fixed.get(path);
    if (endpoints) return { endpoints, id: '' };
    const end = path.lastIndexOf('/') + 1;
    return {
      endpoints: end === path.length ? undefined : withId.get(path.slice(0, end)),
      id: path.slice(end),
    };
  };
}

function createEndpoint(operation: Operation, sunset: string | undefined): Endpoint {
  const announced = operation.deprecated ? deprecationFields(sunset ?? operation.sunset) : {};
  return {
    read: createReadInput(operation),
    handle: handlers[operation.id] as unknown as Endpoint['handle'],
    announced,
    json: { 'content-type': 'application/json', ...announced },
    isPost: operation.method === 'POST',
  };
}

/** Chosen, as the sunset is: the service document gives no date. */
const deprecatedSince = Date.UTC(2026, 0, 1);

/** @see RFC 9745 (Deprecation, a date that is never after the sunset), RFC 8594 (Sunset) */
function deprecationFields(sunset: string | undefined): HttpFields {
  if (sunset === undefined) return { deprecation: `@${deprecatedSince / 1000}` };
  const end = new Date(`${sunset}T00:00:00Z`);
  const since = Math.min(deprecatedSince, end.getTime());
  return { deprecation: `@${since / 1000}`, sunset: end.toUTCString() };
}

function toResponse(reply: Page<object> | Reply<object>, endpoint: Endpoint, target: Target): HttpResponse {
  if ('entries' in reply) return toPage(reply, endpoint, target);
  if (reply.status === 204) return { status: 204, fields: endpoint.announced, body: '' };
  if ('entry' in reply) return { status: 200, fields: endpoint.json, body: textOf(reply.entry) };
  const body = printJson(reply.value);
  if (reply.status === 200) return { status: 200, fields: endpoint.json, body };
  const location = endpoint.isPost ? `${target.path}/${reply.id}` : target.path;
  // `location` comes before the spread: V8 makes a new shape for each object whose fields follow one.
  return { status: 201, fields: { location, ...endpoint.json }, body };
}

function toPage({ entries, after }: Page<object>, { json }: Endpoint, target: Target): HttpResponse {
  let body = '[';
  let before = '';
  for (const entry of entries) {
    body += before + textOf(entry);
    before = ',';
  }
  body += ']';
  if (after === undefined) return { status: 200, fields: json, body };
  const link = `<${nextPage(target, after)}>; rel="next"`;
  return { status: 200, fields: { link, ...json }, body };
}

/** The same list from the record after `after`. */
function nextPage({ origin, path, query }: Target, after: bigint): string {
  const others = query.includes('after=') ? query.replace(/(^|&)after=[^&]*/, '').replace(/^&/, '') : query;
  return `${origin}${path}?${others}${others && '&'}after=${after}`;
}
