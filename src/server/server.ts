import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import { bareHost, type HttpHeaders, type HttpResponse, isLoopbackHost, isRead } from '../api/http.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import { systemReason } from '../process/system-error.ts';
import { type App, createApp } from './app.ts';
import { withDocuments } from './documents.ts';
import { maxBodyBytes, Refusal, toRefusal } from './refusal.ts';
import { createRandom } from './seed.ts';
import { type Faults, withCors, withFaults, withoutWrites, withToken } from './serve-options.ts';
import type { Store } from './store.ts';

interface ServerOptions extends ListenOptions {
  readonly store: Store;
  readonly readOnly?: boolean | undefined;
  /** The token that a request to the API must bear. */
  readonly token?: string | undefined;
  readonly faults?: Faults | undefined;
}

export interface ListenOptions {
  /** The address to listen on. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Other origins whose pages may use the server. */
  readonly origins?: readonly string[] | undefined;
  /** Override the default limits. */
  readonly limits?: Partial<typeof usualLimits> | undefined;
  /** Called after every response. */
  onExchange?: ((exchange: Exchange) => void) | undefined;
  /** Called with an error that is not a Refusal: a defect of the server. */
  onDefect?: ((error: unknown) => void) | undefined;
}

/** A request and how it was answered. */
export interface Exchange {
  readonly method: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly status: number;
  readonly elapsedMs: number;
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
export async function listen(app: App, options: ListenOptions): Promise<Listening> {
  const { host, port, origins, onExchange, onDefect } = options;
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
  const checkCaller = createGuard(host, origins ?? []);
  server.on('request', async (request, response) => {
    if (onExchange) reportExchange(request, response, onExchange);
    const { method = '', url = '', headers } = request;
    try {
      // The body is read even if the request is refused: a client that is cut off would not see the answer.
      const body = isRead(method) ? undefined : await readBody(request);
      checkCaller(headers);
      if (!url.startsWith('/'))
        throw new Refusal('malformed_request', 'the target of a request must begin with /');
      const appResponse = app({
        method,
        url: `http://${headers.host}${url}`,
        headers: headers as HttpHeaders,
        body,
      });
      send(response, appResponse instanceof Promise ? await appResponse : appResponse);
    } catch (error) {
      send(response, toRefusal(error, onDefect).toResponse());
    }
  });
  server.on('clientError', answerMalformed);
  await once(server.listen({ host, port }), 'listening').catch((error) => {
    throw toListenError(error, `${host}:${port}`);
  });
  return {
    url: `http://${authorityOf(host)}:${(server.address() as AddressInfo).port}`,
    /** Node keeps connections open for further requests: those end with the grace. */
    async close() {
      const end = setTimeout(() => server.closeAllConnections(), graceMs);
      await new Promise((resolve) => server.close(resolve));
      clearTimeout(end);
    },
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

/** The host, and the port that may follow it. @see RFC 3986, 3.2.2 */
const authority = /^(\[[\da-f:.]+\]|(?:[\w-]+\.)*[\w-]+\.?)(?::\d{0,5})?$/i;

/**
 * Creates a check that refuses requests for other hosts and from other origins. It prevents DNS rebinding, which lets a
 * page of a foreign site reach a server on the visitor's machine under the foreign site's name.
 *
 * @param listensOn the address that the server listens on.
 * @param origins other origins whose pages may use the server.
 * @returns a function that throws a Refusal.
 */
function createGuard(listensOn: string, origins: readonly string[]) {
  const serverHost = bareHost(listensOn);
  // A server that listens on every address accepts any address, but no name, because a name could be rebound.
  const isWildcard = serverHost === '0.0.0.0' || serverHost === '::';
  const isThisServer = (value: string): boolean => {
    const name = bareHost(authority.exec(value)?.[1] ?? '');
    return name === serverHost || isLoopbackHost(name) || (isWildcard && isIP(name) !== 0);
  };
  return ({ host = '', origin }: IncomingMessage['headers']): void => {
    if (!isThisServer(host))
      throw new Refusal('misdirected_request', `Host ${host || '(none)'} is not this server`);
    const isAllowed =
      origin === undefined || origins.includes(origin) || isThisServer(origin.replace(/^https?:\/\//i, ''));
    if (!isAllowed)
      throw new Refusal('forbidden_origin', `a page of ${origin} may not use this server (see --cors)`);
  };
}

/** Keeps only as much of the body as shows the app that it is too large. */
function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    if (size <= maxBodyBytes) chunks.push(chunk);
    size += chunk.length;
  });
  return new Promise((resolve) => request.on('end', () => resolve(Buffer.concat(chunks))));
}

/** Node leaves the body out if the request was HEAD. */
function send(response: ServerResponse, { status, headers, body }: HttpResponse): void {
  const flat: unknown[] = [];
  for (const name in headers) flat.push(name, headers[name]);
  const length = Buffer.byteLength(body);
  if (status !== 204) flat.push('content-length', length);
  response.writeHead(status, flat as string[]).end(body, length === body.length ? 'latin1' : 'utf8');
}

/** Answers bytes that Node does not pass on as a request, and ends the connection. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  // The client sent more after a request with `Connection: close`: its response ends the connection.
  if (error.code === 'HPE_CLOSED_CONNECTION') return;
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status, headers, body } = parserRefusal(error).toResponse();
  const head = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`, () => socket.destroy());
}

function parserRefusal({ code }: NodeJS.ErrnoException): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal('request_timeout', 'the request took too long');
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal('headers_too_large', 'the headers are too large');
  return new Refusal('malformed_request', 'that is not an HTTP request');
}

function reportExchange(
  { method = '', url: target = '' }: IncomingMessage,
  response: ServerResponse,
  report: (exchange: Exchange) => void,
): void {
  const started = monotonicMs();
  response.once('close', () =>
    report({ method, target, status: response.statusCode, elapsedMs: monotonicMs() - started }),
  );
}
