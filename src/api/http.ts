import type { Cancellation } from '../deadline.ts';

/** Field values by lower-case name; a list if a field came more than once and may not be joined. */
export type HttpFields = Readonly<Record<string, string | readonly string[]>>;

/** Stands for the embedded store, which no socket reaches. @see RFC 6761, 6.4 */
export const embeddedOrigin = 'http://offline.invalid';

/** A request as it goes to a transport: a socket, or the server in the same process. */
export interface HttpRequest {
  readonly method: string;
  /** Absolute, http or https. */
  readonly url: string;
  readonly fields: HttpFields;
  readonly body?: string | Uint8Array | undefined;
}

/** A whole answer; the body is as it came, still encoded as `content-encoding` says. */
export interface HttpResponse {
  readonly status: number;
  readonly fields: HttpFields;
  readonly body: string | Uint8Array;
}

/** The one value of a field, its lines joined as RFC 9110, 5.3 allows; undefined if it is absent. */
export function fieldValue(fields: HttpFields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}

export interface SendOptions {
  /** Ends the exchange at once, whatever it is waiting for; its reason is thrown. */
  readonly cancellation: Cancellation;
  /**
   * Most bytes that the body of an answer with this status may have, as sent. A longer one is cut off there if the
   * status is an error's, and is not a valid answer otherwise.
   */
  maxBytes(status: number): number;
  /** Called once, before the first byte of the request may leave: from then on a write may have been applied. */
  onSending?(): void;
}

/**
 * The one way out: a request in, a whole answer back. No retry, no redirect, no decoding.
 *
 * `send` throws UnavailableError, its message the bare reason, with `sent` true if a byte of the request may have
 * reached the service. An error's body that was cut short is given as far as it came.
 */
export interface Transport {
  send(request: HttpRequest, options: SendOptions): Promise<HttpResponse>;
  close(): Promise<void>;
}

/** What the service calls a request, for its operators to find it by; undefined if it does not say. */
export function requestIdOf(fields: HttpFields): string | undefined {
  for (const name of ['request-id', 'x-request-id', 'x-correlation-id', 'traceparent']) {
    const [value] = [fields[name] ?? []].flat();
    if (value !== undefined && value.trim() !== '') return value.trim().slice(0, 200);
  }
  return undefined;
}

/** Whether a host is this machine by its name alone; an IPv6 address may stand in brackets. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|.+\.localhost|::1|127(\.\d{1,3}){3})$/.test(bareHost(host));
}

/** A host as sockets take it: no brackets, no dot at the end, lower case. */
export function bareHost(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}
