import { type HttpHeaders, type HttpRequest, headerValue, isRead } from '../api/http.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import type { App } from './app.ts';
import { methodNotAllowed, Refusal } from './refusal.ts';
import type { Random } from './seed.ts';

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

/** Faults that `serve` injects on purpose, for the test of a client. */
export interface Faults {
  /** The wait before each response. */
  readonly latencyMs?: number | undefined;
  /** The share of requests, from 0 to 1, that get a 503 and are not carried out. */
  readonly errorRate?: number | undefined;
  /** The most requests a second. Further requests get a 429 with Retry-After, and are not carried out. */
  readonly ratePerSecond?: number | undefined;
}

/** Adds faults to the app. Returns the app itself if there are none. */
export function withFaults(app: App, faults: Faults, random: Random): App {
  const { latencyMs = 0, errorRate = 0, ratePerSecond } = faults;
  if (latencyMs === 0 && errorRate === 0 && ratePerSecond === undefined) return app;
  const admit = ratePerSecond === undefined ? () => 0 : createBucket(ratePerSecond);
  return async (request) => {
    const waitSeconds = admit(monotonicMs() / 1000);
    if (latencyMs > 0) await sleep(latencyMs);
    if (waitSeconds > 0) return rateLimited(waitSeconds).toResponse();
    if (random() < errorRate)
      return new Refusal('unavailable', 'failed on purpose (--error-rate)').toResponse();
    return app(request);
  };
}

/**
 * Creates a token bucket. It holds the requests of one second, and fills steadily.
 *
 * @returns a function that is called for each request. It returns 0 if the request may pass, or else the seconds to wait.
 */
function createBucket(ratePerSecond: number): (nowSeconds: number) => number {
  const capacity = Math.max(1, ratePerSecond);
  let level = capacity;
  let lastSeconds: number | undefined;
  return (nowSeconds) => {
    const elapsedSeconds = nowSeconds - (lastSeconds ?? nowSeconds);
    level = Math.min(capacity, level + elapsedSeconds * ratePerSecond);
    lastSeconds = nowSeconds;
    if (level < 1) return (1 - level) / ratePerSecond;
    level -= 1;
    return 0;
  };
}

function rateLimited(waitSeconds: number): Refusal {
  return new Refusal('rate_limited', 'too many requests (--rate-limit)', {
    'retry-after': String(Math.max(1, Math.ceil(waitSeconds))),
  });
}
