import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpFields, HttpRequest, HttpResponse } from '../api/http.ts';
import type { SlowApp } from './faults.ts';
import { internalError, maxBodyBytes, payloadTooLarge, Refusal } from './refusal.ts';

/** A request and how it was answered. */
export interface Exchange {
  readonly method: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly status: number;
  readonly elapsedMs: number;
}

export interface ListenerOptions {
  /** @throws Refusal for a request that was not meant for this server. */
  guard(fields: HttpFields): void;
  /** Told of every answer that was given. */
  onExchange?: ((exchange: Exchange) => void) | undefined;
  onDefect?: ((error: unknown) => void) | undefined;
}

/** Most milliseconds that a client gets to send the rest of a body that is refused, so that it can read why. */
const lingerMs = 1000;

/** Answers each request of a server with the app. */
export function createListener(app: SlowApp, options: ListenerOptions) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    if (options.onExchange) watch(request, response, options.onExchange);
    const answer = (make: () => HttpResponse | Promise<HttpResponse>) => answerWith(response, make, options);
    if (!hasBody(request)) answer(() => app(toRequest(request, options)));
    else
      readBody(request, {
        whole: (body) => answer(() => app(toRequest(request, options, body))),
        tooLarge: () => refuseBody(request, response),
      });
  };
}

/** Answers what is no HTTP, or came too slowly, and ends the connection. */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status, fields, body } = toRefusal(error).toResponse();
  const head = Object.entries({ ...fields, 'content-length': Buffer.byteLength(body), connection: 'close' });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`, () => socket.destroy());
}

function toRefusal({ code }: NodeJS.ErrnoException): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal('request_timeout', 'the request took too long');
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal('headers_too_large', 'the headers are too large');
  return new Refusal('malformed_request', 'that is no HTTP request');
}

function toRequest(request: IncomingMessage, { guard }: ListenerOptions, body?: Uint8Array): HttpRequest {
  const { method = '', url = '' } = request;
  const fields = request.headers as HttpFields;
  if (!url.startsWith('/')) return fromAbsolute(request, guard, body);
  guard(fields);
  return { method, url: `http://${request.headers.host}${url}`, fields, body };
}

/** A whole URL as the target outdoes the Host field. @see RFC 9112, 3.2.2 */
function fromAbsolute(
  { method = '', url = '', headers }: IncomingMessage,
  guard: ListenerOptions['guard'],
  body?: Uint8Array,
): HttpRequest {
  const [, host, path] = /^http:\/\/([^/?#]+)(\/.*)?$/i.exec(url) ?? [];
  if (host === undefined) throw new Refusal('malformed_request', 'the target of a request must begin with /');
  const fields = { ...headers, host } as HttpFields;
  guard(fields);
  return { method, url: `http://${host}${path ?? '/'}`, fields, body };
}

function answerWith(
  response: ServerResponse,
  make: () => HttpResponse | Promise<HttpResponse>,
  { onDefect }: ListenerOptions,
): void {
  const refuse = (error: unknown) => {
    if (!(error instanceof Refusal)) onDefect?.(error);
    send(response, (error instanceof Refusal ? error : internalError()).toResponse());
  };
  try {
    const made = make();
    if (made instanceof Promise) made.then((answer) => send(response, answer)).catch(refuse);
    else send(response, made);
  } catch (error) {
    refuse(error);
  }
}

/** Node leaves the body out where the request was HEAD. */
function send(response: ServerResponse, { status, fields, body }: HttpResponse): void {
  const flat: unknown[] = [];
  for (const name in fields) flat.push(name, fields[name]);
  const length = Buffer.byteLength(body);
  if (status !== 204) flat.push('content-length', length);
  // What is ASCII alone is sent faster as such.
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

function readBody(request: IncomingMessage, { whole, tooLarge }: BodyReader): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) {
    tooLarge();
    return;
  }
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

/**
 * Refuses a body while it is still coming. Ending the connection at once would reset it, and the client might never see
 * the answer: so the whole answer goes out, and what still comes is thrown away for a moment before the end.
 */
function refuseBody(request: IncomingMessage, response: ServerResponse): void {
  const { status, fields, body } = payloadTooLarge().toResponse();
  response.writeHead(status, { ...fields, 'content-length': Buffer.byteLength(body), connection: 'close' });
  response.write(body);
  const timer = setTimeout(end, lingerMs);
  function end(): void {
    clearTimeout(timer);
    response.end();
  }
  request.once('end', end).once('close', end).resume();
}

function watch(request: IncomingMessage, response: ServerResponse, tell: (exchange: Exchange) => void): void {
  const started = performance.now();
  response.once('close', () => {
    const { method = '', url: target = '' } = request;
    tell({ method, target, status: response.statusCode, elapsedMs: performance.now() - started });
  });
}
