import type { Cancellation } from '../process/deadline.ts';
import { maskUrl } from '../process/secrets.ts';

/** Header values by lower-case name; a list if a header came several times and must not be joined. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[]>>;

/** The origin of the embedded store, which no socket can reach. @see RFC 6761, 6.4 */
export const embeddedOrigin = 'http://offline.invalid';

/** A URL for people, without userinfo. The embedded store has no address, so that only the path is left. */
export function shownUrl(url: string): string {
  return maskUrl(url.replace(`${embeddedOrigin}/`, '/'));
}

/** A request as it goes to a transport: a socket, or the server in the same process. */
export interface HttpRequest {
  readonly method: string;
  /** Absolute, http or https. */
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly body?: string | Uint8Array | undefined;
}

/** A complete answer; the body is still encoded as `content-encoding` says. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly body: string | Uint8Array;
}

/** Whether a text is a token, such as the name of a header or an authentication scheme. @see RFC 9110, 5.6.2 */
export function isToken(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

/** The value of a header, its lines joined as RFC 9110, 5.3 allows; undefined if the header is absent. */
export function headerValue(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}

const linkStart = /[\s,]*<([^>]*)>/y;
const linkParameter = /\s*;\s*([^\s;,="<>]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/y;

/**
 * The target of the first link in a Link header with one of the relations, unresolved; undefined if there is none. A
 * link with an anchor is about another document and is skipped. The rest of the header after malformed text is ignored.
 *
 * @param relations in lower case, such as `next`.
 * @see RFC 8288, 3
 */
export function linkTarget(header: string | undefined, ...relations: readonly string[]): string | undefined {
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(header ?? '') ?? undefined;
    if (match) at = pattern.lastIndex;
    return match;
  };
  for (let link = take(linkStart); link; link = take(linkStart)) {
    const values = new Map<string, string>();
    for (let parameter = take(linkParameter); parameter; parameter = take(linkParameter)) {
      const [, name = '', quoted, bare = ''] = parameter;
      // If a name occurs twice, the first one counts.
      if (!values.has(name.toLowerCase())) values.set(name.toLowerCase(), quoted ?? bare);
    }
    const linkRelations = (values.get('rel') ?? '').toLowerCase().split(/\s+/);
    if (!values.has('anchor') && relations.some((relation) => linkRelations.includes(relation)))
      return link[1];
  }
  return undefined;
}

export interface SendOptions {
  /** Ends the request, whose result is then ignored. */
  readonly cancellation: Cancellation;
  /** Called once before the first byte of the request is sent: from then on a write may have been applied. */
  onSending(): void;
}

/**
 * Sends one request and returns the complete answer, without retries, redirects or decoding.
 *
 * `send` throws a CliError with a reason, whose message is only that. If the body of an error is truncated or too long, it returns the part that it has read.
 */
export interface Transport {
  send(request: HttpRequest, options: SendOptions): Promise<HttpResponse>;
  close(): Promise<void>;
  /**
   * Of a store in a file: answers changes before they are saved, from now on until `save` is called for the last time.
   *
   * @returns a function that saves what was answered before it was called.
   */
  deferSaves?(): () => Promise<void>;
}

/** The service's id of a request, with which its operators can find it; undefined if it sent none. */
export function requestIdOf(headers: HttpHeaders): string | undefined {
  for (const name of ['request-id', 'x-request-id', 'x-correlation-id', 'traceparent']) {
    const [value] = [headers[name] ?? []].flat();
    if (value !== undefined && value.trim() !== '') return value.trim().slice(0, 200);
  }
  return undefined;
}

/** Whether a host name always means this machine; an IPv6 address may be in brackets. */
export function isLoopbackHost(host: string): boolean {
  return /^(([\w-]+\.)*localhost|::1|127(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3})$/.test(bareHost(host));
}

/**
 * The host to connect to: each name below localhost is this machine, whatever a name server says.
 *
 * @see RFC 6761, 6.3
 */
export function reachableHost(host: string): string {
  return host.endsWith('.localhost') ? 'localhost' : host;
}

/** A host name in the form for sockets: no brackets, no final dot, lower case. */
export function bareHost(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}
