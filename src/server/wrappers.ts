import { type HttpHeaders, isSafeMethod } from '../api/http.ts';
import { sleep } from '../process/deadline.ts';
import { printJson } from '../process/exact-json.ts';
import { type App, localSunset } from './app.ts';
import { splitUrl } from './read-input.ts';
import { methodNotAllowed, Refusal } from './refusal.ts';

// Wrappers of the app: each function takes an app and returns one.

/** Answers every write with 405. */
export function withoutWrites(app: App): App {
  return (request) =>
    isSafeMethod(request.method)
      ? app(request)
      : methodNotAllowed('this server is read-only', ['GET']).toResponse();
}

/** Answers every request without the token with 401. */
export function withToken(app: App, token: string): App {
  return (request) => {
    if (request.headers.authorization === `Bearer ${token}`) return app(request);
    const reason = 'this server needs the header Authorization: Bearer <token> (--require-token)';
    return new Refusal('unauthorized', reason, { 'www-authenticate': 'Bearer' }).toResponse();
  };
}

/**
 * Lets pages of other origins use the app: answers their preflight requests, and lets them read the responses.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function withCors(app: App, origins: readonly string[]): App {
  return async (request) => {
    const origin = request.headers.origin;
    if (origin === undefined || !origins.includes(origin)) return app(request);
    const corsHeaders = { 'access-control-allow-origin': origin, vary: 'origin' };
    const isPreflight = request.headers['access-control-request-method'] !== undefined;
    if (isPreflight && request.method === 'OPTIONS')
      return { status: 204, headers: { ...corsHeaders, ...preflightHeaders }, body: '' };
    const { status, headers, body } = await app(request);
    return { status, headers: { ...headers, ...corsHeaders, ...exposedHeaders }, body };
  };
}

const exposedHeaders: HttpHeaders = {
  'access-control-expose-headers': 'etag, link, location, retry-after, deprecation, sunset',
};

const preflightHeaders: HttpHeaders = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
  'access-control-allow-headers': 'authorization, content-type, if-match, if-none-match',
  'access-control-max-age': '600',
};

/** Faults that `serve` injects on purpose, for the test of a client. */
export interface Faults {
  /** The wait before each response. */
  readonly latencyMs?: number | undefined;
  /** The share of requests that fail, 0 to 1. */
  readonly errorRate?: number | undefined;
}

export function withFaults(app: App, { latencyMs = 0, errorRate = 0 }: Faults): App {
  if (latencyMs === 0 && errorRate === 0) return app;
  return async (request) => {
    if (latencyMs > 0) await sleep(latencyMs);
    if (Math.random() < errorRate)
      return new Refusal('unavailable', 'failed on purpose (--error-rate)').toResponse();
    return app(request);
  };
}

/** The links from `/` to the description and to its page. @see RFC 8288, RFC 8631 */
const link = '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"';

/** The page runs only its own script and style, and sends requests only to its own server. */
const pageHeaders: HttpHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['/healthz', 'application/json'],
  ['/openapi.json', 'application/json'],
  ['/openapi.yaml', 'application/yaml'],
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs.css', 'text/css; charset=utf-8'],
  ['/docs.js', 'text/javascript; charset=utf-8'],
]);

/** Adds `/healthz`, the description of the service and its documentation to an app. */
export function withDocuments(app: App, readOnly = false): App {
  return (request) => {
    const { path, origin } = splitUrl(request.url);
    const mediaType = mediaTypes.get(path);
    if (path === '/')
      return new Refusal('not_found', 'there is no /; see /docs or /openapi.json', { link }).toResponse();
    if (mediaType === undefined) return app(request);
    if (!isSafeMethod(request.method))
      return methodNotAllowed(`${path} does not take ${request.method}`, ['GET']).toResponse();
    const headers = { 'content-type': mediaType, ...(path.startsWith('/docs') && pageHeaders) };
    return renderDocument(path, origin, readOnly).then((body) => ({ status: 200, headers, body }));
  };
}

/** Renders a document. It loads the modules for that only now, because most commands serve no document. */
async function renderDocument(path: string, baseUrl: string, readOnly: boolean): Promise<string> {
  if (path === '/healthz') return '{"status":"ok"}';
  if (path === '/docs.css') return (await import('./docs/docs.css?raw')).default;
  if (path === '/docs.js') return (await import('./docs/docs.mjs?raw')).default;
  const { toOpenApi } = await import('../api/openapi.ts');
  const description = toOpenApi({ sunset: localSunset });
  if (path === '/openapi.json') return printJson(description, 2);
  if (path === '/openapi.yaml')
    return (await (await import('../process/exact-yaml.ts')).loadYaml()).print(description);
  const { renderPage } = await import('./docs/page.ts');
  return renderPage(description, { baseUrl, readOnly });
}
