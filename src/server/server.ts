import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { bareHost, type HttpHeaders, type HttpResponse, isLoopbackHost, isSafeMethod } from '../api/http.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError, systemCode, systemReason } from '../process/errors.ts';
import { type App, createApp } from './app.ts';
import { maxBodyBytes, Refusal } from './refusal.ts';
import type { Store } from './store.ts';
import { type Faults, withCors, withDocuments, withFaults, withoutWrites, withToken } from './wrappers.ts';

interface ServerOptions extends ListenOptions {
  readonly store: Store;
  readonly readOnly?: boolean | undefined;
  /** The token that a request to the API must carry. */
  readonly token?: string | undefined;
  readonly faults?: Faults | undefined;
}

interface ListenOptions {
  /** The address to listen on. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Further origins whose pages may use the server. */
  readonly origins?: readonly string[] | undefined;
  /** Called after every response. */
  onExchange?: ((exchange: Exchange) => void) | undefined;
  /** Called with an error that is not a Refusal: a defect of the server. */
  onDefect?: ((error: unknown) => void) | undefined;
}

/** A request, and the status and the time of its response. */
export interface Exchange {
  readonly method: string;
  /** The path and the query, as they came. */
  readonly target: string;
  readonly status: number;
  readonly elapsedMs: number;
}

export interface RunningServer {
  readonly url: string;
  /** Waits at most a second for the requests in progress. */
  close(): Promise<void>;
}

/** The longest time that closing waits for pending responses. */
const closingGraceMs = 1000;

/** Starts the local server: the app of the store, with its faults and its documents, on a socket. */
export function startServer(options: ServerOptions): Promise<RunningServer> {
  const { store, readOnly, token, origins, faults = {} } = options;
  let app: App = createApp(() => store);
  if (readOnly) app = withoutWrites(app);
  if (token !== undefined) app = withToken(app, token);
  app = withFaults(app, faults);
  app = withDocuments(app, readOnly);
  if (origins) app = withCors(app, origins);
  return listen(app, options);
}

/** Serves the app over HTTP/1.1. @throws CliError `failed` if it cannot listen on the address. */
export async function listen(app: App, options: ListenOptions): Promise<RunningServer> {
  const { host, port, origins = [], onExchange, onDefect } = options;
  const server = createServer();
  const guard = createGuard(bareHost(host), origins);
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    if (onExchange) reportExchange(request, response, onExchange);
    const { method = '', url = '', headers } = request;
    try {
      // The body is read even if the request is refused: a client that is cut off would not see the answer.
      const body = isSafeMethod(method) ? undefined : await receiveBody(request);
      guard(headers);
      const appResponse = app({
        method,
        url: `http://${headers.host}${url}`,
        headers: headers as HttpHeaders,
        body,
      });
      send(response, appResponse instanceof Promise ? await appResponse : appResponse);
    } catch (error) {
      if (!(error instanceof Refusal)) onDefect?.(error);
      const refusal =
        error instanceof Refusal ? error : new Refusal('internal', 'the server failed on this request');
      send(response, refusal.toResponse());
    }
  };
  server.on('request', respond);
  server.on('clientError', (error, socket) => {
    // The client may have gone.
    if (!socket.writable) return;
    const { status, body } = unreadableRequest(systemCode(error)).toResponse();
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json`;
    socket.end(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  });
  await once(server.listen({ host, port }), 'listening').catch((error) => {
    throw new CliError('failed', `listen on ${host}:${port}: ${systemReason(error)}`, {
      cause: error,
      hint: systemCode(error) === 'EADDRINUSE' ? '--port 0 takes a free one' : undefined,
    });
  });
  return {
    url: `http://${urlHost(host)}:${(server.address() as AddressInfo).port}`,
    // Node keeps idle connections open for further requests, so they are closed here.
    async close() {
      const timer = setTimeout(() => server.closeAllConnections(), closingGraceMs);
      await new Promise((resolve) => server.close(resolve));
      clearTimeout(timer);
    },
  };
}

/** Returns the refusal of a request that Node's parser cannot read. @param code of the error. */
function unreadableRequest(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal('headers_too_large', 'the headers are too large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal('request_timeout', 'the request took too long');
  return new Refusal('invalid_request', 'the request is not valid HTTP/1.1');
}

/** Returns the host for the server's URL. For a server on every address it is the loopback address of the same family. */
function urlHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  // A machine may have no IPv4 address.
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

/** Matches a host, with or without a port. @see RFC 3986, 3.2.2 */
const authority = /^(\[[\da-f:.]+\]|(?:[\w-]+\.)*[\w-]+\.?)(?::\d{0,5})?$/i;

/**
 * Creates a function that refuses requests for other hosts and from pages of other origins. That prevents DNS rebinding: a
 * page of a foreign site reaches a server on the visitor's machine under the name of the foreign site.
 *
 * @param ownName the address or the name that the server listens on.
 * @param origins further origins whose pages may use the server.
 * @returns a function that throws a Refusal.
 */
function createGuard(ownName: string, origins: readonly string[]) {
  // A server that listens on every address accepts any address, but no name, because a name could be rebound.
  const isWildcard = ownName === '0.0.0.0' || ownName === '::';
  const isThisServer = (value: string): boolean => {
    const name = bareHost(authority.exec(value)?.[1] ?? '');
    return name === ownName || isLoopbackHost(name) || (isWildcard && isIP(name) !== 0);
  };
  let acceptedHost: string | undefined;
  return ({ host = '', origin }: IncomingMessage['headers']): void => {
    // Clients send the same Host with each request.
    if (host !== acceptedHost && !isThisServer(host))
      throw new Refusal('misdirected_request', `Host ${host || '(none)'} is not this server (see --host)`);
    acceptedHost = host;
    const isAllowed =
      origin === undefined || origins.includes(origin) || isThisServer(origin.replace(/^https?:\/\//i, ''));
    if (!isAllowed)
      throw new Refusal('forbidden_origin', `this server refuses pages of ${origin} (see --cors)`);
  };
}

/** Reads the body. If it is too large, keeps only enough of it for the app to refuse it. */
function receiveBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    if (size <= maxBodyBytes) chunks.push(chunk);
    size += chunk.length;
  });
  return new Promise((resolve) =>
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))),
  );
}

/** Sends a response. Node leaves out the body if the method was HEAD. */
function send(response: ServerResponse, { status, headers, body }: HttpResponse): void {
  const flat: unknown[] = [];
  for (const name in headers) flat.push(name, headers[name]);
  const length = Buffer.byteLength(body);
  if (status !== 204) flat.push('content-length', length);
  response.writeHead(status, flat as string[]).end(body, length === body.length ? 'latin1' : 'utf8');
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
