import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { bareHost, type HttpFields, type HttpResponse, isLoopbackHost } from '../api/http.ts';
import { monotonicMs } from '../process/deadline.ts';
import type { SlowApp } from './app.ts';
import { maxBodyBytes, methodNotAllowed, payloadTooLarge, Refusal, toRefusal } from './refusal.ts';

/** A request and how it was answered. */
export interface Exchange {
  readonly method: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly status: number;
  readonly elapsedMs: number;
}

export interface ExchangeOptions {
  /** The address that the server listens on. */
  readonly host: string;
  /** Other origins whose pages may use the server. */
  readonly origins?: readonly string[] | undefined;
  /** Called after every response. */
  onExchange?: ((exchange: Exchange) => void) | undefined;
  /** Called with an error that is not a Refusal: a defect of the server. */
  onDefect?: ((error: unknown) => void) | undefined;
}

/** The newest response of a connection. A property, because a WeakMap that changes with every request costs more. */
const newest = Symbol('newest');
type Connection = Socket & { [newest]?: ServerResponse };

/**
 * Answers every request of a server with the app. Requests on one connection are answered one after the other: a client
 * that pipelines cannot make the server hold more than one response, and a read sees the write before it.
 */
export function answerRequests(server: Server, app: SlowApp, options: ExchangeOptions): void {
  const { host, origins, onExchange, onDefect } = options;
  const service = { app, guard: createGuard(host, origins), onDefect };
  for (const event of ['request', 'checkContinue', 'checkExpectation'])
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      if (onExchange) watch(request, response, onExchange);
      const connection: Connection = request.socket;
      const before = connection[newest];
      connection[newest] = response;
      after(before, connection, () => receive(service, event, request, response));
    });
  server.on('connect', ({ socket }: { socket: Connection }) => {
    const refusal = methodNotAllowed('this server is not a proxy', ['GET', 'POST', 'PUT', 'DELETE']);
    after(socket[newest], socket, () => endWith(socket, refusal));
  });
  server.on('clientError', refuseMalformed);
}

/** What answers a request. */
interface Service {
  readonly app: SlowApp;
  readonly guard: Guard;
  readonly onDefect: ExchangeOptions['onDefect'];
}

/** @param event of Node's server: `request`, or what the client expects before it sends the body. */
function receive(service: Service, event: string, request: IncomingMessage, response: ServerResponse): void {
  const withBody = hasBody(request);
  try {
    const url = urlOf(request, service.guard);
    if (event === 'checkExpectation')
      throw new Refusal('expectation_failed', 'the only expectation that can be met is 100-continue');
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw payloadTooLarge();
    if (event === 'checkContinue') response.writeContinue();
    if (withBody) receiveBody(request, response, (body) => answer(service, request, response, url, body));
    else answer(service, request, response, url);
  } catch (error) {
    if (error instanceof Refusal && withBody) refuseEarly(request, response, error);
    else fail(service, response, error);
  }
}

function answer(
  service: Service,
  { method = '', headers }: IncomingMessage,
  response: ServerResponse,
  url: string,
  body?: Buffer,
): void {
  try {
    const answered = service.app({ method, url, fields: headers as HttpFields, body });
    if (answered instanceof Promise)
      answered.then((late) => send(response, late)).catch((error) => fail(service, response, error));
    else send(response, answered);
  } catch (error) {
    fail(service, response, error);
  }
}

function fail({ onDefect }: Service, response: ServerResponse, error: unknown): void {
  send(response, toRefusal(error, onDefect).toResponse());
}

/** Answers what Node's parser refuses, in its turn, and ends the connection. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Connection): void {
  const last = socket[newest];
  // The client sent more after a request with `Connection: close`: its response ends the connection.
  if (error.code === 'HPE_CLOSED_CONNECTION') return;
  if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
  else if (!last || last.req.complete) after(last, socket, () => endWith(socket, parserRefusal(error)));
  else if (!last.headersSent) send(last.setHeader('connection', 'close'), parserRefusal(error).toResponse());
}

/** Acts when the response before has been sent, unless the connection has ended with it. */
function after(before: ServerResponse | undefined, socket: Socket, act: () => void): void {
  if (!before || before.writableFinished) act();
  else before.once('close', () => socket.destroyed || act());
}

/** Checks the Host and the Origin of a request. @throws Refusal */
type Guard = (host: string, origin: string | undefined) => void;

/** The host, and the port that may follow it. */
const authority = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::\d*)?$/i;

/**
 * Creates a check that refuses requests for other hosts and from other origins. It prevents DNS rebinding, which lets a
 * page of a foreign site reach a server on the visitor's machine under the foreign site's name.
 *
 * @param listensOn the address that the server listens on.
 * @param origins others whose pages may use it.
 */
