import {
  type HttpHeaders,
  type HttpRequest,
  type HttpResponse,
  headerValue,
  isReadMethod,
} from '../api/http.ts';
import { sleep } from '../process/deadline.ts';
import { printJson } from '../process/exact-json.ts';
import { type App, localSunset } from './app.ts';
import { splitUrl } from './read-input.ts';
import { methodNotAllowed, Refusal } from './refusal.ts';

// Wrappers of the app: each function takes an app and returns one.

/** Answers every write with 405. */
export function withoutWrites(app: App): App {
  return (request) =>
    isReadMethod(request.method)
      ? app(request)
      : methodNotAllowed('this server is read-only', ['GET']).toResponse();
}

/** Answers every request without the token with 401. */
export function withToken(app: App, token: string): App {
  return (request) => {
    if (headerValue(request.headers, 'authorization') === `Bearer ${token}`) return app(request);
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
    const origin = headerValue(request.headers, 'origin');
    if (origin === undefined || !origins.includes(origin)) return app(request);
    const corsHeaders = { 'access-control-allow-origin': origin, vary: 'origin' };
    if (isPreflight(request))
      return { status: 204, headers: { ...corsHeaders, ...preflightHeaders }, body: '' };
    const { status, headers, body } = await app(request);
    return { status, headers: { ...headers, ...corsHeaders, ...exposedHeaders }, body };
  };
}

function isPreflight({ method, headers }: HttpRequest): boolean {
  return method === 'OPTIONS' && headerValue(headers, 'access-control-request-method') !== undefined;
}

const exposedHeaders: HttpHeaders = {
  'access-control-expose-headers': 'etag, link, location, retry-after, deprecation, sunset',
};

const preflightHeaders: HttpHeaders = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
  'access-control-allow-headers': 'authorization, content-type, if-match, if-none-match',
  'access-control-max-age': '600',
};

/**
 * Returns where a client behind a gateway sees the server, from X-Forwarded-Proto, X-Forwarded-Host and X-Forwarded-Prefix.
 * Read them only behind a gateway, because any client can set them to any value.
 */
function forwardedPlace(request: HttpRequest): { readonly origin: string; readonly prefix: string } {
  const forwarded = (name: string, form: RegExp) =>
    form.exec(headerValue(request.headers, `x-forwarded-${name}`)?.split(',')[0]?.trim() ?? '')?.[0];
  const scheme = forwarded('proto', /^https?$/) ?? 'http';
  const host = forwarded('host', /^[\w.:[\]-]+$/) ?? new URL(request.url).host;
  return {
    origin: `${scheme}://${host}`,
    prefix: forwarded('prefix', /^(\/[\w.~-]+)+(?=\/?$)/) ?? '',
  };
}

/** Builds the links of the answers as a client behind a gateway sees them. */
export function withForwarded(app: App): App {
  return async (request) => {
    const { origin, prefix } = forwardedPlace(request);
    const url = origin + request.url.slice(new URL(request.url).origin.length);
    const { headers, ...response } = await app({ ...request, url });
    return {
      ...response,
      headers: {
        ...headers,
        ...('link' in headers && {
          link: `${headers.link}`.replace(/<(https?:\/\/[^/>]+)?\//g, `<$1${prefix}/`),
        }),
        ...('location' in headers && { location: `${prefix}${headers.location}` }),
      },
    };
  };
}

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

interface DocumentsOptions {
  readonly readOnly?: boolean | undefined;
  readonly trustProxy?: boolean | undefined;
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
export function withDocuments(app: App, options: DocumentsOptions): App {
  return (request) => {
    const { path, origin } = splitUrl(request.url);
    const prefix = options.trustProxy ? forwardedPlace(request).prefix : '';
    const mediaType = mediaTypes.get(path);
    if (path !== '/' && mediaType === undefined) return app(request);
    if (!isReadMethod(request.method))
      return methodNotAllowed(`${path} does not take ${request.method}`, ['GET']).toResponse();
    if (mediaType === undefined) return answerRoot(request);
    const headers = { 'content-type': mediaType, ...(path.startsWith('/docs') && pageHeaders) };
    return renderDocument(path, { origin, prefix, readOnly: options.readOnly === true }).then((body) => ({
      status: 200,
      headers,
      body,
    }));
  };
}

/** Renders a document. It loads the modules for that only now, because most commands serve no document. */
async function renderDocument(
  path: string,
  {
    origin,
    prefix,
    readOnly,
  }: { readonly origin: string; readonly prefix: string; readonly readOnly: boolean },
): Promise<string> {
  if (path === '/healthz') return '{"status":"ok"}';
  if (path === '/docs.css') return (await import('./docs/docs.css?raw')).default;
  if (path === '/docs.js') return (await import('./docs/docs.mjs?raw')).default;
  const { toOpenApi } = await import('../api/openapi.ts');
  const description = toOpenApi({ sunset: localSunset, serverUrl: `${prefix}/` });
  if (path === '/openapi.json') return printJson(description, 2);
  if (path === '/openapi.yaml')
    return (await (await import('../process/exact-yaml.ts')).loadYaml()).print(description);
  const { renderPage } = await import('./docs/page.ts');
  return renderPage(description, { baseUrl: origin + prefix, readOnly });
}

/** Redirects a browser to the documentation, and links a program to the description. */
function answerRoot({ headers }: HttpRequest): HttpResponse {
  const rootHeaders: HttpHeaders = { link, vary: 'Accept' };
  if (headerValue(headers, 'accept')?.includes('text/html'))
    return { status: 302, headers: { location: '/docs', ...rootHeaders }, body: '' };
  return new Refusal('not_found', 'there is no /; see /docs or /openapi.json', rootHeaders).toResponse();
}
