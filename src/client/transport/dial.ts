import type { IncomingMessage } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import {
  bareHost,
  type HttpRequest,
  type HttpResponse,
  reachableHost,
  type SendOptions,
  type Transport,
} from '../../api/http.ts';
import { withDeadline } from '../../process/deadline.ts';
import { type ErrorDetails, UnavailableError } from '../../process/errors.ts';
import { toUnavailable } from './answer.ts';
import { findProxy, type HttpProxy, portOf } from './proxy.ts';
import type { TlsFiles } from './tls.ts';

// A transport is a dialer, which opens the connections to one origin, and a sender, which speaks HTTP over them.

/** The options of both transports. */
export interface TransportOptions {
  /** A URL of the origin that they lead to. */
  readonly baseUrl: string;
  readonly tls: TlsFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The time limit for one connection until it is ready for a request. */
  readonly connectTimeoutMs: number;
  /** Most sockets at the same time. */
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
    async send(request, options) {
      const { url, fields } = request;
      if (proxy && isForwarded) {
        const all = { host: origin.host, ...fields, ...authorization };
        const response = await sender.send(url, { ...request, fields: all }, options);
        if (response.status === 407) throw refusedByProxy(proxy, 'answered', response.status);
        return response;
      }
      // Parsing it as a URL takes ten times as long, in each of many requests.
      const path = url.slice(url.indexOf('/', url.indexOf('://') + 3));
      return sender.send(path, request, options);
    },
    async close() {
      sender.close();
      dialer.close();
    },
  };
}

/** What a dialer shows of its way to the origin. */
interface Way {
  readonly origin: URL;
  readonly proxy: HttpProxy | undefined;
  /** True if the proxy forwards whole requests with absolute URLs, as for plain http. */
  readonly isForwarded: boolean;
}

/** The way to an origin, and how TLS is started on it. */
interface Route extends Way {
  readonly secure: Secure;
  readonly secureProxy: Secure;
}

/** Opens connections to one origin; closing the dialer closes them. */
export interface Dialer extends Way {
  /** A socket that is ready for a request: connected, tunnelled, secured. */
  dial(): Promise<Socket>;
  close(): void;
}

/** @throws UsageError if the environment names a proxy that cannot be used. */
export function createDialer({ baseUrl, tls, env, connectTimeoutMs }: TransportOptions): Dialer {
  const origin = new URL(baseUrl);
  const proxy = findProxy(origin, env);
  const route = {
    origin,
    proxy,
    isForwarded: proxy !== undefined && origin.protocol === 'http:',
    secure: createSecure(tls, env),
    // The client certificate is for the service alone.
    secureProxy: createSecure({ roots: tls.roots, ca: tls.ca }, env),
  };
  const open = new Set<Socket>();
  return {
    ...route,
    async dial() {
      const opened: Socket[] = [];
      const track = (socket: Socket) => {
        opened.push(socket);
        open.add(socket);
        socket.on('close', () => open.delete(socket));
        // Between two users the socket has no other listener; a later close reports an error.
        socket.on('error', () => {});
      };
      try {
        return await withDeadline(build(route, track), connectTimeoutMs, () => {
          const message = `no connection within ${connectTimeoutMs / 1000} s`;
          throw new UnavailableError(message, { reason: 'timeout', sent: false });
        });
      } catch (error) {
        destroyAll(opened);
        throw toUnavailable(error as Error, { sent: false });
      }
    },
    close() {
      destroyAll(open);
    },
  };
}

/** Last opened first: Node 20 crashes if a socket is destroyed under the TLS that runs on it. */
function destroyAll(sockets: Iterable<Socket>): void {
  for (const socket of [...sockets].reverse()) socket.destroy();
}

type Track = (socket: Socket) => void;

async function build(route: Route, track: Track): Promise<Socket> {
  const { origin, proxy, isForwarded, secure, secureProxy } = route;
  const host = bareHost(origin.hostname);
  const port = portOf(origin);
  const socket = proxy ? await reachProxy(proxy, secureProxy, track) : await connected(host, port, track);
  if (proxy && !isForwarded)
    await openTunnel(socket, proxy, `${isIP(host) === 6 ? `[${host}]` : host}:${port}`);
  return origin.protocol === 'https:' ? await secure(socket, host, track) : socket;
}

