import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { HttpHeaders, HttpResponse } from '../../src/api/http.ts';
import { createApp } from '../../src/server/app.ts';
import { seedStore } from '../../src/server/seed.ts';
import type { Store } from '../../src/server/store.ts';

/** A request that the service has received. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly body: string;
}

type Reaction = HttpResponse | 'reset' | 'hang';

/** Changes the correct answer, breaks the connection, or never answers. */
export type Change = (answer: HttpResponse, request: ReceivedRequest) => Reaction | Promise<Reaction>;

export interface ServiceOptions {
  /** Returns the status with which a request is refused before it has an effect; undefined if it is not refused. */
  refuse?(request: ReceivedRequest): number | undefined;
  readonly spoil?: Change;
  readonly tls?: TlsOptions;
  readonly store?: Store;
  /** Turns the path and query of a request into those of the local server. */
  route?(target: string): string;
  /** By default a free port. */
  readonly port?: number;
}

export interface Service extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  readonly store: Store;
}

/** The local server's app behind a real socket, correct except for the changes by `spoil`. */
export async function startService({ spoil, tls, ...options }: ServiceOptions = {}): Promise<Service> {
  const store = options.store ?? seedStore();
  const app = await createApp({ store: () => store });
  const requests: ReceivedRequest[] = [];
  let origin = '';
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '' } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = request.headers as HttpHeaders;
    const body = Buffer.concat(chunks);
    const received = { method, target: url, headers, body: body.toString() };
    requests.push(received);
    const status = options.refuse?.(received);
    if (status !== undefined) return send(response, refusal({ status, headers: {}, body: '' }, status));
    const target = options.route?.(url) ?? url;
    const right = app({ method, url: `${origin}${target}`, headers, ...(body.length > 0 && { body }) });
    const reaction = (await spoil?.(right, received)) ?? right;
    if (reaction === 'reset') request.socket.destroy();
    else if (reaction !== 'hang') send(response, reaction);
  };
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void answer(request, response).catch(() => response.destroy());
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  origin = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  return {
    url: origin,
    port,
    requests,
    store,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Changes only the answers to a method, at a path with any query, or at every target that matches an expression. */
export function on(place: string | RegExp, change: Change, method = 'GET'): Change {
  const isHit = (target: string) =>
    typeof place === 'string' ? target.split('?')[0] === place : place.test(target);
  return (answer, request) =>
    request.method === method && isHit(request.target) ? change(answer, request) : answer;
}

/** Changes only the answers whose number, from 1, is chosen. */
export function counting(isChosen: (count: number) => boolean, change: Change): Change {
  let answers = 0;
  return (answer, request) => {
    answers += 1;
    return isChosen(answers) ? change(answer, request) : answer;
  };
}

/** Changes the JSON of each success. */
export function changing(change: (json: never) => unknown): (answer: HttpResponse) => HttpResponse {
  return (answer) =>
    answer.status < 300 && answer.body.length > 0
      ? withBody(answer, change(JSON.parse(String(answer.body)) as never))
      : answer;
}

/** Replaces the answer by an error of this status. */
export function refusing(status: number): (answer: HttpResponse) => HttpResponse {
  return (answer) => refusal(answer, status);
}

/** An error with the body of the service's specification. */
export function refusal(answer: HttpResponse, status: number): HttpResponse {
  const error = { code: 'refused', message: 'no', status };
  return { ...withBody(withHeaders(answer, { 'content-type': 'application/json' }), error), status };
}

/** An answer with another body. */
export function withBody(answer: HttpResponse, body: unknown): HttpResponse {
  return { ...answer, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** An answer with other headers; undefined removes a header. */
export function withHeaders(
  answer: HttpResponse,
  headers: Readonly<Record<string, string | undefined>>,
): HttpResponse {
  const merged = Object.entries({ ...answer.headers, ...headers }).filter(([, value]) => value !== undefined);
  return { ...answer, headers: Object.fromEntries(merged) as HttpHeaders };
}

/** Replaces the answer by a web page. */
export function asPage(answer: HttpResponse, text: string): HttpResponse {
  return withBody(withHeaders(answer, { 'content-type': 'text/html' }), text);
}

function send(response: ServerResponse, { status, headers, body }: HttpResponse): void {
  response.writeHead(status, { ...headers } as Record<string, string>).end(body);
}
