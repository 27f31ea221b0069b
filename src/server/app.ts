import type { HttpRequest, HttpResponse } from '../api/http.ts';
import { createEndpoints, type Endpoint, toRefused, toResponse } from './endpoint.ts';
import { internalError, Refusal } from './refusal.ts';
import { createRoutes, type Load, type RouteEntry, type Routes } from './routes.ts';
import type { Store } from './store.ts';
import { type TargetedRequest, toTargeted } from './target.ts';

/** The service: a request in, an answer out, whether it came through a socket or from the same process. */
export type App = (request: HttpRequest) => HttpResponse;

/** The same of a request whose URL has been taken apart. */
export type TargetedApp = (request: TargetedRequest) => HttpResponse;

interface AppOptions {
  /** The store as it is now. */
  store(): Store;
  /** When deprecated operations end, YYYY-MM-DD, instead of the table's date. */
  readonly sunset?: string | undefined;
  /** Many unless told. */
  readonly load?: Load | undefined;
  /** Told what a handler threw that was no Refusal: a defect. */
  onDefect?: ((error: unknown) => void) | undefined;
}

/** The app of the table's operations. HEAD is answered like GET; whoever sends the answer leaves the body out. */
export async function createApp(options: AppOptions): Promise<App> {
  const answer = await createTargetedApp(options);
  return (request) => answer(toTargeted(request));
}

export async function createTargetedApp(options: AppOptions): Promise<TargetedApp> {
  const { store, sunset, load = 'many', onDefect } = options;
  const routes = await createRoutes(createEndpoints(sunset).map(toEntry), load);
  return (request) => {
    const { target } = request;
    const route = routes.find(request.method === 'HEAD' ? 'GET' : request.method, target.path);
    if (!route) return refuseUnknown(routes, request.method, target.path).toResponse();
    const endpoint = route.target;
    try {
      const input = endpoint.read(request, route.values);
      return toResponse(endpoint.handle(store(), input), endpoint, target);
    } catch (error) {
      if (!(error instanceof Refusal)) onDefect?.(error);
      return toRefused(error instanceof Refusal ? error : internalError(), endpoint);
    }
  };
}

function toEntry(endpoint: Endpoint): RouteEntry<Endpoint> {
  const { method, path } = endpoint.operation;
  return { method, path, target: endpoint };
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
