import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { bareHost, type HttpFields, type HttpResponse, isLoopbackHost } from '../api/http.ts';
import { monotonicMs } from '../process/deadline.ts';
import type { SlowApp } from './app.ts';
import { maxBodyBytes, payloadTooLarge, Refusal, toRefusal } from './refusal.ts';

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

/** Answers every request of a server with the app; node:http orders the answers of a connection. */
export function answerRequests(server: Server, app: SlowApp, options: ExchangeOptions): void {
  const { host, origins, onExchange, onDefect } = options;
  const guard = createGuard(host, origins);
  server.on('request', (request, response) => {
    if (onExchange) watch(request, response, onExchange);
    const { method = '', headers } = request;
    const fail = (error: unknown) => send(response, toRefusal(error, onDefect).toResponse());
    receive(request, (body) => {
      try {
        const url = urlOf(request, guard);
        if (body === 'too large') throw payloadTooLarge();
        const answer = app({ method, url, fields: headers as HttpFields, body });
        if (answer instanceof Promise) answer.then((late) => send(response, late)).catch(fail);
        else send(response, answer);
      } catch (error) {
        fail(error);
      }
    });
  });
  server.on('checkExpectation', (_, response) => {
    const why = 'the only expectation that can be met is 100-continue';
    send(response.setHeader('connection', 'close'), new Refusal('expectation_failed', why).toResponse());
  });
  server.on('clientError', answerMalformed);
}

/** Checks the Host and the Origin of a request. @throws Refusal */
type Guard = (host: string, origin: string | undefined) => void;

/** The host, and the port that may follow it. @see RFC 3986, 3.2.2 */
const authority = /^(\[[\da-f:.]+\]|(?:[\w-]+\.)*[\w-]+\.?)(?::\d*)?$/i;

/**
 * Creates a check that refuses requests for other hosts and from other origins. It prevents DNS rebinding, which lets a
 * page of a foreign site reach a server on the visitor's machine under the foreign site's name.
 *
 * @param listensOn the address that the server listens on.
 * @param origins others whose pages may use it.
 */
function createGuard(listensOn: string, origins: readonly string[] = []): Guard {
  const serverHost = bareHost(listensOn);
  // A server that listens on every address accepts any address, but no name, because a name could be rebound.
  const isWildcard = serverHost === '0.0.0.0' || serverHost === '::';
  const isThisServer = (value: string): boolean => {
    const name = bareHost(authority.exec(value)?.[1] ?? '');
    return isLoopbackHost(name) || name === serverHost || (isWildcard && isIP(name) !== 0);
  };
  let lastHost: string | undefined;
  return (host, origin) => {
    if (host !== lastHost && !isThisServer(host))
      throw new Refusal('misdirected_request', `Host ${host || '(none)'} is not this server`);
    lastHost = host;
    if (
      origin !== undefined &&
      !origins.includes(origin) &&
      !isThisServer(origin.replace(/^https?:\/\//i, ''))
    )
      throw new Refusal('forbidden_origin', `a page of ${origin} may not use this server (see --cors)`);
  };
}

/** The absolute URL of a request. @throws Refusal if there is none, or if it is not of this server. */
function urlOf({ url = '', headers: { host = '', origin } }: IncomingMessage, guard: Guard): string {
  guard(host, origin);
  if (!url.startsWith('/'))
    throw new Refusal('malformed_request', 'the target of a request must begin with /');
  return `http://${host}${url}`;
}

/** Sends a response. Node leaves the body out if the request was HEAD. */
function send(response: ServerResponse, { status, fields, body }: HttpResponse): void {
  const flat: unknown[] = [];
  for (const name in fields) flat.push(name, fields[name]);
  const length = Buffer.byteLength(body);
  if (status !== 204) flat.push('content-length', length);
  // Text that is all ASCII is sent faster as latin1.
  response.writeHead(status, flat as string[]).end(body, length === body.length ? 'latin1' : 'utf8');
}

/** Reads the body to its end, even if it is too large: a client that is cut off would not see the answer. */
function receive(request: IncomingMessage, take: (body: Buffer | 'too large' | undefined) => void): void {
  if (request.method === 'GET' || request.method === 'HEAD') {
    take(undefined);
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
  });
  request.on('end', () => take(size > maxBodyBytes ? 'too large' : Buffer.concat(chunks)));
}

/** Answers bytes that Node does not pass on as a request, and ends the connection. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  // The client sent more after a request with `Connection: close`: its response ends the connection.
  if (error.code === 'HPE_CLOSED_CONNECTION') return;
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status, fields, body } = parserRefusal(error).toResponse();
  const head = Object.entries({ ...fields, 'content-length': Buffer.byteLength(body), connection: 'close' });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`, () => socket.destroy());
}

function parserRefusal({ code }: NodeJS.ErrnoException): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal('request_timeout', 'the request took too long');
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal('headers_too_large', 'the headers are too large');
  return new Refusal('malformed_request', 'that is not an HTTP request');
}

function watch(
  request: IncomingMessage,
  response: ServerResponse,
  report: (exchange: Exchange) => void,
): void {
  const started = monotonicMs();
  response.once('close', () => {
    const { method = '', url: target = '' } = request;
    report({ method, target, status: response.statusCode, elapsedMs: monotonicMs() - started });
  });
}
