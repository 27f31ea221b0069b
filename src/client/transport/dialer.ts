import type { IncomingMessage } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { bareHost, reachableHost } from '../../api/http.ts';
import { withinLimits } from '../../process/deadline.ts';
import { type CliError, unansweredError } from '../../process/errors.ts';
import { secondsText } from '../../process/text.ts';
import { findProxy, type HttpProxy, portOf, proxyError, refusedByProxy } from './proxy.ts';
import type { TlsFiles } from './tls.ts';
import { transportError } from './transport-error.ts';

export interface DialerOptions {
  /** A URL of the origin. */
  readonly baseUrl: string;
  readonly tls: TlsFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The time limit for one connection until it is ready for a request. */
  readonly connectTimeoutMs: number;
}

/** Opens connections to one origin; closing the dialer closes them. */
export class Dialer {
  readonly origin: URL;
  readonly proxy: HttpProxy | undefined;
  /** Whether the proxy forwards whole requests with absolute URLs, as for plain http. */
  readonly isForwarded: boolean;
  private readonly connectTimeoutMs: number;
  private readonly startTls: StartTls;
  private readonly startTlsWithProxy: StartTls;
  private readonly sockets = new Set<Socket>();

  /** @throws UsageError if the environment names a proxy that cannot be used. */
  constructor({ baseUrl, tls, env, connectTimeoutMs }: DialerOptions) {
    this.origin = new URL(baseUrl);
    this.proxy = findProxy(this.origin, env);
    this.isForwarded = this.proxy !== undefined && this.origin.protocol === 'http:';
    this.connectTimeoutMs = connectTimeoutMs;
    this.startTls = createStartTls(tls, env);
    // The client certificate is for the service alone.
    this.startTlsWithProxy = createStartTls({ roots: tls.roots, ca: tls.ca }, env);
  }

  /**
   * Opens a socket that is ready for a request: connected, tunnelled, secured.
   *
   * @param isSecured false for a socket without the TLS of the origin.
   * @throws CliError.
   */
  async dial(isSecured = this.origin.protocol === 'https:'): Promise<Socket> {
    const opened: Socket[] = [];
    const track = (socket: Socket): Socket => {
      opened.push(socket);
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      // Without a listener, an error between two requests would end the process. The close reports it later.
      socket.on('error', () => {});
      return socket;
    };
    try {
      const limitMs = this.connectTimeoutMs;
      const timedOut = () => unansweredError('timeout', `no connection within ${secondsText(limitMs)}`);
      return await withinLimits({ limitMs, timedOut }, () => this.open(track, isSecured));
    } catch (error) {
      destroyAll(opened);
      throw transportError(error as Error);
    }
  }

  close(): void {
    destroyAll(this.sockets);
  }

  private async open(track: Track, isSecured: boolean): Promise<Socket> {
    const { origin, proxy } = this;
    const host = bareHost(origin.hostname);
    const port = portOf(origin);
    const socket = proxy ? await this.reachProxy(proxy, track) : await openTcp(host, port, track);
    if (proxy && !this.isForwarded)
      await openTunnel(socket, proxy, `${isIP(host) === 6 ? `[${host}]` : host}:${port}`);
    return isSecured ? await this.startTls(socket, host, track) : socket;
  }

  private async reachProxy(proxy: HttpProxy, track: Track): Promise<Socket> {
    try {
      const socket = await openTcp(proxy.host, proxy.port, track);
      return proxy.isSecure ? await this.startTlsWithProxy(socket, proxy.host, track) : socket;
    } catch (error) {
      const { message, details } = transportError(error as Error);
      const retryable = details.reason !== 'tls' && details.retryable !== false;
      throw proxyError(proxy, `cannot be reached: ${message}`, { retryable });
    }
  }
}

/** Remembers a socket, so that the dialer closes it. */
type Track = (socket: Socket) => Socket;

/** Destroys the sockets, the last opened first: Node 20 crashes if a socket is destroyed under its TLS. */
function destroyAll(sockets: Iterable<Socket>): void {
  for (const socket of [...sockets].reverse()) socket.destroy();
}

function openTcp(host: string, port: number, track: Track): Promise<Socket> {
  const socket = connectTcp({ host: reachableHost(host), port, noDelay: true, keepAlive: true });
  return untilReady(track(socket), 'connect');
}

/** Starts TLS on a socket that is connected to the host. */
type StartTls = (socket: Socket, host: string, track: Track) => Promise<Socket>;

/** Reads the certificates once, and only if TLS is used. */
function createStartTls(files: TlsFiles, env: DialerOptions['env']): StartTls {
  let context: Promise<SecureContext> | undefined;
  return async (socket, host, track) => {
    const { connect } = await import('node:tls');
    context ??= import('./tls.ts').then(({ createTlsContext }) => createTlsContext(files, env));
    const secureContext = await context;
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const secured = connect({ socket, host, secureContext, ALPNProtocols: ['http/1.1'], ...servername });
    return untilReady(track(secured), 'secureConnect');
  };
}

function untilReady(socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve(socket));
    socket.once('error', reject);
    socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
  });
}

/**
 * Asks a proxy, on a connected socket, for a tunnel to a host; the socket then leads to that host.
 *
 * @throws CliError `proxy` if it refuses, closes the connection or uses another protocol.
 */
async function openTunnel(socket: Socket, proxy: HttpProxy, authority: string): Promise<void> {
  const http = await import('node:http');
  const authorization = proxy.authorization && { 'proxy-authorization': proxy.authorization };
  const request = http.request({
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...authorization },
    createConnection: () => socket,
  });
  request.removeHeader('connection');
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('connect', (message, _, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve(message);
    });
    request.on('error', (error) => reject(tunnelError(proxy, error)));
    request.end();
  });
  const { statusCode: status = 0, statusMessage } = response;
  if (status >= 200 && status < 300) return;
  throw refusedByProxy(proxy, `answered CONNECT ${authority} with`, status, statusMessage);
}

function tunnelError(proxy: HttpProxy, error: Error): CliError {
  const { message, details } = transportError(error);
  if (details.reason === 'invalid-response')
    return proxyError(proxy, 'does not answer like an http proxy', { retryable: false });
  const isClosed = error.message === 'socket hang up';
  return proxyError(proxy, isClosed ? 'closed the connection' : `failed: ${message}`, { retryable: true });
}
