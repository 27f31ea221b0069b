import type { HttpRequest, HttpResponse, SendOptions, Transport } from '../../api/http.ts';
import { createDialer, type Dialer, type DialOptions, type Route } from './dial.ts';

/** The options of both transports. */
export interface TransportOptions extends DialOptions {
  /** Most sockets at the same time. */
  readonly connections: number;
}

/** Sends requests to one origin, over connections that it keeps. */
export interface Origin {
  /** @param requestTarget a path with its query, or a whole URL for a forwarding proxy. @see RFC 9112, 3.2 */
  send(requestTarget: string, request: HttpRequest, options: SendOptions): Promise<HttpResponse>;
  close(): void;
}

/** A transport whose origins `open` makes: they differ in the library that speaks HTTP. */
export function createTransport(
  options: DialOptions,
  open: (route: Route, dialer: Dialer) => Origin,
): Transport {
  const dialer = createDialer(options);
  const origins = new Map<string, { readonly route: Route; readonly origin: Origin }>();
  const originOf = (name: string) => {
    const known = origins.get(name);
    if (known) return known;
    const route = dialer.route(new URL(name));
    const made = { route, origin: open(route, dialer) };
    origins.set(name, made);
    return made;
  };
  return {
    send(request, sendOptions) {
      const { url, fields } = request;
      // Parsing it as a URL takes ten times as long, in each of many requests.
      const slash = url.indexOf('/', url.indexOf('://') + 3);
      const { route, origin } = originOf(url.slice(0, slash));
      if (!route.isForwarded) return origin.send(url.slice(slash), request, sendOptions);
      const host = fields.host ?? route.url.host;
      const authorization = route.proxy?.authorization && {
        'proxy-authorization': route.proxy.authorization,
      };
      return origin.send(url, { ...request, fields: { ...fields, host, ...authorization } }, sendOptions);
    },
    async close() {
      for (const { origin } of origins.values()) origin.close();
      dialer.close();
    },
  };
}
