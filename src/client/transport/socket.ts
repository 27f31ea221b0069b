import { isIP } from 'node:net';
import { bareHost, portOf } from '../../api/http.ts';
import type { TlsFiles } from './tls.ts';

// What both transports and the checks of doctor need to open a socket to a service.

/** How a socket to a service is opened. */
export interface SocketOptions {
  /** A URL of the origin. */
  readonly baseUrl: string;
  readonly tls: TlsFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface TransportOptions extends SocketOptions {
  /** The most sockets at the same time. */
  readonly connections: number;
}

/** Returns where the sockets to an origin lead, and which name its certificate must have. */
export function socketTarget(origin: URL) {
  const host = bareHost(origin.hostname);
  return {
    host: reachableHost(host),
    port: portOf(origin),
    // Not the name in a header Host of the user: the certificate must be that of the base URL.
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
  };
}

/**
 * Returns the host to connect to. Every name below localhost is this machine, whatever a name server says.
 *
 * @see RFC 6761, 6.3
 */
function reachableHost(host: string): string {
  return host.endsWith('.localhost') ? 'localhost' : host;
}

/** Returns the path and the query of a URL. It is not parsed as a URL, because that is slow and a run does it for each request. */
export function pathOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3));
}