function createGuard(listensOn: string, origins: readonly string[] = []): Guard {
  const own = bareHost(listensOn);
  // A server that listens on every address has any of them; a name, which could be rebound, is still refused.
  const isWildcard = own === '0.0.0.0' || own === '::';
  const isOwn = (value: string): boolean => {
    const name = bareHost(authority.exec(value)?.[1] ?? '');
    return isLoopbackHost(name) || name === own || (isWildcard && isIP(name) !== 0);
  };
  let lastOwn: string | undefined;
  return (host, origin) => {
    if (host !== lastOwn && !isOwn(host))
      throw new Refusal('misdirected_request', `Host ${host || '(none)'} is not this server`);
    lastOwn = host;
    if (origin !== undefined && !origins.includes(origin) && !isOwn(origin.replace(/^https?:\/\//i, '')))
      throw new Refusal('forbidden_origin', `a page of ${origin} may not use this server (see --cors)`);
  };
}

/** The absolute URL of a request. @throws Refusal if there is none, or if it is not of this server. */
function urlOf({ url = '', headers, rawHeaders, httpVersionMajor }: IncomingMessage, guard: Guard): string {
  if (httpVersionMajor !== 1)
    throw new Refusal('version_not_supported', 'this server speaks HTTP/1.1', { connection: 'close' });
  if (hasTwoHosts(rawHeaders))
    throw new Refusal('malformed_request', 'Host is given twice', { connection: 'close' });
  if (url.startsWith('/')) {
    guard(headers.host ?? '', headers.origin);
    return `http://${headers.host}${url}`;
  }
  // A whole URL as the target takes precedence over the Host field: RFC 9112, 3.2.2.
  const [, host, path = '/'] = /^http:\/\/([^/?#]+)(\/.*)?$/i.exec(url) ?? [];
  if (host === undefined) throw new Refusal('malformed_request', 'the target of a request must begin with /');
  guard(host, headers.origin);
  return `http://${host}${path}`;
}

/** RFC 9112, 3.2: such a request is answered with 400. Node keeps the first in `headers`. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') hosts += 1;
  return hosts > 1;
}

/** Node leaves the body out if the request was HEAD. */
function send(response: ServerResponse, { status, fields, body }: HttpResponse): void {
  const flat: unknown[] = [];
  for (const name in fields) flat.push(name, fields[name]);
  const length = Buffer.byteLength(body);
  if (status !== 204) flat.push('content-length', length);
  // Text that is all ASCII is sent faster as latin1.
  response.writeHead(status, flat as string[]).end(body, length === body.length ? 'latin1' : 'utf8');
}

function hasBody({ headers }: IncomingMessage): boolean {
  return (
    headers['transfer-encoding'] !== undefined ||
    (headers['content-length'] !== undefined && headers['content-length'] !== '0')
  );
}

/** Passes the whole body on, or refuses one that is too large. */
function receiveBody(request: IncomingMessage, response: ServerResponse, take: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const onEnd = () => take(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size <= maxBodyBytes) return;
    request.off('data', onData).off('end', onEnd);
    refuseEarly(request, response, payloadTooLarge());
  };
  request.on('data', onData).on('end', onEnd);
}

/** The longest time that a client gets to send the rest of a refused body, so that it can read why. */
const lingerMs = 1000;

/**
 * Refuses a request before its body has arrived. Ending the connection at once would reset it, and the client might never
 * see the response. So the response is sent in full, and the rest of the body is discarded for a moment.
 */
function refuseEarly(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  const { status, fields, body } = refusal.toResponse();
  response.writeHead(status, { ...fields, 'content-length': Buffer.byteLength(body), connection: 'close' });
  response.write(body);
  const timer = setTimeout(end, lingerMs);
  function end(): void {
    clearTimeout(timer);
    response.end();
  }
  request.once('end', end).once('close', end).resume();
}

/** Answers bytes that Node does not pass on as a request, and ends the connection. */
function endWith(socket: Socket, refusal: Refusal): void {
  if (!socket.writable) return;
  const { status, fields, body } = refusal.toResponse();
  const head = Object.entries({ ...fields, 'content-length': Buffer.byteLength(body), connection: 'close' });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`, () => socket.destroy());
}

function parserRefusal({ code }: NodeJS.ErrnoException): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal('request_timeout', 'the request took too long');
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal('headers_too_large', 'the headers are too large');
  return new Refusal('malformed_request', 'that is not an HTTP request');
}

function watch(request: IncomingMessage, response: ServerResponse, tell: (exchange: Exchange) => void): void {
  const started = monotonicMs();
  response.once('close', () => {
    const { method = '', url: target = '' } = request;
    tell({ method, target, status: response.statusCode, elapsedMs: monotonicMs() - started });
  });
}
