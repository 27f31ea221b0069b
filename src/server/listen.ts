import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CliError } from '../errors.ts';
import type { SlowApp } from './faults.ts';
import { createGuard } from './guard.ts';
import { createListener, type ListenerOptions, refuseMalformed } from './listener.ts';

export interface ListenOptions extends Omit<ListenerOptions, 'guard'> {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

export interface Listening {
  readonly url: string;
  /** Lets the requests that are being answered end, for a second at most. */
  close(): Promise<void>;
}

const limits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** How often Node looks for requests that are over their time. */
  connectionsCheckingInterval: 1000,
  maxConnections: 256,
  /** A connection on which nothing moves, such as one whose client reads no answer. */
  idleMs: 120_000,
  graceMs: 1000,
} as const;

/**
 * Serves the app over HTTP/1.1.
 *
 * @throws CliError `failed` where the address cannot be listened on.
 */
export async function listen(app: SlowApp, options: ListenOptions): Promise<Listening> {
  const { headersTimeout, requestTimeout, connectionsCheckingInterval } = limits;
  const server = createServer({
    headersTimeout,
    requestTimeout,
    connectionsCheckingInterval,
    // The guard refuses a request without Host, in the service's own words.
    requireHostHeader: false,
  });
  server.maxConnections = limits.maxConnections;
  server.timeout = limits.idleMs;
  server.on('request', createListener(app, { ...options, guard: createGuard(options.host) }));
  server.on('clientError', refuseMalformed);
  await bind(server, options);
  const { port } = server.address() as AddressInfo;
  return { url: `http://${authorityOf(options.host)}:${port}`, close: () => close(server) };
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

const reasons: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  EADDRINUSE: [
    'the port is in use',
    'stop what listens there, or use another --port; --port 0 takes a free one',
  ],
  EACCES: ['this user may not listen there', 'use a --port above 1023'],
  EADDRNOTAVAIL: ['this machine does not have that address', 'give --host an address of this machine'],
  ENOTFOUND: ['that name has no address', 'give --host an address of this machine'],
};

function toListenError(error: NodeJS.ErrnoException, address: string): CliError {
  const [reason, hint] = reasons[error.code ?? ''] ?? [error.message, undefined];
  return new CliError('failed', `listen on ${address}: ${reason}`, { hint, cause: error });
}

/** The host part of a URL that reaches what listens on `host`; on every address means on this machine's own too. */
function authorityOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), limits.graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
