import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpFields, HttpRequest, HttpResponse } from '../api/http.ts';
import type { SlowApp } from './faults.ts';
import { hasBody, receiveBody, refuseBody } from './received-body.ts';
import { internalError, Refusal } from './refusal.ts';

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

/** Answers each request of a server with the app. */
export function createListener(app: SlowApp, options: ListenerOptions) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    if (options.onExchange) watch(request, response, options.onExchange);
    const answer = (make: () => HttpResponse | Promise<HttpResponse>) => answerWith(response, make, options);
    if (!hasBody(request)) answer(() => app(toRequest(request, options)));
    else
      receiveBody(request, {
        whole: (body) => answer(() => app(toRequest(request, options, body))),
        tooLarge: () => refuseBody(request, response),
      });
  };
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

function watch(request: IncomingMessage, response: ServerResponse, tell: (exchange: Exchange) => void): void {
  const started = performance.now();
  response.once('close', () => {
    const { method = '', url: target = '' } = request;
    tell({ method, target, status: response.statusCode, elapsedMs: performance.now() - started });
  });
}
