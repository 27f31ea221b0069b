import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CliError } from '../process/errors.ts';
import { systemReason } from '../process/system-error.ts';
import { createApp, type SlowApp } from './app.ts';
import { withDocuments } from './documents.ts';
import { answerRequests, type ExchangeOptions } from './exchange.ts';
import { createRandom } from './seed.ts';
import { type Faults, withCors, withFaults, withoutWrites, withToken } from './serve-options.ts';
import type { Store } from './store.ts';

interface ServerOptions extends ListenOptions {
  readonly store: Store;
  readonly readOnly?: boolean | undefined;
  /** Requests to the API must bear it. */
  readonly token?: string | undefined;
  readonly faults?: Faults | undefined;
}

export interface ListenOptions extends ExchangeOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Override the default limits. */
  readonly limits?: Partial<typeof usualLimits> | undefined;
}

export interface Listening {
  readonly url: string;
  /** Waits at most a second for the requests in progress. */
  close(): Promise<void>;
}

/** Limits for clients: milliseconds, and a count. */
const usualLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  /** For a connection without traffic, for example because the client does not read its response. */
  idleTimeoutMs: 120_000,
  connections: 256,
};

/** How long closing waits for pending responses. */
const graceMs = 1000;

/** Starts the local server: the app with its faults and its documents, on a socket. */
export function startServer(options: ServerOptions): Promise<Listening> {
  const { store, readOnly, token, origins, faults = {} } = options;
  const whole = createApp({ ...options, store: () => store });
  const app = readOnly ? withoutWrites(whole) : whole;
  // The same requests meet the same faults.
  const faulty = withFaults(token === undefined ? app : withToken(app, token), faults, createRandom(1));
  const documented = withDocuments(faulty, options);
  return listen(origins ? withCors(documented, origins) : documented, options);
}

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
    // A request without Host is answered with the service's own Error body.
    requireHostHeader: false,
  });
  server.maxConnections = limits.connections;
  answerRequests(server, app, options);
  server.setTimeout(limits.idleTimeoutMs);
  const { host, port } = options;
  await once(server.listen({ host, port }), 'listening').catch((error) => {
    throw toListenError(error, `${host}:${port}`);
  });
  return {
    url: `http://${authorityOf(host)}:${(server.address() as AddressInfo).port}`,
    close: () => close(server),
  };
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

/** The host part of the server's URL. A server that listens on every address can be reached on 127.0.0.1. */
function authorityOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** Waits for the responses in progress. Node keeps connections open for further requests: those end with the grace. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const end = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(end);
      resolve();
    });
  });
}
