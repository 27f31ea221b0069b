import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpFields, HttpResponse } from '../api/http.ts';
import { monotonicMs } from '../clock.ts';
import type { SlowApp } from './faults.ts';
import { hasBody, receiveBody, refuseBody } from './received-body.ts';
import { internalError, Refusal } from './refusal.ts';
import { type TargetedRequest, toTarget } from './target.ts';

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
  const answer = (request: IncomingMessage, response: ServerResponse, body?: Uint8Array): void => {
    try {
      const answered = app(toRequest(request, options, body));
      if (answered instanceof Promise) answered.then((late) => send(response, late)).catch(refuse(response));
      else send(response, answered);
    } catch (error) {
      refuse(response)(error);
    }
  };
  const refuse = (response: ServerResponse) => (error: unknown) => {
    if (!(error instanceof Refusal)) options.onDefect?.(error);
    send(response, (error instanceof Refusal ? error : internalError()).toResponse());
  };
  return (request: IncomingMessage, response: ServerResponse): void => {
    if (options.onExchange) watch(request, response, options.onExchange);
    if (!hasBody(request)) answer(request, response);
    else
      receiveBody(request, {
        whole: (body) => answer(request, response, body),
        tooLarge: () => refuseBody(request, response),
      });
  };
}

function toRequest(request: IncomingMessage, { guard }: ListenerOptions, body?: Uint8Array): TargetedRequest {
  const { method = '', url = '' } = request;
  const fields = request.headers as HttpFields;
  if (!url.startsWith('/')) return fromAbsolute(request, guard, body);
  guard(fields);
  return { method, target: toTarget(`http://${request.headers.host}`, url), fields, body };
}

/** A whole URL as the target outdoes the Host field. @see RFC 9112, 3.2.2 */
function fromAbsolute(
  { method = '', url = '', headers }: IncomingMessage,
  guard: ListenerOptions['guard'],
  body?: Uint8Array,
): TargetedRequest {
  const [, host, path] = /^http:\/\/([^/?#]+)(\/.*)?$/i.exec(url) ?? [];
  if (host === undefined) throw new Refusal('malformed_request', 'the target of a request must begin with /');
  const fields = { ...headers, host } as HttpFields;
  guard(fields);
  return { method, target: toTarget(`http://${host}`, path ?? '/'), fields, body };
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
  const started = monotonicMs();
  response.once('close', () => {
    const { method = '', url: target = '' } = request;
    tell({ method, target, status: response.statusCode, elapsedMs: monotonicMs() - started });
  });
}
