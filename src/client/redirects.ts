import { fieldValue, type HttpRequest, type HttpResponse } from '../api/http.ts';
import { type ErrorDetails, UnavailableError } from '../errors.ts';
import { maskUrl } from '../mask.ts';

export const mostRedirects = 5;

export function isRedirect({ status }: HttpResponse): boolean {
  return status >= 300 && status < 400;
}

/**
 * The request that follows a redirect: a GET within the same origin, or from http to https on the same host.
 *
 * @throws UnavailableError `redirect` for any other, which names the target: fields such as a credential must not go to
 *   another origin, and a write must not go where nobody sent it.
 */
export function followRedirect(request: HttpRequest, response: HttpResponse): HttpRequest {
  const { status } = response;
  const location = fieldValue(response.fields, 'location');
  const from = new URL(request.url);
  const to = location === undefined ? undefined : parseUrl(location, from);
  if (!to) throw refused(`answered ${status}, a redirect that names no target`, { status });
  const shown = maskUrl(to.href);
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw refused(`answered ${status}, a redirect to ${shown}; a write is never redirected`, {
      status,
      hint: hintFor(from, to),
    });
  if (to.origin !== from.origin && !isUpgrade(from, to))
    throw refused(`answered ${status}, a redirect to ${shown}; another origin is never followed`, {
      status,
      hint: hintFor(from, to),
    });
  to.hash = '';
  return { method: request.method, url: to.href, fields: request.fields };
}

export function tooManyRedirects(): UnavailableError {
  return refused(`redirected more than ${mostRedirects} times`);
}

function isUpgrade(from: URL, to: URL): boolean {
  return from.protocol === 'http:' && to.protocol === 'https:' && from.hostname === to.hostname;
}

function hintFor(from: URL, to: URL): string | undefined {
  return from.origin === to.origin
    ? undefined
    : `if the service has moved there, give --base-url ${to.origin}`;
}

function parseUrl(location: string, base: URL): URL | undefined {
  const url = URL.canParse(location, base.href) ? new URL(location, base) : undefined;
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url : undefined;
}

function refused(message: string, details: ErrorDetails = {}): UnavailableError {
  // `sent` tells whether a write may have been applied: who redirects has not applied it.
  return new UnavailableError(message, { ...details, reason: 'redirect', sent: false, retryable: false });
}
