import { fieldValue, type HttpFields, type HttpRequest, type HttpResponse } from '../api/http.ts';
import type { SlowApp } from './app.ts';
import { Refusal } from './refusal.ts';

/** The app for requests that bear a token; others are answered with 401. */
export function withToken(app: SlowApp, token: string): SlowApp {
  return (request) => {
    if (fieldValue(request.fields, 'authorization') === `Bearer ${token}`) return app(request);
    const why = 'this server needs the header Authorization: Bearer <token> (--require-token)';
    return new Refusal('unauthorized', why, { 'www-authenticate': 'Bearer' }).toResponse();
  };
}

/**
 * The app for pages of other origins too: answers their preflight requests, and lets them read the answers.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function withCors(app: SlowApp, origins: readonly string[]): SlowApp {
  return (request) => {
    const origin = fieldValue(request.fields, 'origin');
    if (origin === undefined || !origins.includes(origin)) return app(request);
    if (isPreflight(request))
      return { status: 204, fields: { ...allowing(origin), ...preflightFields }, body: '' };
    const answer = app(request);
    return answer instanceof Promise
      ? answer.then((late) => readable(late, origin))
      : readable(answer, origin);
  };
}

function isPreflight({ method, fields }: HttpRequest): boolean {
  return method === 'OPTIONS' && fieldValue(fields, 'access-control-request-method') !== undefined;
}

function readable(answer: HttpResponse, origin: string): HttpResponse {
  const exposed = { 'access-control-expose-headers': 'link, location, retry-after, deprecation, sunset' };
  return { ...answer, fields: { ...answer.fields, ...allowing(origin), ...exposed } };
}

function allowing(origin: string): HttpFields {
  return { 'access-control-allow-origin': origin, vary: 'origin' };
}

const preflightFields: HttpFields = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
  'access-control-allow-headers': 'authorization, content-type',
  'access-control-max-age': '600',
};
