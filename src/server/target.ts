import type { HttpRequest } from '../api/http.ts';

/** A URL in its parts, as they stand in it. */
export interface Target {
  readonly origin: string;
  readonly path: string;
  /** Without the question mark; empty where there is none. */
  readonly query: string;
}

/** A request whose URL has been taken apart: once, where it came in. */
export interface TargetedRequest extends Omit<HttpRequest, 'url'> {
  readonly target: Target;
}

export function toTargeted({ method, url, fields, body }: HttpRequest): TargetedRequest {
  const slash = url.indexOf('/', url.indexOf('://') + 3);
  const origin = slash === -1 ? url : url.slice(0, slash);
  return { method, target: toTarget(origin, url.slice(origin.length)), fields, body };
}

/** @param rest of the URL behind the origin. */
export function toTarget(origin: string, rest: string): Target {
  const mark = rest.indexOf('?');
  if (mark === -1) return { origin, path: rest, query: '' };
  return { origin, path: rest.slice(0, mark), query: rest.slice(mark + 1) };
}
