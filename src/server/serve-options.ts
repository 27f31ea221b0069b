import { type HttpHeaders, type HttpRequest, headerValue, isRead } from '../api/http.ts';
import { sleep } from '../process/deadline.ts';
import type { App } from './app.ts';
import { methodNotAllowed, Refusal } from './refusal.ts';

// The flags of `serve` wrap the app: each function takes an app and returns one.

/** Answers every write with 405. */
export function withoutWrites(app: App): App {
  return (request) =>
    isRead(request.method)
      ? app(request)
      : methodNotAllowed('this server is read-only', ['GET']).toResponse();
}

/** Answers every request that does not bear the token with 401. */
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
 * Only a gateway may set them: with another client they lead wherever it likes.
 */
export function forwardedPlace(request: HttpRequest): { readonly origin: string; readonly prefix: string } {
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
