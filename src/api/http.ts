import type { Cancellation } from '../process/deadline.ts';
import { maskUrl } from '../process/secrets.ts';
import { isDateTime } from './record-values.ts';

/** Header values by lower-case name. The values of a header that came several times are joined. @see RFC 9110, 5.3 */
export type HttpHeaders = Readonly<Record<string, string>>;

/** Returns true if a path can be appended to a base URL: no query, no fragment, and safe. */
export function isPath(text: string): boolean {
  return /^\/[\w\-.~!$&'()*+,;=:@%/]*$/.test(text) && whyUnsafePath(text) === undefined;
}

/**
 * Says in a clause why the URL parser would change a path, with or without a query: it resolves dot segments, also escaped ones,
 * drops control characters and reads a backslash as a slash. Such a path could name another record.
 */
export function whyUnsafePath(path: string): string | undefined {
  if (/[\x00-\x1f\x7f\\]/.test(path)) return 'must not contain controls or backslashes';
  // The parser also drops blanks at the end.
  const hasDotSegment = /^([^?#]*\/)?(\.|%2e){1,2}([/?#]| *$)/i.test(path);
  return hasDotSegment ? 'must not contain the segments . and ..' : undefined;
}

/** A request as it goes to a transport: a socket, or the server in the same process. */
export interface HttpRequest {
  readonly method: string;
  /** Absolute, http or https. */
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly body?: string | Uint8Array | undefined;
}

/** A response as a transport returns it, with its whole body; that of an error may be cut. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly body: string | Uint8Array;
}

/** Returns true if a text is a token, such as the name of a header or an authentication scheme. @see RFC 9110, 5.6.2 */
export function isHttpToken(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

const connectionHeader =
  /^(connection|content-length|expect|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i;

/** Returns true if only the transport may set a header. */
export function isConnectionHeader(name: string): boolean {
  return connectionHeader.test(name);
}

/**
 * Returns the date of a header in milliseconds: an HTTP date, or a date-time of RFC 3339, as some services send it.
 *
 * @see RFC 9110, 5.6.7
 */
export function headerDate(headers: HttpHeaders, name: string): number | undefined {
  const text = headers[name]?.trim() ?? '';
  const ms = text.endsWith(' GMT') || isDateTime(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Writes headers as lines such as `etag: "1kf9x2"`. */
export function headerLines(headers: HttpHeaders): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}

/** Takes the parameters off a media type: `application/json` of `application/json; charset=utf-8`. */
export function withoutParameters(mediaType: string): string {
  return mediaType.replace(/;.*/s, '').trim();
}

/** Returns true if requests with this method change nothing. @see RFC 9110, 9.2.1 */
export function isSafeMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

const link = /<([^<>]*)>((?:\s*;\s*[^\s;,="<>]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/g;
const linkParameter = /;\s*([^\s;,="<>]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/g;

/**
 * Finds the first link with one of the relations in a Link header, and returns its target as the header has it. Skips a link with an
 * anchor, because such a link is about another document.
 *
 * @param relations in lower case, such as `next`.
 * @see RFC 8288, 3
 */
export function linkTarget(header: string | undefined, ...relations: readonly string[]): string | undefined {
  if (header === undefined) return undefined;
  for (const [, target, parameters = ''] of header.matchAll(link)) {
    // If a name occurs twice, the first one counts.
    const values = new Map(
      [...parameters.matchAll(linkParameter)]
        .reverse()
        .map(([, name = '', quoted, bare = '']) => [name.toLowerCase(), quoted ?? bare]),
    );
    const linkRelations = (values.get('rel') ?? '').toLowerCase().split(/[\s']+/);
    if (!values.has('anchor') && relations.some((relation) => linkRelations.includes(relation)))
      return target;
  }
  return undefined;
}

export interface SendOptions {
  /** Ends the request. The result of the request is then ignored. */
  readonly cancellation: Cancellation;
  /** Called once before the first byte of the request is sent. From then on a write may have been applied. */
  onSending(): void;
}

/** A way to send requests: a socket, or the server in the same process. It does not retry or follow redirects. */
export interface Transport {
  /**
   * Sends one request and returns the complete response. If the response is an error and its body is
   * truncated or too long, the body is the part that was read.
   *
   * @throws CliError with `noAnswer`. Its message says only what went wrong, without the request.
   */
  send(request: HttpRequest, options: SendOptions): Promise<HttpResponse>;
  /** The forward proxy that passes the requests on and may answer them itself, without a password. */
  readonly forwardProxy?: string | undefined;
  /** Saves the changes of the embedded store that are answered already. A run calls it before it keeps outcomes. */
  readonly saveStore?: (() => Promise<void>) | undefined;
}

/** Returns the id by which the operators of the service can find a request, if the service sent one. */
export function requestIdOf(headers: HttpHeaders): string | undefined {
  for (const name of requestIdNames) {
    const value = headers[name]?.trim();
    if (value) return value.slice(0, 200);
  }
  return undefined;
}

const requestIdNames = ['request-id', 'x-request-id', 'x-correlation-id', 'traceparent'];

/** The origin of the embedded store. No socket can reach this origin. @see RFC 6761, 6.4 */
export const embeddedOrigin = 'http://offline.invalid';

export function isEmbeddedUrl(baseUrl: string): boolean {
  return `${baseUrl}/`.startsWith(`${embeddedOrigin}/`);
}

/** Removes the userinfo from a URL for people. Of a URL of the embedded store, which has no address, only the path remains. */
export function shownUrl(url: string): string {
  return maskUrl(url.replace(`${embeddedOrigin}/`, '/'));
}

/** Returns a clause that says why others can read requests to a URL, if they can. */
export function whyExposed(url: string): string | undefined {
  const { protocol, hostname, origin } = new URL(url);
  const isPlain = protocol === 'http:' && !isLoopbackHost(hostname);
  return isPlain ? `${origin} is plain http, so others on the network could read it` : undefined;
}

/** Returns true if a host name always means this machine. An IPv6 address may be in brackets. */
export function isLoopbackHost(host: string): boolean {
  return /^(([\w-]+\.)*localhost|::1|127(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3})$/.test(bareHost(host));
}

/** Writes a host name in the form for sockets: no brackets, no final dot, lower case. */
export function bareHost(hostname: string): string {
  const name = hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}

export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
