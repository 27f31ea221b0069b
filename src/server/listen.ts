import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { CliError } from '../errors.ts';
import { systemReason } from '../system-error.ts';
import type { SlowApp } from './faults.ts';
import { createGuard } from './guard.ts';
import { answerRequests, type ListenerOptions } from './listener.ts';

export interface ListenOptions extends ListenerOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Override the default limits. */
  readonly limits?: Partial<Limits> | undefined;
}

/** Limits for clients: milliseconds, and a count. */
interface Limits {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** For a connection without traffic, for example because the client does not read its response. */
  readonly idleTimeoutMs: number;
  readonly connections: number;
}

export interface Listening {
  readonly url: string;
  /** Waits at most a second for the requests in progress. */
  close(): Promise<void>;
}

const usualLimits: Limits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 120_000,
  connections: 256,
};

/** How long closing waits for pending responses. */
const graceMs = 1000;
const sweepMs = 20;

/**
 * Serves the app over HTTP/1.1.
 *
 * @throws CliError `failed` if it cannot listen on the address.
 */
export async function listen(app: SlowApp, options: ListenOptions): Promise<Listening> {
  const limits = { ...usualLimits, ...options.limits };
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    // How often Node looks for requests that have taken too long.
    connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs),
    // The guard refuses a request without Host, in the service's own words.
    requireHostHeader: false,
  });
  server.maxConnections = limits.connections;
  answerRequests(server, app, createGuard(options.host), options);
  const connections = trackConnections(server, limits.idleTimeoutMs);
  await bind(server, options);
  const { port } = server.address() as AddressInfo;
  return { url: `http://${authorityOf(options.host)}:${port}`, close: () => close(server, connections) };
}

function bind(server: Server, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(toListenError(error, `${host}:${port}`)));
    server.listen({ host, port }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

const hints: Readonly<Record<string, string>> = {
  EADDRINUSE: 'stop what listens there, or use another --port; --port 0 takes a free one',
  EACCES: 'use a --port above 1023',
  EADDRNOTAVAIL: 'give --host an address of this machine',
  ENOTFOUND: 'give --host an address of this machine',
};

function toListenError(error: NodeJS.ErrnoException, address: string): CliError {
  return new CliError('failed', `listen on ${address}: ${systemReason(error, 'listening')}`, {
    hint: hints[error.code ?? ''],
    cause: error,
  });
}

/** The host part of a URL that reaches what listens on `host`; on every address means on this machine's own too. */
function authorityOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function close(server: Server, connections: Connections): Promise<void> {
  return new Promise((resolve) => {
    const end = setTimeout(() => server.closeAllConnections(), graceMs);
    // A connection becomes idle after its response: Node would keep it open for the client's next request.
    const sweep = setInterval(() => server.closeIdleConnections(), sweepMs);
    server.close(() => {
      clearTimeout(end);
      clearInterval(sweep);
      resolve();
    });
    connections.stop();
  });
}

interface Connections {
  /** Ends the watch, and the connections on which no request has begun: Node does not count these as idle. */
  stop(): void;
}

/**
 * Ends the connections of a server on which nothing moves for `idleTimeoutMs`, or up to twice as long: a client that does
 * not read its response would keep one for ever. Node's own timeout for that is set again with every request, which takes
 * a tenth of the time of a request.
 */
function trackConnections(server: Server, idleTimeoutMs: number): Connections {
  const bytesMoved = new Map<Socket, number>();
  server.on('connection', (socket: Socket) => {
    bytesMoved.set(socket, 0);
    socket.once('close', () => bytesMoved.delete(socket));
  });
  const sweep = setInterval(() => {
    for (const [socket, before] of bytesMoved) {
      const now = socket.bytesRead + socket.bytesWritten;
      if (now === before) socket.destroy();
      else bytesMoved.set(socket, now);
    }
  }, idleTimeoutMs).unref();
  return {
    stop() {
      clearInterval(sweep);
      for (const socket of bytesMoved.keys()) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}
