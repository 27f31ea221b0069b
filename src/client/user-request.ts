import {
  type HttpHeaders,
  type HttpRequest,
  isConnectionHeader,
  isHttpToken,
  whyExposed,
  whyUnsafePath,
} from '../api/http.ts';
import { UsageError } from '../process/errors.ts';
import type { Secrets } from '../process/secrets.ts';

// The headers and requests that a user writes.

/** The common parts of all requests to a service. */
export interface RequestBase {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly headers: HttpHeaders;
}

/** A header, and what gave it, for messages, such as `--header`. */
export interface Header {
  readonly name: string;
  readonly value: string;
  readonly givenBy: string;
}

/** Parses the value of the flag `-H 'name: value'`. @throws UsageError that names the flag. */
export function parseHeaderFlag(text: string): Header {
  const colon = text.indexOf(':');
  if (colon < 1)
    throw new UsageError(`--header: must be \`name: value\`, and has no ${colon === 0 ? 'name' : 'colon'}`);
  return { name: text.slice(0, colon).trim(), value: text.slice(colon + 1).trim(), givenBy: '--header' };
}

/**
 * Turns headers into an object, by lower-case name. The last header of a name counts. Errors never quote a value.
 *
 * @throws UsageError for a name that is not a token, or a value with CR, LF, NUL or a character beyond Latin-1.
 */
export function toHeaders(list: readonly Header[]): HttpHeaders {
  return Object.fromEntries(list.map((header) => [requireHeader(header), header.value]));
}

/** Refuses a header with a credential if the service is reached over plain http. @throws UsageError that names the header. */
export function requireSecure(headers: readonly Header[], baseUrl: string, secrets: Secrets): void {
  const why = whyExposed(baseUrl);
  const secret = why === undefined ? undefined : headers.find(({ name }) => secrets.hasHeader(name));
  if (!secret) return;
  throw new UsageError(
    `${secret.givenBy}: ${secret.name} carries a credential, and ${why}`,
    'use https, or set allow-insecure-http in the profile to send it',
    'insecure',
  );
}

/**
 * Checks a header and returns its name in lower case.
 *
 * @throws UsageError that names what gave the header, and the header, but never the value.
 */
export function requireHeader({ name, value, givenBy }: Header): string {
  if (!isHttpToken(name)) throw new UsageError(`${givenBy}: ${JSON.stringify(name)} is not a header name`);
  const lower = name.toLowerCase();
  if (isConnectionHeader(name)) throw new UsageError(`${givenBy}: ${name} is set by the connection itself`);
  const [unit] = /[^\t\x20-\x7e\x80-\xff]/.exec(value) ?? [];
  if (unit === undefined) return lower;
  const shown = JSON.stringify(unit);
  throw new UsageError(`${givenBy}: the value of ${name} must not contain ${shown}`);
}

/** Headers that replace headers of the client. The value undefined removes a header. */
export type HeaderChanges = Readonly<Record<string, string | undefined>>;

/** A request that no operation describes. */
export interface RawRequest {
  readonly method: string;
  /** Path below the base URL, or an absolute URL of the same origin. */
  readonly path: string;
  readonly query?: readonly (readonly [name: string, value: string])[] | undefined;
  readonly headers?: HeaderChanges | undefined;
  readonly body?: string | Uint8Array | undefined;
}

export const rawMethods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * Turns a raw request into one that a transport sends.
 *
 * @throws UsageError for a path that is empty or unsafe, and for a URL of another origin, because the credential is for this
 *   service only.
 */
export function toRawRequest(raw: RawRequest, { baseUrl, headers }: RequestBase): HttpRequest {
  const url = rawUrl(raw.path, baseUrl);
  for (const [name, value] of raw.query ?? []) url.searchParams.append(name, value);
  url.hash = '';
  return {
    method: raw.method,
    url: url.href,
    headers: withHeaderChanges(headers, raw.headers),
    body: raw.body,
  };
}

function rawUrl(path: string, baseUrl: string): URL {
  if (path.trim() === '')
    throw new UsageError("path '': must not be empty", 'give / for the base URL itself');
  const why = whyUnsafePath(path);
  if (why !== undefined)
    throw new UsageError(`${path}: ${why}`, 'a path outside of the base URL must be a whole URL');
  const isAbsolute = /^[a-z][a-z0-9+.-]*:\/\//i.test(path);
  const text = isAbsolute ? path : `${baseUrl}/${path.replace(/^\/+/, '')}`;
  if (!URL.canParse(text)) throw new UsageError(`${path}: not a path or URL`);
  const url = new URL(text);
  if (url.origin !== new URL(baseUrl).origin)
    throw new UsageError(
      `${path}: its origin is not that of ${baseUrl}`,
      'a request goes only to the service; choose another with --base-url',
    );
  return url;
}

export function withHeaderChanges(headers: HttpHeaders, changes: HeaderChanges | undefined): HttpHeaders {
  if (changes === undefined) return headers;
  const all = Object.entries(Object.assign({}, headers, changes));
  return Object.fromEntries(all.filter(([, value]) => value !== undefined)) as HttpHeaders;
}
