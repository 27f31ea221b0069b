import type { HttpRequest, HttpResponse, SendOptions, Transport } from '../../api/http.ts';
import type { Dialer, DialerOptions } from './dialer.ts';
import { refusedByProxy } from './proxy.ts';

// A transport is a dialer, which opens the connections to one origin (dialer.ts, through proxy.ts and tls.ts), and a sender,
// which speaks HTTP over them: node-http.ts for few requests, undici.ts for many. Both collect the response with response.ts
// and turn failures into the errors of transport-error.ts.

/** The options of both transports. */
export interface TransportOptions extends DialerOptions {
  /** The most sockets at the same time. */
  readonly connections: number;
}

/** Sends requests to one origin, over connections that it keeps. */
export interface Sender {
  /** @param requestTarget a path with its query, or a whole URL for a forwarding proxy. @see RFC 9112, 3.2 */
  send(requestTarget: string, request: HttpRequest, options: SendOptions): Promise<HttpResponse>;
  close(): void;
}

/** A transport to the dialer's origin. The senders differ in the library that speaks HTTP. */
export function createTransport(dialer: Dialer, sender: Sender): Transport {
  const { origin, proxy, isForwarded } = dialer;
  const authorization = proxy?.authorization && { 'proxy-authorization': proxy.authorization };
  return {
    forwardProxy: isForwarded ? proxy?.label : undefined,
    async send(request, options) {
      const { url, headers } = request;
      if (proxy && isForwarded) {
        // A proxy may close a connection without a word (tinyproxy does), and the next request on it would be lost.
        const allHeaders = { host: origin.host, ...headers, ...authorization, connection: 'close' };
        const response = await sender.send(url, { ...request, headers: allHeaders }, options);
        if (response.status === 407) throw refusedByProxy(proxy, 'answered', response.status);
        return response;
      }
      // Not parsed as a URL, because that is slow and a bulk run does it for each request.
      const path = url.slice(url.indexOf('/', url.indexOf('://') + 3));
      return sender.send(path, request, options);
    },
    async close() {
      sender.close();
      dialer.close();
    },
  };
}