async function reachProxy(proxy: HttpProxy, secure: Secure, track: Track): Promise<Socket> {
  try {
    const socket = await connected(proxy.host, proxy.port, track);
    return proxy.secure ? await secure(socket, proxy.host, track) : socket;
  } catch (error) {
    const { message, reason, details } = toUnavailable(error as Error, { sent: false });
    const retryable = reason !== 'tls' && details.retryable !== false;
    throw proxyError(proxy, `cannot be reached: ${message}`, { retryable });
  }
}

function connected(host: string, port: number, track: Track): Promise<Socket> {
  const socket = connectTcp({ host: reachableHost(host), port, noDelay: true, keepAlive: true });
  track(socket);
  return ready(socket, 'connect');
}

/** Starts TLS on a socket that is connected to the host. */
type Secure = (socket: Socket, host: string, track: Track) => Promise<Socket>;

/** Reads the certificates once, and only if TLS is used. */
function createSecure(files: TlsFiles, env: TransportOptions['env']): Secure {
  let context: Promise<SecureContext> | undefined;
  return async (socket, host, track) => {
    const { connect } = await import('node:tls');
    context ??= import('./tls.ts').then(({ createTlsContext }) => createTlsContext(files, env));
    const secureContext = await context;
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const secured = connect({ socket, host, secureContext, ALPNProtocols: ['http/1.1'], ...servername });
    track(secured);
    return ready(secured, 'secureConnect');
  };
}

function ready(socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve(socket));
    socket.once('error', reject);
    socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
  });
}

/**
 * Asks a proxy, on a connected socket, for a tunnel to a host; the socket then leads to that host.
 *
 * @throws UnavailableError `proxy` if it refuses, closes the connection or uses another protocol.
 */
async function openTunnel(socket: Socket, proxy: HttpProxy, authority: string): Promise<void> {
  const { request } = await import('node:http');
  const authorization = proxy.authorization && { 'proxy-authorization': proxy.authorization };
  const asking = request({
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...authorization },
    createConnection: () => socket,
  });
  asking.removeHeader('connection');
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    asking.on('connect', (answer, _, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve(answer);
    });
    asking.on('error', (error) => reject(tunnelError(proxy, error)));
    asking.end();
  });
  const { statusCode: status = 0, statusMessage } = answer;
  if (status >= 200 && status < 300) return;
  throw refusedByProxy(proxy, `answered CONNECT ${authority} with`, status, statusMessage);
}

function refusedByProxy(proxy: HttpProxy, what: string, status: number, reason = ''): UnavailableError {
  const hint = proxy.authorization
    ? `it does not accept the user name and password of ${proxy.source}`
    : `it wants a user name and a password, as in ${proxy.source}=http://user:password@${proxy.host}:${proxy.port}`;
  const details = { retryable: status >= 500, hint: status === 407 ? hint : undefined };
  return proxyError(proxy, `${what} ${status} ${reason}`.trimEnd(), details);
}

function tunnelError(proxy: HttpProxy, error: Error): UnavailableError {
  const { reason, message } = toUnavailable(error, { sent: false });
  if (reason === 'invalid-response')
    return proxyError(proxy, 'does not answer like an http proxy', { retryable: false });
  const isClosed = error.message === 'socket hang up';
  return proxyError(proxy, isClosed ? 'closed the connection' : `failed: ${message}`, { retryable: true });
}

/** The error of a failed proxy. */
function proxyError(
  proxy: HttpProxy,
  why: string,
  details: Pick<ErrorDetails, 'retryable' | 'hint'>,
): UnavailableError {
  const message = `the proxy ${proxy.shown} (${proxy.source}) ${why}`;
  return new UnavailableError(message, { ...details, reason: 'proxy', sent: false });
}
