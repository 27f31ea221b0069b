import { builtInContract, type Operation } from '../api/contract.ts';
import type { HttpFields, HttpRequest, HttpResponse } from '../api/http.ts';
import type { Page } from './collection.ts';
import type { Reply } from './handlers/handler.ts';
import { handlers } from './handlers/index.ts';
import { toInput } from './input.ts';
import { deprecationFields } from './life-cycle.ts';
import { recordText } from './record-text.ts';
import { internalError, Refusal } from './refusal.ts';
import { createRoutes, type RouteEntry, type Routes } from './routes.ts';
import type { Store } from './store.ts';

/** The service: a request in, an answer out, whether it came through a socket or from the same process. */
export type App = (request: HttpRequest) => HttpResponse;

export interface AppOptions {
  /** The store as it is now. */
  store(): Store;
  /** When deprecated operations end, YYYY-MM-DD, instead of the table's date. */
  readonly sunset?: string | undefined;
  /** Told what a handler threw that was no Refusal: a defect. */
  onDefect?: ((error: unknown) => void) | undefined;
}

type AnyHandler = (store: Store, input: Record<string, unknown>) => Page<object> | Reply<object>;

/** An operation with all that answering it takes. */
interface Endpoint {
  readonly operation: Operation;
  readonly handle: AnyHandler;
  /** Fields of every answer, refusals too. */
  readonly announcement: HttpFields | undefined;
}

const json: HttpFields = { 'content-type': 'application/json' };

/** The app of the table's operations. HEAD is answered like GET; whoever sends the answer leaves the body out. */
export async function createApp({ store, sunset, onDefect }: AppOptions): Promise<App> {
  const routes = await createRoutes(endpoints(sunset));
  return (request) => {
    const target = targetOf(request.url);
    const route = routes.find(request.method === 'HEAD' ? 'GET' : request.method, target.path);
    if (!route) return refuseUnknown(routes, request.method, target.path).toResponse();
    const { operation, handle, announcement } = route.target;
    const response = answer(() => {
      const input = toInput(operation, request, { parameters: route.parameters, query: target.query });
      return toResponse(handle(store(), input), operation, target);
    }, onDefect);
    return announcement ? withFields(response, announcement) : response;
  };
}

function endpoints(sunset: string | undefined): RouteEntry<Endpoint>[] {
  return [...builtInContract.operations.values()].map((operation) => ({
    method: operation.method,
    path: operation.path,
    target: {
      operation,
      handle: handlers[operation.id] as unknown as AnyHandler,
      announcement: operation.deprecated ? deprecationFields(sunset ?? operation.sunset) : undefined,
    },
  }));
}

/** A URL in its parts, as they stand in it. */
interface Target {
  readonly origin: string;
  readonly path: string;
  /** Without the question mark; empty where there is none. */
  readonly query: string;
}

function targetOf(url: string): Target {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  const mark = url.indexOf('?', start);
  return {
    origin: url.slice(0, start),
    path: mark === -1 ? url.slice(start) : url.slice(start, mark),
    query: mark === -1 ? '' : url.slice(mark + 1),
  };
}

function refuseUnknown(routes: Routes<unknown>, method: string, path: string): Refusal {
  const methods = routes.methodsOf(path);
  if (methods.length === 0) return new Refusal('not_found', `there is no ${path}`);
  return methodNotAllowed(`${path} does not take ${method}`, methods);
}

/** @param methods those that the path takes; HEAD goes with GET. */
export function methodNotAllowed(message: string, methods: readonly string[]): Refusal {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return new Refusal('method_not_allowed', message, { allow });
}

function answer(work: () => HttpResponse, onDefect?: (error: unknown) => void): HttpResponse {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal) return error.toResponse();
    onDefect?.(error);
    return internalError().toResponse();
  }
}

function toResponse(
  result: Page<object> | Reply<object>,
  operation: Operation,
  target: Target,
): HttpResponse {
  if ('records' in result) return toPage(result, target);
  if (result.status === 204) return { status: 204, fields: {}, body: '' };
  const body = recordText(result.value);
  if (result.status === 200) return { status: 200, fields: json, body };
  const location = operation.method === 'POST' ? `${target.path}/${result.id}` : target.path;
  return { status: 201, fields: { ...json, location }, body };
}

function toPage({ records, after }: Page<object>, { origin, path, query }: Target): HttpResponse {
  const body = `[${records.map(recordText).join(',')}]`;
  if (after === undefined) return { status: 200, fields: json, body };
  const parameters = new URLSearchParams(query);
  parameters.set('after', String(after));
  return {
    status: 200,
    fields: { ...json, link: `<${origin}${path}?${parameters}>; rel="next"` },
    body,
  };
}

function withFields(response: HttpResponse, fields: HttpFields): HttpResponse {
  return { ...response, fields: { ...response.fields, ...fields } };
}
