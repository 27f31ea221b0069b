import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { bareHost } from '../../api/host.ts';
import { withDeadline } from '../../deadline.ts';
import { UnavailableError } from '../../errors.ts';
import { toUnavailable } from './failure.ts';
import { findProxy, type HttpProxy, portOf } from './proxy.ts';
import { openTunnel, proxyError } from './tunnel.ts';

/** PEM texts. */
export interface TlsFiles {
  /** Authorities to trust, beside those that are trusted anyway. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** How to reach a service, whichever transport does it. */
export interface TransportOptions {
  readonly tls: TlsFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Most sockets at a time. */
  readonly connections: number;
  /** Longest that making one connection may take, to its first free use. */
  readonly connectTimeoutMs: number;
}

/** How one origin is reached. */
export interface Route {
  readonly url: URL;
  readonly proxy: HttpProxy | undefined;
  /** The proxy takes whole requests, with absolute URLs, and passes them on: what one does for plain http. */
  readonly isForwarded: boolean;
}

/** Makes connections; they end with it. */
export interface Dialer {
  route(url: URL): Route;
  /** A socket on which the first byte of a request may be sent: connected, tunnelled, secured. */
  dial(route: Route): Promise<Socket>;
  close(): void;
}

export function createDialer(options: TransportOptions): Dialer {
  const secure = createSecure(options);
  const open = new Set<Socket>();
  return {
    route(url) {
      const proxy = findProxy(url, options.env);
      return { url, proxy, isForwarded: proxy !== undefined && url.protocol === 'http:' };
    },
    dial: (route) =>
      within(options.connectTimeoutMs, (track) =>
        build(route, secure, (socket) => {
          track(socket);
          open.add(socket);
          socket.on('close', () => open.delete(socket));
          // Between one user and the next nobody listens; an error then is told by the close.
          socket.on('error', () => {});
        }),
      ),
    close() {
      destroyAll(open);
    },
  };
}

type Track = (socket: Socket) => void;

async function build(route: Route, secure: Secure, track: Track): Promise<Socket> {
  const { url, proxy, isForwarded } = route;
  const host = bareHost(url.hostname);
  const port = portOf(url);
  const socket = proxy ? await reachProxy(proxy, secure, track) : await connected(host, port, track);
  if (proxy && !isForwarded)
    await openTunnel(socket, proxy, `${isIP(host) === 6 ? `[${host}]` : host}:${port}`);
  return url.protocol === 'https:' ? await secure(socket, host, track) : socket;
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
  const socket = connectTcp({ host, port, noDelay: true, keepAlive: true });
  track(socket);
  return ready(socket, 'connect');
}

/** Starts TLS on a socket that is connected to the host. */
type Secure = (socket: Socket, host: string, track: Track) => Promise<Socket>;

/** The certificates are read once, and only where TLS is spoken. */
function createSecure({ tls, env }: TransportOptions): Secure {
  let opened: ReturnType<typeof openSecureContext> | undefined;
  return async (socket, host, track) => {
    opened ??= openSecureContext(tls, env);
    const { connectTls, secureContext } = await opened;
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const secured = connectTls({ socket, host, secureContext, ALPNProtocols: ['http/1.1'], ...servername });
    track(secured);
    return ready(secured, 'secureConnect');
  };
}

async function openSecureContext(files: TlsFiles, env: TransportOptions['env']) {
  const [{ connect: connectTls }, { createContext }] = await Promise.all([
    import('node:tls'),
    import('./tls.ts'),
  ]);
  return { connectTls, secureContext: createContext(files, env) };
}

function ready(socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve(socket));
    socket.once('error', reject);
    socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
  });
}

/** Bounds the making of a connection; what has been opened for one that fails or takes too long is closed. */
async function within(timeoutMs: number, make: (track: Track) => Promise<Socket>): Promise<Socket> {
  const opened: Socket[] = [];
  try {
    return await withDeadline(
      make((socket) => opened.push(socket)),
      timeoutMs,
      () => {
        throw tooLate(timeoutMs);
      },
    );
  } catch (error) {
    destroyAll(opened);
    throw toUnavailable(error as Error, { sent: false });
  }
}

/** The last first: Node 20 crashes where a socket is destroyed under the TLS that runs on it. */
function destroyAll(sockets: Iterable<Socket>): void {
  for (const socket of [...sockets].reverse()) socket.destroy();
}

function tooLate(timeoutMs: number): UnavailableError {
  return new UnavailableError(`no connection within ${timeoutMs / 1000} s`, {
    reason: 'timeout',
    sent: false,
  });
}
