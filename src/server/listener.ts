import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpFields, HttpResponse } from '../api/http.ts';
import { monotonicMs } from '../deadline.ts';
import type { SlowApp } from './faults.ts';
import { internalError, maxBodyBytes, methodNotAllowed, payloadTooLarge, Refusal } from './refusal.ts';
import { type TargetedRequest, toTarget } from './request.ts';

/** A request and how it was answered. */
export interface Exchange {
  readonly method: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly status: number;
  readonly elapsedMs: number;
}

export interface ListenerOptions {
  /** Called after every response. */
  onExchange?: ((exchange: Exchange) => void) | undefined;
  onDefect?: ((error: unknown) => void) | undefined;
}

/** @throws Refusal for a request that was not meant for this server. */
type Guard = (fields: HttpFields) => void;

/** The newest response of a connection. A property, because a WeakMap that changes with every request costs more. */
const newest = Symbol('newest');
type Connection = Socket & { [newest]?: ServerResponse };

/**
 * Answers every request of a server with the app: those of one connection one after the other, so that a client that
 * pipelines cannot make the server hold more than one response for it, and a read sees the write before it.
 */
export function answerRequests(server: Server, app: SlowApp, guard: Guard, options: ListenerOptions): void {
  const inTurn = (request: IncomingMessage, response: ServerResponse, take: () => void): void => {
    if (options.onExchange) watch(request, response, options.onExchange);
    const connection: Connection = request.socket;
    const before = connection[newest];
    connection[newest] = response;
    if (!before || before.writableFinished) take();
    // The connection may have ended with the response before.
    else before.once('close', () => !request.socket.destroyed && take());
  };
  const fail = (response: ServerResponse) => (error: unknown) => {
    if (!(error instanceof Refusal)) options.onDefect?.(error);
    send(response, (error instanceof Refusal ? error : internalError()).toResponse());
  };
  const answer = (head: TargetedRequest, response: ServerResponse, body?: Uint8Array): void => {
    try {
      const { method, target, fields } = head;
      const answered = app({ method, target, fields, body });
      if (answered instanceof Promise) answered.then((late) => send(response, late)).catch(fail(response));
      else send(response, answered);
    } catch (error) {
      fail(response)(error);
    }
  };
  const receive = (request: IncomingMessage, response: ServerResponse, isWaiting: boolean): void => {
    const withBody = hasBody(request);
    try {
      const head = readHead(request, guard);
      if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw payloadTooLarge();
      if (isWaiting) response.writeContinue();
      if (!withBody) answer(head, response);
      else
        receiveBody(request, {
          whole: (body) => answer(head, response, body),
          tooLarge: () => refuseEarly(request, response, payloadTooLarge()),
        });
    } catch (error) {
      if (error instanceof Refusal && withBody) refuseEarly(request, response, error);
      else fail(response)(error);
    }
  };

  server.on('request', (request, response) =>
    inTurn(request, response, () => receive(request, response, false)),
  );
  server.on('checkContinue', (request, response) =>
    inTurn(request, response, () => receive(request, response, true)),
  );
  server.on('checkExpectation', (request, response) => {
    const refusal = new Refusal('expectation_failed', 'the only expectation that can be met is 100-continue');
    inTurn(request, response, () => refuseEarly(request, response, refusal));
  });
  server.on('connect', ({ socket }) => {
    const refusal = methodNotAllowed('this server is not a proxy', ['GET', 'POST', 'PUT', 'DELETE']);
    afterLast((socket as Connection)[newest], () => endWith(socket, refusal));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const last = (socket as Connection)[newest];
    // The client sent more after a request with `Connection: close`: its response ends the connection.
    if (error.code === 'HPE_CLOSED_CONNECTION') return;
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else if (!last || last.req.complete) afterLast(last, () => endWith(socket, toRefusal(error)));
    else if (!last.headersSent) send(last, toRefusal(error).toResponse(), 'close');
  });
}

/** Calls `act` when the response is out: bytes that are not HTTP do not take the response of a good request away. */
function afterLast(last: ServerResponse | undefined, act: () => void): void {
  if (!last || last.writableFinished) act();
  else last.once('close', act);
}

/** The head of a request as the app takes it. @throws Refusal */
function readHead(request: IncomingMessage, guard: Guard): TargetedRequest {
  const { method = '', url = '', rawHeaders } = request;
  if (request.httpVersionMajor !== 1)
    throw new Refusal('version_not_supported', 'this server speaks HTTP/1.1', { connection: 'close' });
  if (hasTwoHosts(rawHeaders))
    throw new Refusal('malformed_request', 'Host is given twice', { connection: 'close' });
  const fields = request.headers as HttpFields;
  if (url.startsWith('/')) {
    guard(fields);
    return { method, target: toTarget(`http://${request.headers.host}`, url), fields };
  }
  // A whole URL as the target takes precedence over the Host field: RFC 9112, 3.2.2.
  const [, host, path] = /^http:\/\/([^/?#]+)(\/.*)?$/i.exec(url) ?? [];
  if (host === undefined) throw new Refusal('malformed_request', 'the target of a request must begin with /');
  guard({ ...fields, host });
  return { method, target: toTarget(`http://${host}`, path ?? '/'), fields: { ...fields, host } };
}

/** RFC 9112, 3.2: such a request is answered with 400. Node keeps the first in `headers`. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let isFound = false;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (isFound) return true;
    isFound = true;
  }
  return false;
}

/** Node leaves the body out if the request was HEAD. */
function send(
  response: ServerResponse,
  { status, fields, body }: HttpResponse,
  connection?: 'close' | undefined,
): void {
  const flat: unknown[] = [];
  for (const name in fields) flat.push(name, fields[name]);
  if (connection) flat.push('connection', connection);
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

interface BodyReader {
  whole(body: Uint8Array): void;
  tooLarge(): void;
}

function receiveBody(request: IncomingMessage, { whole, tooLarge }: BodyReader): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const onEnd = () => whole(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size <= maxBodyBytes) return;
    request.off('data', onData).off('end', onEnd);
    tooLarge();
  };
  request.on('data', onData).on('end', onEnd);
}

/** The longest time that a client gets to send the rest of a refused body, so that it can read why. */
const lingerMs = 1000;

/**
 * Refuses a request before its body is here. To end the connection at once would reset it, and the client might never see
 * the response: so the whole response goes out, and for a moment what still comes is thrown away.
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

/** Answers what is not a request for Node, and ends the connection. */
function endWith(socket: Socket, refusal: Refusal): void {
  if (!socket.writable) return;
  const { status, fields, body } = refusal.toResponse();
  const head = Object.entries({ ...fields, 'content-length': Buffer.byteLength(body), connection: 'close' });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`, () => socket.destroy());
}

function toRefusal({ code }: NodeJS.ErrnoException): Refusal {
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
